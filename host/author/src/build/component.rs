//! What a tool made, as a component of the plugin's kind.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{Resolve, WorldItem};

use crate::{AuthorError, Kind, Project};

/// How a core module begins, after the magic number: version 1, layer 0.
const CORE: [u8; 4] = [1, 0, 0, 0];
/// Answers what a language runtime asks of WASI preview 1, within the module.
const ADAPTER: &str = include_str!("nowasi.wat");
const ADAPTED: &str = "wasi_snapshot_preview1";
/// What the adapter asks of a host.
const ADAPTER_WORLD: &str = "
    package crisol:stage@0.1.0;
    interface log { log: func(level: u32, text: string); }
    world adapter { import log; }
";

/// A component of a component, or of a core module that has the exports of the world.
pub(super) fn of(bytes: Vec<u8>, project: &Project) -> Result<Vec<u8>, AuthorError> {
    let is_core = bytes.get(4..8).is_some_and(|version| version == CORE);
    let component = if is_core { wrapped(bytes, project) } else { Ok(bytes) };
    let wrong = |error: anyhow::Error| AuthorError::Output {
        what: format!("what was built of {} is no {} of crisol:stage@0.1: {error:#}", project.name, project.kind),
    };
    let component = component.map_err(wrong)?;
    exports(&component, project.kind).map_err(wrong)?;
    Ok(component)
}

fn wrapped(mut module: Vec<u8>, project: &Project) -> anyhow::Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(project.sdk.join("wit"))?;
    let world = resolve.select_world(&[package], Some(&project.kind.to_string()))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().validate(true).module(&module)?.adapter(ADAPTED, &adapter()?)?.encode()
}

fn adapter() -> anyhow::Result<Vec<u8>> {
    let mut adapter = wat::parse_str(ADAPTER)?;
    let mut resolve = Resolve::default();
    let package = resolve.push_source("adapter.wit", ADAPTER_WORLD)?;
    let world = resolve.select_world(&[package], Some("adapter"))?;
    embed_component_metadata(&mut adapter, &resolve, world, StringEncoding::UTF8)?;
    Ok(adapter)
}

/// Whether a component exports the interface of a kind.
fn exports(component: &[u8], kind: Kind) -> anyhow::Result<()> {
    let DecodedWasm::Component(resolve, world) = decode(component)? else { anyhow::bail!("it is a package of WIT") };
    let wanted = kind.interface();
    let name = |item: &WorldItem| match item {
        WorldItem::Interface { id, .. } => resolve.interfaces[*id].name.clone(),
        _ => None,
    };
    let exported: Vec<String> = resolve.worlds[world].exports.values().filter_map(name).collect();
    anyhow::ensure!(
        exported.iter().any(|name| name == wanted),
        "it exports {} and not `{wanted}`; see `kind` in plugin.toml",
        if exported.is_empty() { "nothing".into() } else { format!("`{}`", exported.join("`, `")) }
    );
    Ok(())
}
