//! What a change of the folder leads to: as much of it as every stream accepts, and a reason for the rest.

use std::path::PathBuf;
use std::sync::Arc;

use crisol_plugin::{Component, Registry};
use crisol_stage::Chain;

use super::{Reason, Refusals};

/// What each stream gets; `None` where nothing changes.
pub(super) type Chains = Vec<Option<Arc<Chain>>>;

/// What came of a change.
#[derive(Debug, Default)]
pub(super) struct Decision {
    /// What serves from now on, and what that means for each stream; `None` when nothing changes.
    pub(super) accepted: Option<(Registry, Chains)>,
    /// Files whose change has no effect, and why.
    pub(super) refused: Refusals,
}

/// One file that is not what serves.
struct Change {
    path: PathBuf,
    /// `None`: the file was removed.
    component: Option<Arc<Component>>,
}

/// Decides what serves when the folder holds `components` now. `check` says what a registry means for the streams, or
/// why one of them refuses it.
///
/// All changes are tried together, since one may need another. When that fails they are tried one by one, again and
/// again as long as one more is accepted; a component that one stream refuses serves none.
pub(super) fn decide(
    serving: &Registry,
    components: &[Arc<Component>],
    check: impl Fn(&Registry) -> Result<Chains, Reason>,
) -> Decision {
    let mut pending = changes(serving, components);
    if pending.is_empty() {
        return Decision::default();
    }
    let all = serving.successor(components, Vec::new());
    let mut refused: Refusals =
        all.refused().iter().map(|refused| (refused.path.clone(), refused.reason.to_string().into())).collect();
    pending.retain(|change| !refused.contains_key(&change.path));
    if let Ok(chains) = check(&all) {
        return Decision { accepted: Some((all, chains)), refused };
    }
    let mut good: Vec<Change> = Vec::new();
    let mut accepted = None;
    loop {
        let before = pending.len();
        for change in std::mem::take(&mut pending) {
            good.push(change);
            let registry = serving.successor(&with(serving, &good), Vec::new());
            match check(&registry) {
                Ok(chains) => accepted = Some((registry, chains)),
                Err(reason) => pending.extend(good.pop().inspect(|change| {
                    refused.insert(change.path.clone(), change.refusal(reason));
                })),
            }
        }
        if pending.len() == before {
            break;
        }
    }
    refused.retain(|path, _| !good.iter().any(|change| change.path == *path));
    Decision { accepted, refused }
}

impl Change {
    fn refusal(&self, reason: Reason) -> Reason {
        if self.component.is_some() {
            return reason;
        }
        let Reason { text, columns } = reason;
        let why = "its file is gone, but it goes on, since what would serve in its place is refused";
        Reason { text: format!("{why}: {text}"), columns }
    }
}

fn changes(serving: &Registry, components: &[Arc<Component>]) -> Vec<Change> {
    let at = |among: &[Arc<Component>], one: &Component| among.iter().any(|other| same_file(other, one));
    let written = components.iter().filter(|component| !at(serving.present(), component));
    let written = written.map(|one| Change { path: one.path().into(), component: Some(Arc::clone(one)) });
    let there = |path: &std::path::Path| components.iter().any(|component| component.path() == path);
    let removed = serving.present().iter().filter(|component| !there(component.path()));
    written.chain(removed.map(|one| Change { path: one.path().into(), component: None })).collect()
}

fn same_file(one: &Component, other: &Component) -> bool {
    one.path() == other.path() && one.digest() == other.digest()
}

/// The components whose files served, with some of the changes.
fn with(serving: &Registry, changes: &[Change]) -> Vec<Arc<Component>> {
    let changed = |component: &&Arc<Component>| changes.iter().any(|change| change.path == component.path());
    let unchanged = serving.present().iter().filter(|component| !changed(component)).cloned();
    unchanged.chain(changes.iter().filter_map(|change| change.component.clone())).collect()
}
