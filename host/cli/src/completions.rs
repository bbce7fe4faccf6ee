//! `host completions`, and what it proposes for a word that is being typed.
//!
//! The script of a shell calls the host again for each word, with [`VARIABLE`] in its environment. What is proposed comes
//! from the project's files alone: no component is loaded, nothing is checked, and what cannot be read proposes nothing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter};
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};
use crisol::Names;

use crate::args;
use crate::exit::Exit;
use crate::out::eprintln;

/// Says that a shell asks, and which.
const VARIABLE: &str = "CRISOL_COMPLETE";

pub(crate) const HELP: &str = "\
Streams, tables and components are proposed from the project in the current folder, or in that of `--project`.

Examples:
  echo 'source <(host completions bash)' >> ~/.bashrc
  host completions zsh > ~/.zfunc/_host
  host completions fish > ~/.config/fish/completions/host.fish
  host completions powershell >> $PROFILE";

/// `host completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// Shells that ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// From 4.4 on
    Bash,
    /// Z shell
    Zsh,
    /// Fish
    Fish,
    /// Windows PowerShell and PowerShell
    Powershell,
}

/// Answers a shell, when one asks; whether it did.
pub(crate) fn answer() -> bool {
    let current = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(args::command).var(VARIABLE);
    // A shell that asks wrongly gets no answer: a line of an error would stand in what is being typed.
    asked.try_complete(std::env::args_os(), current.as_deref()).unwrap_or(true)
}

/// Writes the script that makes a shell ask. The program is asked by the name by which it was called.
pub(crate) fn completions(asked: &Completions) -> Exit {
    let program = PathBuf::from(std::env::args_os().next().unwrap_or_else(|| "host".into()));
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    // A name alone is found by the path of the shell; anything else may be called from another folder.
    let program =
        if program.components().count() > 1 { std::path::absolute(&program).unwrap_or(program) } else { program };
    let shell: &dyn EnvCompleter = match asked.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    if let Err(error) = shell.write_registration(VARIABLE, &name, &name, &program.to_string_lossy(), &mut script) {
        eprintln!("error: the script cannot be written: {error}");
        return Exit::No;
    }
    crate::out::write(format_args!("{}", String::from_utf8_lossy(&script)));
    Exit::Done
}

/// Names of tables.
pub(crate) fn tables() -> ArgValueCompleter {
    proposing(|names| names.tables)
}

/// Names of streams: of ingestion contracts and of tables.
pub(crate) fn streams() -> ArgValueCompleter {
    proposing(|names| names.ingestions.into_iter().chain(names.tables).collect())
}

/// Names of components that contracts ask for.
pub(crate) fn components() -> ArgValueCompleter {
    proposing(|names| names.components)
}

/// Files of components, and folders on the way to them.
pub(crate) fn component_files() -> ArgValueCompleter {
    let wasm = |path: &Path| path.extension().is_some_and(|extension| extension == "wasm");
    ArgValueCompleter::new(PathCompleter::any().filter(wasm))
}

fn proposing(choose: fn(Names) -> BTreeSet<String>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let names = choose(Names::of(&project(std::env::args_os())));
        let fits = names.into_iter().filter(|name| name.starts_with(typed.as_ref()));
        fits.map(CompletionCandidate::new).collect()
    })
}

/// The project that the words typed so far mean.
fn project(words: impl Iterator<Item = OsString>) -> PathBuf {
    let mut words = words.skip_while(|word| word != "--").skip(1);
    let mut found = None;
    while let Some(word) = words.next() {
        if word == "--project" {
            found = words.next();
        } else if let Some(folder) = word.to_str().and_then(|word| word.strip_prefix("--project=")) {
            found = Some(folder.into());
        }
    }
    let environment = || std::env::var_os("CRISOL_PROJECT");
    found.or_else(environment).filter(|folder| !folder.is_empty()).unwrap_or_else(|| ".".into()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_the_one_that_is_typed() {
        let of = |line: &str| project(line.split(' ').map(OsString::from));
        assert_eq!(of("host -- host show --project examples/orders si"), PathBuf::from("examples/orders"));
        assert_eq!(of("host -- host --project=here run"), PathBuf::from("here"));
        assert_eq!(of("host -- host show --project"), PathBuf::from("."));
    }
}
