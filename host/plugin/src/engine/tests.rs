use wasmparser::{Validator, WasmFeatures};
use wasmtime::Module;
use wasmtime::component::Component;

use super::*;

/// What the runtime's tree knows of, by the name of its flag, and a text that needs it. Together they are all there is: a
/// new version of the runtime that knows more fails here until somebody has decided.
const OFF: [(&str, &str); 24] = [
    ("GC", "(module (type (struct (field i32))))"),
    ("GC_TYPES", "(module (func (param externref)))"),
    ("FUNCTION_REFERENCES", "(module (type $t (func)) (func (param (ref $t)) (call_ref $t (local.get 0))))"),
    ("EXCEPTIONS", "(module (tag (param i32)))"),
    ("LEGACY_EXCEPTIONS", "(module (func try catch_all end))"),
    ("THREADS", "(module (memory 1 1 shared))"),
    ("SHARED_EVERYTHING_THREADS", "(module (global (shared mut i32) (i32.const 0)))"),
    ("MEMORY64", "(module (memory i64 1))"),
    ("MULTI_MEMORY", "(module (memory 1) (memory 1))"),
    (
        "RELAXED_SIMD",
        "(module (func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1))))",
    ),
    ("TAIL_CALL", "(module (func $f (return_call $f)))"),
    ("CUSTOM_PAGE_SIZES", "(module (memory 1 (pagesize 1)))"),
    (
        "WIDE_ARITHMETIC",
        "(module (func (param i64 i64 i64 i64) (result i64 i64)
            (i64.add128 (local.get 0) (local.get 1) (local.get 2) (local.get 3))))",
    ),
    ("STACK_SWITCHING", "(module (type $f (func)) (type $c (cont $f)))"),
    ("MEMORY_CONTROL", "(module (memory 1) (func (memory.discard (i32.const 0) (i32.const 65536))))"),
    ("CUSTOM_DESCRIPTORS", "(module (rec (type $a (descriptor $b) (struct)) (type $b (describes $a) (struct))))"),
    ("CM_ASYNC", "(component (type (stream u8)))"),
    (
        "CM_ASYNC_STACKFUL",
        r#"(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
            (type $t (func async)) (func (type $t) (canon lift (core func $i "f") async)))"#,
    ),
    ("CM_MORE_ASYNC_BUILTINS", "(component (type $s (stream u8)) (core func (canon stream.cancel-read $s async)))"),
    ("CM_THREADING", "(component (core func (canon thread.index)))"),
    ("CM_ERROR_CONTEXT", r#"(component (type (func (param "x" error-context))))"#),
    ("CM_FIXED_LENGTH_LISTS", "(component (type (list u8 4)))"),
    ("CM_MAP", "(component (type (map string u32)))"),
    ("CM_VALUES", r#"(component (import "v" (value $v u32)) (export "w" (value $v)))"#),
];

const ON: [(&str, &str); 13] = [
    ("MUTABLE_GLOBAL", r#"(module (global (export "g") (mut i32) (i32.const 0)))"#),
    ("SATURATING_FLOAT_TO_INT", "(module (func (result i32) (i32.trunc_sat_f32_s (f32.const 1))))"),
    ("SIGN_EXTENSION", "(module (func (result i32) (i32.extend8_s (i32.const 200))))"),
    ("REFERENCE_TYPES", "(module (table 4 funcref) (func (drop (table.size 0))))"),
    ("MULTI_VALUE", "(module (func (result i32 i32) (i32.const 1) (i32.const 2)))"),
    ("BULK_MEMORY", r#"(module (memory 1) (data "x") (func (data.drop 0)))"#),
    ("BULK_MEMORY_OPT", "(module (memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 9))))"),
    ("SIMD", "(module (func (result v128) (v128.const i64x2 1 2)))"),
    ("FLOATS", "(module (func (result f32) (f32.const 1)))"),
    ("EXTENDED_CONST", "(module (global i32 (i32.add (i32.const 1) (i32.const 2))))"),
    ("COMPONENT_MODEL", "(component)"),
    ("", "(module (memory 1) (func (result i32) (i32.load (i32.const 0))))"),
    ("", "(component (type (list u8)))"),
];

/// Flags that no text can show, and why they do not matter.
const NOT_SHOWN: [(&str, &str); 7] = [
    ("CALL_INDIRECT_OVERLONG", "another way to write the number of a table; compilers use it"),
    ("COMPACT_IMPORTS", "another way to write imports, which the runtime does not know"),
    ("CM_GC", "needs GC, which is off"),
    ("CM64", "needs MEMORY64, which is off"),
    ("CM_IMPLEMENTS", "names of imports, and those that are not on our list are refused"),
    ("CM_NESTED_NAMES", "names of imports, and those that are not on our list are refused"),
    ("CM_CANON_NAMES", "names of imports, and those that are not on our list are refused"),
];

fn bytes(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn compiles(engine: &wasmtime::Engine, bytes: &[u8]) -> wasmtime::Result<()> {
    match wasmparser::Parser::is_component(bytes) {
        true => Component::from_binary(engine, bytes).map(drop),
        false => Module::from_binary(engine, bytes).map(drop),
    }
}

/// With everything but one thing it is refused, and with everything it is taken.
fn needs(flag: &str, bytes: &[u8]) -> Result<(), String> {
    let missing = WasmFeatures::from_name(flag).expect(flag);
    let valid = |features| Validator::new_with_features(features).validate_all(bytes).map(drop);
    valid(WasmFeatures::all()).map_err(|error| format!("it is wrong for another reason: {error}"))?;
    match valid(WasmFeatures::all().difference(missing)) {
        Ok(()) => Err("it does not need it".to_string()),
        Err(_) => Ok(()),
    }
}

#[test]
fn what_components_do_not_need_is_off() {
    let engine = Engine::new().unwrap();
    let mut wrong = Vec::new();
    for (flag, text) in OFF {
        let bytes = bytes(text);
        if let Err(why) = needs(flag, &bytes) {
            wrong.push(format!("the text for {flag} is no proof: {why}"));
        }
        if compiles(engine.wasmtime(), &bytes).is_ok() {
            wrong.push(format!("{flag} is on"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_compilers_of_common_languages_emit_is_on() {
    let engine = Engine::new().unwrap();
    for (flag, text) in ON {
        let bytes = bytes(text);
        assert!(flag.is_empty() || needs(flag, &bytes).is_ok(), "the text for {flag} is no proof");
        let compiled = compiles(engine.wasmtime(), &bytes);
        assert!(compiled.is_ok(), "{flag}: {:?}", compiled.err());
    }
}

#[test]
fn each_feature_that_the_runtime_knows_was_decided_upon() {
    let decided = || OFF.iter().chain(&ON).chain(&NOT_SHOWN).map(|(flag, _)| *flag).filter(|flag| !flag.is_empty());
    for (flag, _) in WasmFeatures::all().iter_names() {
        assert!(decided().any(|decided| decided == flag), "{flag} is neither on nor off here");
    }
    for flag in decided() {
        assert!(WasmFeatures::from_name(flag).is_some(), "{flag} is not known any more");
    }
}

#[test]
fn the_ticker_ends_with_the_engine() {
    let engine = Engine::new().unwrap();
    let weak = engine.wasmtime().weak();
    drop(engine.clone());
    assert!(weak.upgrade().is_some());
    drop(engine);
    assert!(weak.upgrade().is_none(), "the ticker's thread still holds the engine");
}
