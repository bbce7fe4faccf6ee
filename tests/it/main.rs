//! End-to-end tests, one file per subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod architecture;
mod author;
mod compatibility;
mod compile;
mod completions;
mod conformance;
mod crash;
mod damage;
mod demo;
mod dev;
mod docs;
mod durable;
mod examples;
mod handoff;
mod history;
mod inspect;
mod maintain;
mod medallion;
mod messages;
mod metrics;
mod model;
mod operations;
mod operator;
mod pipelines;
mod poison;
mod quarantine;
mod rebuild;
mod refusals;
mod routing;
mod schema;
mod slices;
mod sources;
mod swap;
mod trial;
