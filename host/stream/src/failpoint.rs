//! Named places where a test may end the process: `<stream>/<step>/before` and `<stream>/<step>/after`.
//!
//! Only with the feature `failpoints`; the environment variable `FAILPOINTS` says where (crate `fail`), and
//! `1*off->return` lets the first passing go by.

use crisol_checkpoint::Step;

/// The moment of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// Nothing of the step has happened.
    Before,
    /// The step is done, what follows is not.
    After,
}

/// Passes a failpoint.
#[cfg(feature = "failpoints")]
pub(crate) fn pass(stream: &str, step: Step, moment: Moment) {
    let moment = match moment {
        Moment::Before => "before",
        Moment::After => "after",
    };
    let name = format!("{stream}/{}/{moment}", step.name());
    fail::fail_point!(&name, |_| std::process::abort());
}

/// Passes a failpoint: nothing without the feature.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn pass(_stream: &str, _step: Step, _moment: Moment) {}
