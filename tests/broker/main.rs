//! The Kafka source on Apache Kafka, one file per subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod available;
mod backfill;
mod bronze;
mod compaction;
mod cut;
mod groups;
mod loss;
mod losses;
mod minimum;
mod positions;
mod schema;
mod security;
mod sizes;
mod soak;
mod subscription;
mod timestamps;
mod transactions;
mod trouble;
