//! The source of a component, called in this process over the messages that a component gets.

use crisol_sdk::columns::{Stage, Validator};
use crisol_sdk::raw::groups::GroupSession;
use crisol_sdk::raw::session::{RowSession, VerdictSession};
use crisol_sdk::{Column, Failure};

use crisol_cost::data::NOW_US;

/// The messages of an answer.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) rows: Vec<Vec<u8>>,
    pub(crate) rejected: Vec<Vec<u8>>,
}

/// Opens a session for its options and input, and gives it the messages.
pub(crate) type Native = fn(&str, &[Column], Vec<Vec<u8>>) -> Result<Given, Failure>;

/// A decoder or transformer: a session for each message, as the host has an instance for each.
pub(crate) fn rows<S: Stage>(options: &str, input: &[Column], messages: Vec<Vec<u8>>) -> Result<Given, Failure> {
    let mut given = Given::default();
    for message in messages {
        let (rows, rejected) = RowSession::<S>::open(options, input, NOW_US)?.push(message)?;
        given.rows.push(rows);
        given.rejected.extend(rejected);
    }
    Ok(given)
}

/// A validator, likewise.
pub(crate) fn verdicts<V: Validator>(
    options: &str,
    input: &[Column],
    messages: Vec<Vec<u8>>,
) -> Result<Given, Failure> {
    let mut given = Given::default();
    for message in messages {
        given.rejected.extend(VerdictSession::<V>::open(options, input, NOW_US)?.check(message)?);
    }
    Ok(given)
}

/// A ranker or aggregator: one session.
pub(crate) fn groups<S: GroupSession>(
    options: &str,
    input: &[Column],
    messages: Vec<Vec<u8>>,
) -> Result<Given, Failure> {
    let mut session = S::open(options, input, NOW_US)?;
    let mut given = Given::default();
    for message in messages {
        given.rows.extend(session.push(message)?);
    }
    given.rows.extend(session.finish()?);
    Ok(given)
}
