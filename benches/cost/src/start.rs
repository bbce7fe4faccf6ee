//! How long a start takes with twenty components whose code is in the cache.

use std::path::Path;
use std::time::Instant;

use crisol_plugin::{Engine, Registry};

use crate::cases::NAMES;
use crisol_cost::Error;

/// Versions of each component.
const VERSIONS: u8 = 4;
const RUNS: usize = 20;

/// Twenty files from the bundled five: each in four versions, which its own words say.
pub(crate) fn measure(plugins: &Path) -> Result<String, Error> {
    let folder = tempfile::tempdir()?;
    for name in NAMES {
        let wasm = std::fs::read(plugins.join(format!("{name}.wasm")))?;
        for version in 0..VERSIONS {
            std::fs::write(folder.path().join(format!("{name}-{version}.wasm")), renumbered(&wasm, name, version)?)?;
        }
    }
    let cache = folder.path().join(".compiled");
    load(folder.path(), &cache)?;
    let mut milliseconds = Vec::new();
    for _ in 0..RUNS {
        let started = Instant::now();
        load(folder.path(), &cache)?;
        milliseconds.push(started.elapsed().as_secs_f64() * 1e3);
    }
    milliseconds.sort_by(f64::total_cmp);
    let count = NAMES.len() * usize::from(VERSIONS);
    let (least, median) = (milliseconds[0], milliseconds[RUNS / 2]);
    Ok(format!(
        "start with {count} cached components, engine included: {median:.0} ms (median of {RUNS}, least {least:.0})"
    ))
}

fn load(folder: &Path, cache: &Path) -> Result<(), Error> {
    let registry = Registry::load(folder, &Engine::new()?, Some(cache))?;
    match registry.refused() {
        [] => Ok(()),
        [first, ..] => Err(format!("`{}` is refused: {}", first.path.display(), first.reason).into()),
    }
}

/// The component with another patch version: the text `0.1.0` after its name.
fn renumbered(wasm: &[u8], name: &str, version: u8) -> Result<Vec<u8>, Error> {
    let words = format!("{name}{}", env!("CARGO_PKG_VERSION"));
    let mut places = wasm.windows(words.len()).enumerate().filter(|(_, bytes)| *bytes == words.as_bytes());
    let (Some((at, _)), None) = (places.next(), places.next()) else {
        return Err(format!("`{name}.wasm` does not have its version in one place").into());
    };
    let mut wasm = wasm.to_vec();
    wasm[at + words.len() - 1] = b'0' + version;
    Ok(wasm)
}
