//! The sandbox: loads components, finds out what they are, and calls them on Arrow batches.
//!
//! [`Engine`] compiles and limits time, [`Registry`] holds the components of a `plugins/` folder, [`Component`] is one
//! of them, [`RowStage`] and [`GroupStage`] are components bound to options and an input schema. Everything that comes back from a
//! component is hostile until it has been checked here; a component that traps, lies or breaks a limit costs its own
//! call and nothing else.
//!
//! This room uses no other room: it can be linked alone into an extension of another engine.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod accounts;
mod bindings;
mod budget;
mod cache;
mod columns;
mod compile;
mod component;
mod deadline;
mod description;
mod engine;
mod error;
mod failure;
mod group_accounts;
mod group_session;
mod group_stage;
mod guest_log;
mod imports;
mod instance;
mod kept;
mod limiter;
mod limits;
mod linker;
mod options;
mod output;
mod pool;
mod registry;
mod row_stage;
mod samples;
mod schema_cost;
mod shape;
mod state;
mod stderr;
mod stubs;
mod text;
mod ticker;
mod work;

pub use cache::user_cache;
pub use compile::{Compiler, compile_in_child};
pub use component::{Component, Plan};
pub use description::{Kind, SchemaVersions};
pub use engine::{Engine, EngineOptions};
pub use error::{CallError, OptionProblem, PluginError};
pub use group_session::{GroupAnswer, GroupSession};
pub use group_stage::GroupStage;
pub use limits::{Limits, ROWS_MAX};
pub use registry::{Refused, Registry, files};
pub use row_stage::{Rejected, RowOutput, RowSession, RowStage};
pub use samples::{
    Difference, Expect, ExpectedRejection, SECTION as SAMPLES_SECTION, Sample, SampleColumns, SampleFault,
    value as sample_value,
};
pub use text::{printable, printable_path};
pub use work::Work;
