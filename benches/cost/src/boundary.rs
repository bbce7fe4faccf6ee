//! What the boundary takes: messages made and read on both sides, copied in and out, and an instance for each call.
//!
//! Its parts are measured one by one, natively: within a call they cannot be told from the stage's own work. The sides of
//! the guest are therefore a little too cheap here.

use std::time::Duration;

use crisol_ipc::{Limits, decode, encode};

use crate::case::Case;
use crisol_cost::Error;
use crisol_cost::timing::{fastest, of};

const TIME: Duration = Duration::from_millis(300);

/// Seconds of a whole run of a case.
#[derive(Debug)]
pub(crate) struct Boundary {
    encode: f64,
    decode: f64,
    copies: f64,
    start: f64,
}

impl Boundary {
    pub(crate) fn total(&self) -> f64 {
        self.encode + self.decode + self.copies + self.start
    }

    /// The parts, as shares of the whole.
    pub(crate) fn parts(&self, whole: f64) -> String {
        let share = |part: f64| 100.0 * part / whole;
        let Boundary { encode, decode, copies, start } = self;
        let (encode, decode, copies, start) = (share(*encode), share(*decode), share(*copies), share(*start));
        format!("encode {encode:.1}, decode {decode:.1}, copies {copies:.1}, instance {start:.1}")
    }
}

pub(crate) fn measure(case: &Case) -> Result<Boundary, Error> {
    let messages = case.messages()?;
    let input = case.batches().first().ok_or("a case needs rows")?.schema();
    let given = case.native(messages.clone())?;
    let schema = case.answers();
    let mut answers = Vec::new();
    if let Some(schema) = &schema {
        for message in &given.rows {
            answers.push(decode(message.clone(), schema, &Limits::default())?);
        }
    }
    let batches = || case.batches().iter().chain(&answers);
    let [encode, decode, copies, start] = fastest(
        TIME,
        [
            &mut || of(|| Ok(batches().map(encode).collect::<Result<Vec<_>, _>>()?)),
            &mut || {
                let (messages, rows) = (messages.clone(), given.rows.clone());
                of(|| {
                    let mut all = Vec::new();
                    for message in messages {
                        all.push(decode(message, &input, &Limits::default())?);
                    }
                    for message in rows {
                        all.extend(schema.as_ref().map(|s| decode(message, s, &Limits::default())).transpose()?);
                    }
                    Ok(all)
                })
            },
            &mut || of(|| Ok((messages.clone(), given.rows.clone()))),
            &mut || of(|| case.sandbox_one_row()),
        ],
    )?;
    // Each message is made by one side and read by the other.
    Ok(Boundary { encode, decode, copies, start })
}
