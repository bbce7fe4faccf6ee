//! `host new`

use std::path::PathBuf;

use crisol_author::{AuthorError, Kind, Lang, Scaffold, scaffold};
use serde_json::json;

use crate::args::{Global, KindName, LangName, New, Output};
use crate::exit::Exit;
use crate::out::println;
use crate::tables::plain;

/// Writes a project, and says what to run next.
pub(super) fn new(global: &Global, new: &New) -> Result<Exit, AuthorError> {
    let folder = new.path.clone().unwrap_or_else(|| PathBuf::from(&new.name));
    let wanted = Scaffold { name: &new.name, kind: kind(new.kind), lang: lang(new.lang) };
    let files = scaffold(wanted, &folder)?;
    if global.output == Output::Json {
        println!("{}", json!({ "schema": "crisol.new/v1", "folder": folder, "files": files }));
        return Ok(Exit::Done);
    }
    let shown = plain(&folder.to_string_lossy());
    println!(
        "{shown}: {} {} in {}. Its logic is in {shown}/{}, its samples in {shown}/tests/samples.json.",
        if wanted.kind == Kind::Aggregator { "an" } else { "a" },
        wanted.kind,
        wanted.lang.title(),
        wanted.lang.source()
    );
    println!("\nnext:\n  cd {shown}\n  host test");
    Ok(Exit::Done)
}

fn kind(name: KindName) -> Kind {
    match name {
        KindName::Decoder => Kind::Decoder,
        KindName::Transformer => Kind::Transformer,
        KindName::Validator => Kind::Validator,
        KindName::Ranker => Kind::Ranker,
        KindName::Aggregator => Kind::Aggregator,
    }
}

fn lang(name: LangName) -> Lang {
    match name {
        LangName::Rust => Lang::Rust,
        LangName::Python => Lang::Python,
        LangName::JavaScript => Lang::JavaScript,
        LangName::TypeScript => Lang::TypeScript,
        LangName::Go => Lang::Go,
    }
}
