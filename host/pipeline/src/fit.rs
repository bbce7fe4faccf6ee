//! Whether a component fits the contracts of a project, without being in its folder.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use crisol_contract::{Positions, Problem, StageSpec};
use crisol_plugin::Component;
use crisol_stage::{AtWork, Chain};

use crate::error::Refusal;
use crate::files::Kafka;
use crate::plan::{self, StreamPlan};
use crate::{EngineBuilder, EngineError, open};

/// A stage of a contract that asks for a component, and whether the component fits there.
#[derive(Debug)]
pub struct Fit {
    /// The table.
    pub table: String,
    /// The stage as the contract has it, `decode orders@^1`.
    pub stage: String,
    /// Columns that the component would read and write there; `None` where it does not fit, or that is not known yet.
    pub columns: Option<(SchemaRef, SchemaRef)>,
    /// Why the table's stages cannot work with it; none where it fits, or that is not known yet.
    pub problems: Vec<Problem>,
}

impl EngineBuilder {
    /// Every stage of the project's contracts that asks for the component of a file, by its name. Checked is what a start
    /// checks, with the component in front of those of its name in the folder of the components, as if it was put there.
    ///
    /// # Errors
    /// The contracts are wrong, the component is refused, or the folder cannot be read.
    pub fn fits(self, component: &Path) -> Result<Vec<Fit>, EngineError> {
        let (project, positions, _) = self.resolve(Kafka::Unread)?;
        let (mut shelf, registry) = self.shelf(&project.dir, Some(&project))?;
        let component = Arc::new(shelf.load_apart(component).map_err(|error| EngineError::Component(Box::new(error)))?);
        let registry = registry.with_first(Arc::clone(&component));
        let streams = plan::streams(&project);
        let asked = Asked { component: &component, positions: &positions };
        let checked = open::chains(&streams, &registry);
        Ok(streams.iter().zip(checked).flat_map(|(stream, chain)| asked.in_stream(stream, chain)).collect())
    }
}

/// A component, and contracts that may ask for it.
struct Asked<'a> {
    component: &'a Component,
    positions: &'a Positions,
}

impl Asked<'_> {
    fn in_stream(&self, stream: &StreamPlan, chain: Option<Result<Chain, Vec<Refusal>>>) -> Vec<Fit> {
        let mut at_work = match &chain {
            Some(Ok(chain)) => chain.at_work(),
            _ => Vec::new(),
        };
        at_work.retain(|one| one.component.digest == self.component.digest());
        let mut at_work = at_work.into_iter();
        let refusals = chain.and_then(Result::err).unwrap_or_default();
        let table = stream.table_with_decoder();
        let stages = table.stages.iter().enumerate().filter(|(_, stage)| stage.component == self.component.name());
        stages.map(|(at, stage)| self.in_stage(stream, (at, stage), &refusals, &mut at_work)).collect()
    }

    fn in_stage(
        &self,
        stream: &StreamPlan,
        (at, stage): (usize, &StageSpec),
        refusals: &[Refusal],
        at_work: &mut impl Iterator<Item = AtWork>,
    ) -> Fit {
        let mut refusals = refusals.to_vec();
        let mut columns = None;
        if is_asked_for(stage, self.component) {
            columns = at_work.next().map(|one| (one.reads, one.writes));
        } else {
            let message =
                format!("it asks for another one: this is a {} {}", self.component.kind(), self.component.version());
            let place = stream.place(format!("stages[{at}].{}", stage.kind.key()));
            refusals.push(Refusal { place, message, hint: String::new() });
        }
        let problems = match EngineError::refused(self.positions, refusals) {
            EngineError::Contracts(problems) => problems.as_slice().to_vec(),
            _ => Vec::new(),
        };
        Fit { table: stream.table.name.clone(), stage: written(stage), columns, problems }
    }
}

/// A stage as the contract has it, `decode orders@^1`.
pub(crate) fn written(stage: &StageSpec) -> String {
    let range = stage.version_range.as_ref().map(|range| format!("@{range}")).unwrap_or_default();
    format!("{} {}{range}", stage.kind.key(), stage.component)
}

/// Whether a stage takes the component, by name, kind and range of versions.
pub(crate) fn is_asked_for(stage: &StageSpec, component: &Component) -> bool {
    stage.component == component.name()
        && stage.kind.key() == component.kind().stage_key()
        && stage.version_range.as_ref().is_none_or(|range| range.matches(component.version()))
}
