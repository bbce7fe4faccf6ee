//! Exchanges components while streams run.
//!
//! One thread of its own looks at the folder of the components again and again: that works where the system tells no
//! events (network folders, config maps), and a look is a few calls of the system. Two looks that agree make a file
//! whole. Then what changed is loaded, decided ([`decide`]), and given to the streams, which take it at their next batch.

mod columns;
mod decide;
mod decisions;
mod failpoint;
mod kept;
mod refusals;
mod shelf;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crisol_observe::{Build, Event, Observers, Served};
use crisol_plugin::{Component, Registry, printable_path};
use crisol_stage::ComponentId;

use self::columns::changes_of;
pub(crate) use self::columns::{changes, difference};
use self::decide::{Chains, decide};
use self::failpoint::pass;
pub(crate) use self::kept::{Kept, KeptError, digests};
pub use self::kept::{KeptBuild, ServedState};
use self::refusals::{Reason, Refusals};
use self::shelf::Look;
pub(crate) use self::shelf::Shelf;
pub(crate) use self::stream::{Swappable, text};
pub(crate) use decisions::decisions_file;
pub use decisions::{Decided, Decisions, RefusedFile};

use crate::Engine;

/// Between two looks. A file that arrives more slowly than this is refused in between, and taken once it is whole.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Exchanges the components of these streams until all have ended. What serves first is kept when this returns.
pub(crate) async fn watch(engine: &Engine, streams: Vec<Swappable>) {
    let watcher = Watcher {
        shelf: engine.shelf.clone(),
        registry: Arc::clone(&engine.registry),
        streams,
        observers: engine.observers.clone(),
        file: engine.decisions.clone(),
        kept: engine.kept.clone(),
        refused: engine.registry.refused().iter().map(|r| (r.path.clone(), r.reason.to_string().into())).collect(),
        written: None,
    };
    let begin = tokio::task::spawn_blocking(move || watcher.begin());
    let Ok(mut watcher) = begin.await else {
        tracing::warn!("components are not exchanged in this run: what serves could not be written down");
        return;
    };
    let started = thread::Builder::new().name("plugins".into()).spawn(move || {
        let _pool = pool_of_this_thread();
        watcher.run();
    });
    if let Err(error) = started {
        tracing::warn!("components are not exchanged in this run: no thread for it: {error}");
    }
}

/// The compiler takes as many threads as its pool has. Where streams run beside it, that is the thread that called it.
fn pool_of_this_thread() -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
}

struct Watcher {
    shelf: Shelf,
    registry: Arc<Registry>,
    streams: Vec<Swappable>,
    observers: Observers,
    /// Where decisions are written.
    file: PathBuf,
    /// Where builds that serve are kept.
    kept: Kept,
    /// Files that may not serve, and why.
    refused: Refusals,
    written: Option<Decisions>,
}

impl Watcher {
    fn begin(mut self) -> Self {
        self.keep(&Arc::clone(&self.registry));
        self.write_down();
        self
    }

    fn run(&mut self) {
        let mut last = self.shelf.look().clone();
        loop {
            thread::sleep(LOOK_EVERY);
            if self.streams.iter().all(|stream| stream.swap.has_ended()) {
                return;
            }
            // A folder that cannot be read says nothing of its files.
            let Ok(look) = self.shelf.look_again() else { continue };
            if look == last && look != *self.shelf.look() {
                self.take(look.clone());
            }
            last = look;
        }
    }

    /// Loads what is new and lets it serve where it may.
    fn take(&mut self, look: Look) {
        // What cannot be loaded is told with the other refusals.
        let _ = self.shelf.load(look);
        pass("plugins/decide/before");
        if self.shelf.look_again().is_ok_and(|now| now != *self.shelf.look()) {
            // Files moved on while they were read; two looks will agree again.
            return;
        }
        let decision = decide(&self.registry, &self.components(), |registry| self.chains(registry));
        let mut refused = decision.refused;
        refused.extend(self.shelf.unloadable().map(|(path, reason)| (path.to_path_buf(), reason.to_string().into())));
        for (path, reason) in refused.iter().filter(|(path, reason)| self.refused.get(*path) != Some(*reason)) {
            let Reason { text, columns } = reason.clone();
            self.observers.tell(&Event::PluginRefused { path: printable_path(path), reason: text, columns });
        }
        self.refused = refused;
        if let Some((registry, chains)) = decision.accepted {
            self.serve(registry, chains);
        }
        self.write_down();
    }

    /// The components of the folder. Where a file cannot be loaded, what served from it counts as being there.
    fn components(&self) -> Vec<Arc<Component>> {
        let unloadable = |path: &Path| self.shelf.unloadable().any(|(other, _)| other == path);
        let mut components = self.shelf.components();
        components.extend(self.registry.present().iter().filter(|one| unloadable(one.path())).cloned());
        components
    }

    fn chains(&self, registry: &Registry) -> Result<Chains, Reason> {
        let running = |stream: &Swappable| !stream.swap.has_ended();
        let next = |stream: &Swappable| if running(stream) { stream.next_chain(registry) } else { Ok(None) };
        self.streams.iter().map(next).collect()
    }

    fn serve(&mut self, registry: Registry, chains: Chains) {
        self.keep(&registry);
        let mut swaps = BTreeMap::new();
        for (stream, chain) in self.streams.iter().zip(chains) {
            let Some(chain) = chain else { continue };
            let (before, after) = (stream.swap.serving().written(), chain.written());
            for (component, from, to) in exchanged(&stream.components(), &chain.components()) {
                let columns = changes_of(&component, &before, &after);
                swaps.entry((component, from, to, columns)).or_insert_with(Vec::new).push(stream.plan.name.clone());
            }
            pass("plugins/serve/before");
            stream.swap.serve(chain);
            pass("plugins/serve/after");
        }
        for ((component, from, to, columns), streams) in swaps {
            self.observers.tell(&Event::Swapped { component, from, to, streams, columns });
        }
        let used: BTreeSet<String> =
            self.streams.iter().flat_map(Swappable::components).map(|component| component.digest).collect();
        self.registry = Arc::new(registry.without_departed(|digest| used.contains(digest)));
    }

    /// Keeps the bytes of what is about to serve, so that each build that a commit names can be put back.
    fn keep(&self, registry: &Registry) {
        pass("plugins/keep/before");
        if let Err(error) = self.kept.keep(registry.serving()) {
            tracing::warn!("builds that serve are not kept, `host plugins rollback` will not find them: {error}");
        }
        pass("plugins/keep/after");
    }

    /// Tells what serves, here and to `host plugins`.
    fn write_down(&mut self) {
        let serving = self.registry.serving();
        let components = serving.iter().map(|component| served(component)).collect();
        self.observers.tell(&Event::Serving { components });
        let decisions = Decisions::now(&self.shelf, &self.registry, &self.refused, self.written.as_ref());
        if let Err(error) = self.kept.take_down(serving, &decisions.written) {
            tracing::warn!("what serves is not kept, `host plugins rollback` will not know it: {error}");
        }
        if let Err(error) = decisions.write(&self.file) {
            tracing::warn!(file = %self.file.display(), "cannot be written, `host plugins` will not show it: {error}");
        }
        self.written = Some(decisions);
    }
}

fn served(component: &Component) -> Served {
    Served {
        name: component.name().into(),
        version: component.version().to_string(),
        digest: component.digest().into(),
        schema_versions: component.schema_versions().to_string(),
    }
}

/// The builds of each component whose builds are not the same before and after.
fn exchanged(before: &[ComponentId], after: &[ComponentId]) -> Vec<(String, Vec<Build>, Vec<Build>)> {
    let names: BTreeSet<&str> = before.iter().chain(after).map(|id| id.name.as_str()).collect();
    let builds = |name: &str, ids: &[ComponentId]| {
        let own = ids.iter().filter(|id| id.name == name);
        own.map(|id| Build { version: id.version.clone(), digest: id.digest.clone() }).collect::<Vec<_>>()
    };
    let all = names.into_iter().map(|name| (name.to_string(), builds(name, before), builds(name, after)));
    all.filter(|(_, before, after)| before != after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str, digest: &str) -> ComponentId {
        ComponentId { name: name.into(), version: version.into(), digest: digest.into() }
    }

    fn build(version: &str, digest: &str) -> Build {
        Build { version: version.into(), digest: digest.into() }
    }

    #[test]
    fn what_a_compiler_would_share_out_stays_on_the_thread_that_exchanges_components() {
        let threads = thread::spawn(|| {
            let _pool = pool_of_this_thread().unwrap();
            let (a, b) = rayon::join(|| thread::current().id(), || thread::current().id());
            (a, b, thread::current().id(), rayon::current_num_threads())
        });
        let (a, b, own, count) = threads.join().unwrap();
        assert_eq!((a, b, count), (own, own, 1));
    }

    #[test]
    fn what_is_exchanged_is_told_by_name() {
        let before = [id("orders", "1.0.0", "a"), id("rules", "1.0.0", "r")];
        let after = [id("orders", "3.0.0", "c"), id("orders", "1.0.0", "b"), id("rules", "1.0.0", "r")];
        let expected =
            ("orders".to_string(), vec![build("1.0.0", "a")], vec![build("3.0.0", "c"), build("1.0.0", "b")]);
        assert_eq!(exchanged(&before, &after), [expected]);
        assert_eq!(exchanged(&before, &before), []);
    }
}
