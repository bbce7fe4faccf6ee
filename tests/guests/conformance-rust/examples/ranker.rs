//! Every second row of a group.

use crisol_guest_conformance::Asking;
use crisol_sdk::{About, Batch, Failure, Ranker, Text, ranker, record};

record! {
    /// What it reads.
    pub struct Read<'a> {
        pub s: Option<Text<'a>>,
        pub i32: Option<i32>,
    }
}

record! {
    /// What it adds.
    pub struct Place<'a> {
        pub place: i32,
        pub said: Option<Text<'a>>,
    }
}

/// The stage.
#[derive(Debug)]
pub struct Conformance(Asking);

impl Ranker for Conformance {
    type Options = Asking;
    type Row<'a> = Read<'a>;
    type Output = Place<'static>;
    const ABOUT: About = Asking::ABOUT;

    fn open(asked: Asking, _: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance(asked))
    }

    fn rank(&self, group: &[Read<'_>], kept: &mut Vec<(usize, Place<'static>)>) -> Result<(), Failure> {
        self.0.pushed()?;
        for (at, row) in group.iter().enumerate().step_by(2) {
            let said = row.s.as_deref().map(|s| s.to_string().into());
            kept.push((at, Place { place: at as i32 / 2 + 1, said }));
        }
        self.0.finished()
    }
}

ranker!(Conformance);
