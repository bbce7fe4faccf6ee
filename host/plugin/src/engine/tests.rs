use wasmtime::component::Component;
use wasmtime::{Config, Module};

use super::*;

/// What is off, a module that uses it, and how to switch it on (to see that the module itself is right).
type Off = (&'static str, &'static str, fn(&mut Config));

const MODULES: [Off; 12] = [
    ("gc", "(module (type (struct (field i32))))", |c| {
        c.wasm_gc(true);
    }),
    ("function references", "(module (type $t (func)) (func (param (ref $t))))", |c| {
        c.wasm_function_references(true);
    }),
    ("external references", "(module (func (param externref)))", |_| ()),
    ("exceptions", "(module (tag (param i32)))", |c| {
        c.wasm_exceptions(true);
    }),
    ("threads", "(module (memory 1 1 shared))", |c| {
        c.wasm_threads(true).shared_memory(true);
    }),
    ("memory64", "(module (memory i64 1))", |c| {
        c.wasm_memory64(true);
    }),
    ("several memories", "(module (memory 1) (memory 1))", |c| {
        c.wasm_multi_memory(true);
    }),
    (
        "relaxed simd",
        "(module (func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1))))",
        |c| {
            c.wasm_relaxed_simd(true);
        },
    ),
    ("tail calls", "(module (func $f (return_call $f)))", |c| {
        c.wasm_tail_call(true);
    }),
    ("custom page sizes", "(module (memory 1 (pagesize 1)))", |c| {
        c.wasm_custom_page_sizes(true);
    }),
    (
        "wide arithmetic",
        "(module (func (param i64 i64 i64 i64) (result i64 i64)
            (i64.add128 (local.get 0) (local.get 1) (local.get 2) (local.get 3))))",
        |c| {
            c.wasm_wide_arithmetic(true);
        },
    ),
    ("stack switching", "(module (type $f (func)) (type $c (cont $f)))", |c| {
        c.wasm_function_references(true).wasm_stack_switching(true);
    }),
];

/// The same for components. Those of async are not even compiled in.
const COMPONENTS: [(&str, &str); 6] = [
    ("streams", r#"(component (type (stream u8)))"#),
    ("futures", r#"(component (type (future u8)))"#),
    ("async functions", r#"(component (type (func async)))"#),
    ("error context", r#"(component (type (func (param "x" error-context))))"#),
    ("lists of fixed length", r#"(component (type (list u8 4)))"#),
    ("maps", r#"(component (type (map string u32)))"#),
];

fn bytes(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

#[test]
fn what_components_do_not_need_is_off() {
    let engine = Engine::new().unwrap();
    for (what, text, on) in MODULES {
        assert!(Module::from_binary(engine.wasmtime(), &bytes(text)).is_err(), "{what} is on");
        let mut config = Config::new();
        on(&mut config);
        let permissive = wasmtime::Engine::new(&config).unwrap();
        let known = Module::from_binary(&permissive, &bytes(text));
        assert!(known.is_ok(), "the module for {what} is no proof: {:?}", known.err());
    }
}

#[test]
fn what_components_do_not_need_of_the_component_model_is_off() {
    let engine = Engine::new().unwrap();
    for (what, text) in COMPONENTS {
        assert!(Component::from_binary(engine.wasmtime(), &bytes(text)).is_err(), "{what} is on");
    }
    assert!(Component::from_binary(engine.wasmtime(), &bytes(r#"(component (type (list u8)))"#)).is_ok());
}

#[test]
fn what_compilers_of_common_languages_emit_is_on() {
    let engine = Engine::new().unwrap();
    for text in [
        "(module (func (result v128) (v128.const i64x2 1 2)))",
        "(module (memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 9))))",
        "(module (func (result i32 i32) (i32.const 1) (i32.const 2)))",
        "(module (table 4 funcref) (func (drop (table.size 0))))",
        "(module (func (result i32) (i32.extend8_s (i32.const 200))))",
        "(module (func (result i32) (i32.trunc_sat_f32_s (f32.const 1))))",
    ] {
        let module = Module::from_binary(engine.wasmtime(), &bytes(text));
        assert!(module.is_ok(), "{text}: {:?}", module.err());
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
