//! `host backfill`: a range of a topic into a table of its own.

use crisol::{EngineError, Range};
use indicatif::MultiProgress;

use crate::args::{Backfill, Global};
use crate::exit::Exit;
use crate::run::{Signals, engine, finish, tell};
use crate::watch;

/// Reads a range.
pub(crate) async fn backfill(global: &Global, backfill: &Backfill, bars: &MultiProgress) -> Result<Exit, EngineError> {
    let signals = Signals::new();
    let mut builder = engine(global);
    for observer in watch::observers(global, bars) {
        builder = builder.observer(observer);
    }
    let Backfill { contract, from, to, into, accept_data_loss } = backfill.clone();
    let backfill = builder.backfill(&Range { contract, from, to, into, accept_data_loss })?;
    tell(backfill.engine());
    let handles = backfill.start().await?;
    finish(global, handles, signals, bars, || {}).await
}
