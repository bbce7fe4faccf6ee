//! `host schema`: what editors need to know of the files of a project.

use clap::{Args, ValueEnum};
use crisol::KeyFile;

use crate::exit::Exit;
use crate::out::println;

pub(crate) const HELP: &str = "\
Draft 2020-12. An editor that is told of it proposes keys, shows what they mean and marks what a start would refuse:
\"$schema\" at the top of a contract, `#:schema PATH` in the first line of crisol.toml, or its own settings.

Examples:
  host schema table > .crisol/table.json
  host schema project > .crisol/project.json";

/// `host schema`
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Of which files
    pub(crate) of: SchemaOf,
}

/// Files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Ingestion contracts, `ingestion/**/*.json`
    Contract,
    /// Table contracts, `tables/**/*.json`
    Table,
    /// crisol.toml
    Project,
}

/// Writes a schema.
pub(crate) fn schema(asked: &Schema) -> Exit {
    let file = match asked.of {
        SchemaOf::Contract => KeyFile::Ingestion,
        SchemaOf::Table => KeyFile::Table,
        SchemaOf::Project => KeyFile::Settings,
    };
    println!("{:#}", crisol::schema(file));
    if crate::out::lost() { Exit::No } else { Exit::Done }
}
