//! How many rows a group has, what they come to, and the longest text.

use crisol_guest_conformance::Folding;
use crisol_sdk::{About, Aggregator, Batch, Decimal, Failure, Text, aggregator, record};

record! {
    /// What it reads.
    pub struct Read<'a> {
        pub d18: Option<Decimal<18, 4>>,
        pub s: Option<Text<'a>>,
    }
}

record! {
    /// What it gives.
    #[derive(Default)]
    pub struct Sum<'a> {
        pub rows: i64,
        pub total: Option<Decimal<38, 4>>,
        pub longest: Option<Text<'a>>,
    }
}

/// The stage.
#[derive(Debug)]
pub struct Conformance(Folding);

impl Aggregator for Conformance {
    type Options = Folding;
    type Row<'a> = Read<'a>;
    type State = Sum<'static>;
    type Output = Sum<'static>;
    const ABOUT: About = Folding::ABOUT;

    fn open(asked: Folding, _: &Batch) -> Result<Self, Failure> {
        asked.opened()?;
        Ok(Conformance(asked))
    }

    fn add(&self, sum: &mut Sum<'static>, row: Read<'_>) -> Result<(), Failure> {
        self.0.pushed()?;
        sum.rows += 1;
        if let Some(d18) = row.d18 {
            let total = sum.total.map_or(0, Decimal::units) + d18.units();
            sum.total = Some(Decimal::of_units(total));
        }
        if let Some(s) = row.s
            && sum.longest.as_ref().is_none_or(|longest| s.len() > longest.len())
        {
            sum.longest = Some(s.into_owned().into());
        }
        Ok(())
    }

    fn finish(&self, sum: Sum<'static>) -> Result<Option<Sum<'static>>, Failure> {
        self.0.finished()?;
        Ok((!self.0.skip_single || sum.rows > 1).then_some(sum))
    }
}

aggregator!(Conformance);
