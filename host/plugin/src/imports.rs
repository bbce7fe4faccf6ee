//! Which imports a component may have. Everything else is refused by name.

/// Interfaces of our own that a host offers, at any 0.1 version.
const OWN: [&str; 2] = ["log", "types"];
/// Interfaces of WASI 0.2 that language runtimes import, whether they use them or not; all of them are stubs.
const WASI: [&str; 20] = [
    "io/error",
    "io/poll",
    "io/streams",
    "cli/environment",
    "cli/exit",
    "cli/stdin",
    "cli/stdout",
    "cli/stderr",
    "cli/terminal-input",
    "cli/terminal-output",
    "cli/terminal-stdin",
    "cli/terminal-stdout",
    "cli/terminal-stderr",
    "clocks/wall-clock",
    "clocks/monotonic-clock",
    "random/random",
    "random/insecure",
    "random/insecure-seed",
    "filesystem/types",
    "filesystem/preopens",
];

/// What there is, for messages.
pub(crate) const OFFERED: &str =
    "`crisol:stage/log@0.1` and empty stubs of wasi io, cli, clocks, random and filesystem 0.2, and nothing else";

/// Whether an import, `crisol:stage/log@0.1.3`, is on the list.
pub(crate) fn allowed(import: &str) -> bool {
    let Some((interface, version)) = import.split_once('@') else { return false };
    let Ok(version) = semver::Version::parse(version) else { return false };
    if !version.pre.is_empty() {
        return false;
    }
    if let Some(name) = interface.strip_prefix("crisol:stage/") {
        return (version.major, version.minor) == (0, 1) && OWN.contains(&name);
    }
    match interface.strip_prefix("wasi:") {
        Some(name) => (version.major, version.minor) == (0, 2) && WASI.contains(&name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn what_runtimes_drag_in_is_allowed_at_any_patch_version() {
        for import in
            ["crisol:stage/log@0.1.0", "crisol:stage/types@0.1.9", "wasi:io/streams@0.2.9", "wasi:cli/stderr@0.2.12"]
        {
            assert!(allowed(import), "{import}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for import in [
            "wasi:sockets/tcp@0.2.12",
            "wasi:http/outgoing-handler@0.2.12",
            "wasi:cli/run@0.2.12",
            "wasi:io/streams@0.3.0",
            "wasi:io/streams@0.2.0-rc-2023-11-10",
            "wasi:io/streams",
            "crisol:stage/log@0.2.0",
            "crisol:stage/secrets@0.1.0",
            "env",
            "",
        ] {
            assert!(!allowed(import), "{import}");
        }
    }
}
