//! Bindings to the WIT, one set for each exported interface, and the exports of each kind for any stage.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::columns::{Stage, Validator};
use crate::raw::Kind;
use crate::raw::groups::GroupSession;
use crate::raw::session::{RowSession, VerdictSession, plan_stage, plan_validator};
use crate::{Column, Failure, Plan, types};

/// `description`, which every kind exports, and the types shared by all.
#[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
pub mod described {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package crisol:guest;
            world described {
                import crisol:stage/log@0.1.0;
                export crisol:stage/description@0.1.0;
            }
        ",
        pub_export_macro: true,
        generate_all,
        export_macro_name: "export_description",
        default_bindings_module: "crisol_sdk::raw::described",
    });
}

/// `transform`: decoders and transformers.
#[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
pub mod transforming {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package crisol:guest;
            world transforming {
                export crisol:stage/transform@0.1.0;
            }
        ",
        with: { "crisol:stage/types@0.1.0": crate::raw::described::crisol::stage::types },
        pub_export_macro: true,
        export_macro_name: "export_transform",
        default_bindings_module: "crisol_sdk::raw::transforming",
    });
}

/// `verdicts`: validators.
#[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
pub mod judging {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package crisol:guest;
            world judging {
                export crisol:stage/verdicts@0.1.0;
            }
        ",
        with: { "crisol:stage/types@0.1.0": crate::raw::described::crisol::stage::types },
        pub_export_macro: true,
        export_macro_name: "export_verdicts",
        default_bindings_module: "crisol_sdk::raw::judging",
    });
}

/// `group`: rankers and aggregators.
#[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
pub mod grouping {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package crisol:guest;
            world grouping {
                export crisol:stage/group@0.1.0;
            }
        ",
        with: { "crisol:stage/types@0.1.0": crate::raw::described::crisol::stage::types },
        pub_export_macro: true,
        export_macro_name: "export_group",
        default_bindings_module: "crisol_sdk::raw::grouping",
    });
}

use described::crisol::stage::types as wit;
use described::exports::crisol::stage::description;
use grouping::exports::crisol::stage::group;
use judging::exports::crisol::stage::verdicts;
use transforming::exports::crisol::stage::transform;

fn columns(input: Vec<wit::Column>) -> Result<Vec<Column>, wit::Failure> {
    let column = |c: wit::Column| {
        let data_type = types::parse(&c.type_).map_err(|e| format!("column `{}`: {e}", c.name));
        Ok(Column { data_type: data_type?, name: c.name, nullable: c.nullable })
    };
    let columns: Result<Vec<Column>, String> = input.into_iter().map(column).collect();
    columns.map_err(|e| failed(Failure::input(e)))
}

fn planned(plan: Plan) -> Result<wit::StagePlan, wit::Failure> {
    let column = |c: Column| match types::name(&c.data_type) {
        Some(type_) => Ok(wit::Column { name: c.name, type_, nullable: c.nullable }),
        None => Err(failed(Failure::bug(format!("column `{}`: {} has no name", c.name, c.data_type)))),
    };
    let writes: Result<Vec<_>, _> = plan.writes.into_iter().map(column).collect();
    Ok(wit::StagePlan { reads: plan.reads, writes: writes? })
}

fn failed(failure: Failure) -> wit::Failure {
    wit::Failure { code: failure.code, text: failure.text, attributes: failure.attributes }
}

/// Exports of a decoder or transformer.
#[allow(missing_debug_implementations)]
pub struct Rows<S, K>(PhantomData<(S, K)>);

impl<S: Stage + 'static, K: Kind> description::Guest for Rows<S, K> {
    fn describe() -> String {
        S::ABOUT.describe(K::KIND)
    }

    fn plan(options: String, input: Vec<wit::Column>) -> Result<wit::StagePlan, wit::Failure> {
        planned(plan_stage::<S>(&options, &columns(input)?).map_err(failed)?)
    }
}

impl<S: Stage + 'static, K: Kind> transform::Guest for Rows<S, K> {
    type Session = RefCell<RowSession<S>>;
}

impl<S: Stage + 'static> transform::GuestSession for RefCell<RowSession<S>> {
    fn open(options: String, input: Vec<wit::Column>, timestamp: i64) -> Result<transform::Session, wit::Failure> {
        let session = RowSession::<S>::open(&options, &columns(input)?, timestamp).map_err(failed)?;
        Ok(transform::Session::new(RefCell::new(session)))
    }

    fn push(&self, rows: Vec<u8>) -> Result<transform::Output, wit::Failure> {
        let (rows, rejected) = self.borrow_mut().push(rows).map_err(failed)?;
        Ok(transform::Output { rows, rejected })
    }
}

/// Exports of a validator.
#[allow(missing_debug_implementations)]
pub struct Verdicts<V>(PhantomData<V>);

impl<V: Validator + 'static> description::Guest for Verdicts<V> {
    fn describe() -> String {
        V::ABOUT.describe("validator")
    }

    fn plan(options: String, input: Vec<wit::Column>) -> Result<wit::StagePlan, wit::Failure> {
        planned(plan_validator::<V>(&options, &columns(input)?).map_err(failed)?)
    }
}

impl<V: Validator + 'static> verdicts::Guest for Verdicts<V> {
    type Session = RefCell<VerdictSession<V>>;
}

impl<V: Validator + 'static> verdicts::GuestSession for RefCell<VerdictSession<V>> {
    fn open(options: String, input: Vec<wit::Column>, timestamp: i64) -> Result<verdicts::Session, wit::Failure> {
        let session = VerdictSession::<V>::open(&options, &columns(input)?, timestamp).map_err(failed)?;
        Ok(verdicts::Session::new(RefCell::new(session)))
    }

    fn check(&self, rows: Vec<u8>) -> Result<Option<Vec<u8>>, wit::Failure> {
        self.borrow_mut().check(rows).map_err(failed)
    }
}

/// Exports of a ranker or aggregator.
#[allow(missing_debug_implementations)]
pub struct Groups<S>(PhantomData<S>);

impl<S: GroupSession + 'static> description::Guest for Groups<S> {
    fn describe() -> String {
        S::ABOUT.describe(S::KIND)
    }

    fn plan(options: String, input: Vec<wit::Column>) -> Result<wit::StagePlan, wit::Failure> {
        planned(S::plan(&options, &columns(input)?).map_err(failed)?)
    }
}

impl<S: GroupSession + 'static> group::Guest for Groups<S> {
    type Session = RefCell<S>;
}

impl<S: GroupSession + 'static> group::GuestSession for RefCell<S> {
    fn open(options: String, input: Vec<wit::Column>, timestamp: i64) -> Result<group::Session, wit::Failure> {
        let session = S::open(&options, &columns(input)?, timestamp).map_err(failed)?;
        Ok(group::Session::new(RefCell::new(session)))
    }

    fn push(&self, rows: Vec<u8>) -> Result<Vec<Vec<u8>>, wit::Failure> {
        self.borrow_mut().push(rows).map_err(failed)
    }

    fn finish(&self) -> Result<Vec<Vec<u8>>, wit::Failure> {
        self.borrow_mut().finish().map_err(failed)
    }
}
