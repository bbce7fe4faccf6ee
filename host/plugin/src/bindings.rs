//! Typed bindings of the WIT interfaces. One small world for each exported interface, so that a component's
//! `description` is called in one way whatever its kind is; the shared types are generated once.

pub(crate) mod described {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package crisol:host;
            world described {
                import crisol:stage/log@0.1.0;
                export crisol:stage/description@0.1.0;
            }
        ",
    });
}

pub(crate) mod transforming {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package crisol:host;
            world transforming {
                import crisol:stage/log@0.1.0;
                export crisol:stage/transform@0.1.0;
            }
        ",
        with: {
            "crisol:stage/types": super::described::crisol::stage::types,
            "crisol:stage/log": super::described::crisol::stage::log,
        },
    });
}

pub(crate) mod judging {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package crisol:host;
            world judging {
                import crisol:stage/log@0.1.0;
                export crisol:stage/verdicts@0.1.0;
            }
        ",
        with: {
            "crisol:stage/types": super::described::crisol::stage::types,
            "crisol:stage/log": super::described::crisol::stage::log,
        },
    });
}

pub(crate) mod grouping {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package crisol:host;
            world grouping {
                import crisol:stage/log@0.1.0;
                export crisol:stage/group@0.1.0;
            }
        ",
        with: {
            "crisol:stage/types": super::described::crisol::stage::types,
            "crisol:stage/log": super::described::crisol::stage::log,
        },
    });
}

pub(crate) use described::crisol::stage::log;
pub(crate) use described::crisol::stage::types::{self, Column, Failure, StagePlan};
pub(crate) use described::{Described, DescribedPre};
pub(crate) use grouping::{Grouping, GroupingPre};
pub(crate) use judging::{Judging, JudgingPre};
pub(crate) use transforming::exports::crisol::stage::transform::{Message, Output};
pub(crate) use transforming::{Transforming, TransformingPre};
