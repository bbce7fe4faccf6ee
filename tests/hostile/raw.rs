//! Components written by hand, for what no compiler emits: each function runs some code of its own and then gives
//! what lies in the component's memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use crisol_plugin::Kind;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve, UnresolvedPackageGroup};

/// Where the answer of each function lies.
pub(crate) const DESCRIBED: u32 = 1024;
pub(crate) const PLANNED: u32 = 1056;
pub(crate) const OPENED: u32 = 1088;
pub(crate) const PUSHED: u32 = 1120;
pub(crate) const FINISHED: u32 = 1152;
/// Where what they point to lies.
const READS: u32 = 1200;
const WRITES: u32 = 1216;
const WORDS: u32 = 1300;
const JSON: u32 = 2048;
/// The room of a description in memory.
pub(crate) const JSON_BYTES: u32 = 6 << 10;
/// What calls are given goes behind this.
const GIVEN: u32 = 64 << 10;
/// What answers point to lies behind this.
pub(crate) const ANSWERS: u32 = 1 << 20;
const PAGE: u32 = 64 << 10;

/// The worlds of a host, each with a little of WASI.
static INTERFACES: LazyLock<(Resolve, PackageId)> = LazyLock::new(|| interfaces(|text| text));

/// Where hostile code stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The start function of the module.
    Start,
    Describe,
    Plan,
    Open,
    /// `check` of a validator.
    Push,
    Finish,
    /// Called by the host for room in the memory, before each call that is given something.
    Allocator,
    /// Called by the host when an answer has been read.
    AfterReturn,
    /// Called by the host when a session is over.
    Destructor,
}

/// A component that is honest where nothing else is said.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    kind: Kind,
    code: BTreeMap<Part, String>,
    results: BTreeMap<Part, u32>,
    data: Vec<(u32, Vec<u8>)>,
    items: String,
    pages: u32,
    /// What is written otherwise, in the interfaces and in the module.
    edits: Vec<(String, String)>,
}

impl Raw {
    /// Describes itself as `raw 1.0.0`, reads `id`, writes `value`, and gives no rows.
    pub(crate) fn honest(kind: Kind) -> Self {
        let raw = Self {
            kind,
            code: BTreeMap::new(),
            results: BTreeMap::new(),
            data: Vec::new(),
            items: String::new(),
            pages: ANSWERS / PAGE,
            edits: Vec::new(),
        };
        let described = raw.described(&json(kind, "raw", &serde_json::json!({})));
        described.data(WORDS, b"idvaluebigint").data(READS, &words(&[WORDS, 2])).column(WORDS + 7, 6).planned()
    }

    fn column(self, type_at: u32, type_bytes: u32) -> Self {
        self.data(WRITES, &words(&[WORDS + 2, 5, type_at, type_bytes, 0]))
    }

    fn planned(self) -> Self {
        let writes = u32::from(self.kind != Kind::Validator);
        self.data(PLANNED, &words(&[0, READS, 1, WRITES, writes]))
    }

    /// Says this of itself.
    pub(crate) fn described(self, text: &[u8]) -> Self {
        if text.len() as u32 <= JSON_BYTES {
            return self.data(JSON, text).data(DESCRIBED, &words(&[JSON, text.len() as u32]));
        }
        self.far(DESCRIBED, text)
    }

    /// Writes `value` as this type.
    pub(crate) fn writes(self, type_name: &str) -> Self {
        self.data(WORDS + 20, type_name.as_bytes()).column(WORDS + 20, type_name.len() as u32)
    }

    /// Answers with these rows and rejections; a ranker or aggregator with the rows as its only message.
    pub(crate) fn answers(mut self, part: Part, rows: Option<&[u8]>, rejected: Option<&[u8]>) -> Self {
        let rows = rows.map(|bytes| self.put(bytes));
        let rejected = rejected.map(|bytes| self.put(bytes));
        self.answers_at(part, rows, rejected)
    }

    /// The same with bytes that lie in these places, so many of them.
    pub(crate) fn answers_at(mut self, part: Part, rows: Option<[u32; 2]>, rejected: Option<[u32; 2]>) -> Self {
        let [at, length] = rows.unwrap_or_default();
        let [some, rejected_at, rejected_length] = rejected.map_or([0, 0, 0], |[at, length]| [1, at, length]);
        let answer = match self.kind {
            Kind::Ranker | Kind::Aggregator => {
                let [list, _] = self.put(&words(&[at, length]));
                words(&[0, list, u32::from(rows.is_some())])
            }
            Kind::Validator => words(&[0, some, rejected_at, rejected_length]),
            _ => words(&[0, at, length, some, rejected_at, rejected_length]),
        };
        self.data(part.answer(), &answer)
    }

    /// A ranker or aggregator that answers with the same message so many times.
    pub(crate) fn repeats(mut self, part: Part, message: &[u8], count: u32) -> Self {
        let place = self.put(message);
        let [at, _] = self.put(&words(&place).repeat(count as usize));
        self.data(part.answer(), &words(&[0, at, count]))
    }

    /// Bytes in the memory.
    pub(crate) fn data(mut self, at: u32, bytes: &[u8]) -> Self {
        self.place(at, bytes);
        self
    }

    fn place(&mut self, at: u32, bytes: &[u8]) {
        self.pages = self.pages.max((at + bytes.len() as u32).div_ceil(PAGE));
        self.data.push((at, bytes.to_vec()));
    }

    /// Some bytes, and at `at` where they lie and how many they are.
    pub(crate) fn far(mut self, at: u32, bytes: &[u8]) -> Self {
        let place = self.put(bytes);
        self.data(at, &words(&place))
    }

    /// Puts bytes where nothing lies yet; where that is, and how many they are.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> [u32; 2] {
        let at = self.room();
        self.place(at, bytes);
        [at, bytes.len() as u32]
    }

    /// The first place where nothing lies yet.
    fn room(&self) -> u32 {
        let end = self.data.iter().map(|(at, bytes)| at + bytes.len() as u32).max().unwrap_or(0);
        end.max(ANSWERS).next_multiple_of(8)
    }

    /// Memory at the start.
    pub(crate) fn pages(mut self, pages: u32) -> Self {
        self.pages = pages;
        self
    }

    /// Code that a part runs first. Functions to call: `$log`, `$exit`, `$stderr`, `$random`, `$recurse`, `$session`.
    pub(crate) fn code(mut self, part: Part, code: &str) -> Self {
        self.code.insert(part, code.to_string());
        self
    }

    /// What a part returns instead: the place of its answer, or of the room that it gives.
    pub(crate) fn result(mut self, part: Part, at: u32) -> Self {
        self.results.insert(part, at);
        self
    }

    /// More of the module: tables, segments.
    pub(crate) fn items(mut self, items: &str) -> Self {
        self.items += items;
        self
    }

    /// It knows other interfaces than those of today: each text is another one, in the interfaces and in its module.
    pub(crate) fn edited(mut self, edits: &[(&str, &str)]) -> Self {
        self.edits.extend(edits.iter().map(|(from, to)| (from.to_string(), to.to_string())));
        self
    }

    fn edit(&self, text: String) -> String {
        self.edits.iter().fold(text, |text, (from, to)| text.replace(from, to))
    }

    /// The file.
    pub(crate) fn build(&self) -> Vec<u8> {
        let text = self.edit(self.module());
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let others;
        let (resolve, package) = if self.edits.is_empty() {
            &*INTERFACES
        } else {
            others = interfaces(|text| self.edit(text));
            &others
        };
        let world = resolve.select_world(&[*package], Some(self.kind.word())).unwrap();
        embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).unwrap();
        let mut encoder = ComponentEncoder::default();
        let encoded = encoder.validate(false).module(&module).and_then(|encoder| encoder.encode());
        encoded.unwrap_or_else(|error| panic!("{error:?}\n{text}"))
    }

    fn module(&self) -> String {
        let interface = self.interface();
        let mut text = format!("(module {}\n", self.imports(&interface));
        let pages = self.pages;
        let _ = write!(text, "(memory (export \"memory\") {pages})(global $given (mut i32) (i32.const {GIVEN}))");
        text += "(global $calls (mut i32) (i32.const 0))(table $table 10 funcref)";
        text += "(func $recurse (param i64) (result i64) ";
        text += "(i64.add (call $recurse (i64.add (local.get 0) (i64.const 1))) (local.get 0)))";
        text += &self.items;
        for (at, bytes) in &self.data {
            let _ = write!(text, "(data (i32.const {at}) \"");
            for byte in bytes {
                let _ = write!(text, "\\{byte:02x}");
            }
            text += "\")";
        }
        if let Some(code) = self.code.get(&Part::Start) {
            let _ = write!(text, "(func $start {code})(start $start)");
        }
        self.functions(&interface, &mut text);
        text + ")"
    }

    fn imports(&self, interface: &str) -> String {
        let used = |name: &str| self.code.values().any(|code| code.contains(name));
        let mut imports = format!(
            r#"(import "[export]{interface}" "[resource-new]session" (func $session (param i32) (result i32)))"#
        );
        for (name, import) in [
            ("$log", r#""crisol:stage/log@0.1.0" "log" (func $log (param i32 i32 i32))"#),
            ("$exit", r#""wasi:cli/exit@0.2.12" "exit" (func $exit (param i32))"#),
            ("$stderr", r#""wasi:cli/stderr@0.2.12" "get-stderr" (func $stderr (result i32))"#),
            ("$random", r#""wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32))"#),
            ("$drop", r#""wasi:io/streams@0.2.12" "[resource-drop]output-stream" (func $drop (param i32))"#),
        ] {
            if used(name) {
                let _ = write!(imports, "(import {import})");
            }
        }
        imports
    }

    fn functions(&self, interface: &str, text: &mut String) {
        let description = "crisol:stage/description@0.1.0";
        let mut function = |part: Part, name: String, signature: &str, honest: &str| {
            let code = self.code.get(&part).map_or("", String::as_str);
            let result = self.results.get(&part).map_or_else(|| honest.to_string(), |at| format!("(i32.const {at})"));
            let _ = writeln!(text, "(func (export \"{name}\") {signature} {code} {result})");
        };
        let at = |part: Part| format!("(i32.const {})", part.answer());
        function(Part::Describe, format!("{description}#describe"), "(result i32)", &at(Part::Describe));
        let plan = "(param i32 i32 i32 i32) (result i32)";
        function(Part::Plan, format!("{description}#plan"), plan, &at(Part::Plan));
        let open = "(param i32 i32 i32 i32 i64) (result i32)";
        let opened = format!("(i32.store (i32.const {}) (call $session (i32.const 1))) {}", OPENED + 4, at(Part::Open));
        function(Part::Open, format!("{interface}#[static]session.open"), open, &opened);
        let (push, more) = match self.kind {
            Kind::Validator => ("check", false),
            Kind::Decoder | Kind::Transformer => ("push", false),
            _ => ("push", true),
        };
        let method = |name: &str| format!("{interface}#[method]session.{name}");
        function(Part::Push, method(push), "(param i32 i32 i32) (result i32)", &at(Part::Push));
        let mut returning = vec![format!("{description}#describe"), format!("{description}#plan")];
        returning.extend([format!("{interface}#[static]session.open"), method(push)]);
        if more {
            function(Part::Finish, method("finish"), "(param i32) (result i32)", &at(Part::Finish));
            returning.push(method("finish"));
        }
        for name in returning {
            function(Part::AfterReturn, format!("cabi_post_{name}"), "(param i32)", "");
        }
        function(Part::Destructor, format!("{interface}#[dtor]session"), "(param i32)", "");
        let room = "(global.get $given) (global.set $given (i32.add (global.get $given) \
                    (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))";
        function(Part::Allocator, "cabi_realloc".into(), "(param i32 i32 i32 i32) (result i32)", room);
    }

    fn interface(&self) -> String {
        let name = match self.kind {
            Kind::Decoder | Kind::Transformer => "transform",
            Kind::Validator => "verdicts",
            _ => "group",
        };
        format!("crisol:stage/{name}@0.1.0")
    }
}

impl Part {
    fn answer(self) -> u32 {
        match self {
            Self::Describe => DESCRIBED,
            Self::Plan => PLANNED,
            Self::Open => OPENED,
            Self::Push => PUSHED,
            _ => FINISHED,
        }
    }
}

/// A description with some keys changed.
pub(crate) fn json(kind: Kind, name: &str, changed: &serde_json::Value) -> Vec<u8> {
    let mut description = serde_json::json!({ "name": name, "version": "1.0.0", "kind": kind.word() });
    for (key, value) in changed.as_object().into_iter().flatten() {
        description[key] = value.clone();
    }
    description.to_string().into_bytes()
}

/// Numbers as they lie in memory.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn interfaces(edit: impl Fn(String) -> String) -> (Resolve, PackageId) {
    const WASI: &str = "
        package wasi:io@0.2.12 { interface streams { resource output-stream; } }
        package wasi:cli@0.2.12 {
            interface exit { exit: func(status: result); }
            interface stderr { use wasi:io/streams@0.2.12.{output-stream}; get-stderr: func() -> output-stream; }
        }
        package wasi:random@0.2.12 { interface random { get-random-bytes: func(len: u64) -> list<u8>; } }
    ";
    let mut worlds = String::from("package test:raw;\n");
    for world in ["decoder", "transformer", "validator", "ranker", "aggregator"] {
        let _ = writeln!(
            worlds,
            "world {world} {{ include crisol:stage/{world}@0.1.0; import wasi:io/streams@0.2.12; \
             import wasi:cli/exit@0.2.12; import wasi:cli/stderr@0.2.12; import wasi:random/random@0.2.12; }}"
        );
    }
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("wit"));
    let wit = wit.into_iter().find(|folder| folder.is_dir()).expect("the interfaces");
    let edited = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(wit).unwrap().map(|entry| entry.unwrap().path()) {
        let text = edit(std::fs::read_to_string(&file).unwrap());
        std::fs::write(edited.path().join(file.file_name().unwrap()), text).unwrap();
    }
    resolve.push_dir(edited.path()).unwrap();
    let group = UnresolvedPackageGroup::parse(Path::new("raw.wit"), &(edit(worlds) + WASI)).unwrap();
    let package = resolve.push_group(group).unwrap();
    (resolve, package)
}
