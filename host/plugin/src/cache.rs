//! Compiled code kept on disk. Code from the cache runs natively, so the cache is trusted only when nobody else could
//! have written it; each entry carries a digest of itself against damage.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use crate::Engine;
use crate::compile::compile;

const CHECKSUM_BYTES: usize = 32;
const OTHERS: u32 = 0o077;

/// Where compiled components are kept: they are the same for all projects of a user, and nobody else's.
/// `None` when the user has no home.
pub fn user_cache() -> Option<PathBuf> {
    // The XDG specification: a relative path is to be ignored.
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("crisol").join("compiled"))
}

/// The code of a component, from the cache when there is one that can be trusted, else compiled and put there.
pub(crate) fn compiled(engine: &Engine, wasm: &[u8], digest: &str, folder: Option<&Path>) -> Result<Component, String> {
    let folder = folder.and_then(trusted);
    let entry = folder.map(|folder| folder.join(format!("{digest}-{}.cwasm", engine_hash(engine))));
    if let Some(entry) = &entry
        && let Some(component) = load(engine, entry)
    {
        return Ok(component);
    }
    let code = compile(engine, wasm)?;
    if let Some(entry) = &entry
        && let Err(error) = save(&code, entry)
    {
        tracing::warn!(path = %entry.display(), error, "compiled code cannot be kept");
    }
    // SAFETY: the code was made right now, by this process or by a child of it that runs the same program.
    unsafe { Component::deserialize(engine.wasmtime(), &code) }.map_err(|error| format!("{error:#}"))
}

/// Differs for each version and configuration of the engine and for each processor.
fn engine_hash(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.wasmtime().precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The folder, made when it is missing; `None` when it is not ours alone.
fn trusted(folder: &Path) -> Option<&Path> {
    let made = folder.parent().map_or(Ok(()), fs::create_dir_all);
    let made = made.and_then(|()| match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    let metadata = made.and_then(|()| fs::symlink_metadata(folder));
    let why = match metadata {
        Ok(metadata) if !metadata.is_dir() => "it is not a folder".to_string(),
        Ok(metadata) if !ours(&metadata) => {
            "it belongs to another user, or others can reach it (mode 0700 is needed)".to_string()
        }
        Ok(_) => return Some(folder),
        Err(error) => error.to_string(),
    };
    tracing::warn!(folder = %folder.display(), why, "the cache of compiled components is not used");
    None
}

fn ours(metadata: &fs::Metadata) -> bool {
    metadata.uid() == nix::unistd::geteuid().as_raw() && metadata.mode() & OTHERS == 0
}

fn load(engine: &Engine, entry: &Path) -> Option<Component> {
    let file =
        match OpenOptions::new().read(true).custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK).open(entry) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return unusable(entry, &error.to_string()),
        };
    match verified(file) {
        // SAFETY: the bytes are what this user's own process wrote: folder and file belong to this user, nobody else
        // can write to them, and the checksum excludes damage.
        Ok(code) => match unsafe { Component::deserialize(engine.wasmtime(), &code) } {
            Ok(component) => Some(component),
            Err(error) => unusable(entry, &error.to_string()),
        },
        Err(why) => unusable(entry, &why),
    }
}

fn unusable(entry: &Path, why: &str) -> Option<Component> {
    tracing::warn!(path = %entry.display(), why, "compiled code is not usable and is made again");
    None
}

fn verified(mut file: File) -> Result<Vec<u8>, String> {
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() || !ours(&metadata) {
        return Err("it is not a file of this user alone".to_string());
    }
    let mut checksum = [0; CHECKSUM_BYTES];
    let mut code = Vec::new();
    file.read_exact(&mut checksum).and_then(|()| file.read_to_end(&mut code)).map_err(|error| error.to_string())?;
    if Sha256::digest(&code).as_slice() != checksum {
        return Err("its checksum does not match".to_string());
    }
    Ok(code)
}

fn save(code: &[u8], entry: &Path) -> Result<(), String> {
    let temporary = temporary(entry);
    let written = write(&temporary, code).and_then(|()| fs::rename(&temporary, entry));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        error.to_string()
    })
}

fn write(path: &Path, code: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(&Sha256::digest(code))?;
    file.write_all(code)
}

/// A name that no other writer has.
fn temporary(entry: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    entry.with_extension(format!("{}-{count}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests;
