//! Plugins in the making: a new project is built, tested and looked at by the real binary, with the real tool chain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crisol_tests::{Project, binary, root};
use serde_json::{Value, json};
use tempfile::TempDir;

/// `host` in a folder; cargo keeps what it compiles beside the tests.
fn host(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary("host"));
    command.args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", authored().join("target"));
    command.output().expect("the host can be started")
}

fn authored() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("authored")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn told(output: &Output) -> String {
    out(output) + &String::from_utf8_lossy(&output.stderr)
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = host(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", told(&output));
    out(&output)
}

fn fail(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = host(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", told(&output));
    told(&output)
}

#[test]
fn a_new_plugin_of_each_kind_builds_and_its_samples_hold() {
    // Always the same folder: what cargo compiled for it is found again.
    let home = authored().join("plugins");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    // As in a repository that has a workspace, to which they do not belong.
    fs::write(home.join("Cargo.toml"), "[workspace]\nmembers = []\n").unwrap();
    for kind in ["decoder", "transformer", "validator", "ranker", "aggregator"] {
        let name = format!("new-{kind}");
        let said = succeed(&home, &["new", &name, "--kind", kind]);
        assert!(said.contains(&format!("cd {name}\n  host test")), "{said}");
        let plugin = home.join(&name);
        let said = succeed(&plugin, &["test"]);
        assert!(said.contains("ok    ") && said.contains(&format!(" {kind}: 1 of 1 samples hold")), "{said}");
        let inspected: Value =
            serde_json::from_str(&succeed(&plugin, &["inspect", &format!("build/{name}.wasm"), "-o", "json"])).unwrap();
        let component = &inspected["component"];
        assert_eq!((&component["name"], &component["kind"]), (&json!(name), &json!(kind)));
        assert_eq!(component["samples"].as_array().map(Vec::len), Some(1), "they travel in the component: {component}");
    }
    the_contracts_of_their_readmes_hold(&home);
    the_loop_of_an_author(&home.join("new-decoder"));
}

/// Each README shows a contract: it holds in a project whose tables have what the samples have.
fn the_contracts_of_their_readmes_hold(home: &Path) {
    for kind in ["decoder", "transformer", "validator", "ranker", "aggregator"] {
        let plugin = home.join(format!("new-{kind}"));
        let readme = fs::read_to_string(plugin.join("README.md")).unwrap();
        let contract = readme.split_once("```json\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
        let table: Value = serde_json::from_str(contract).unwrap_or_else(|error| panic!("{kind}: {error}: {contract}"));
        let project = Project::lines();
        let ingestion = fs::read_to_string(project.path().join("ingestion/streaming/lines.json")).unwrap();
        project.write("ingestion/streaming/lines.json", &ingestion.replace("bronze/lines", "bronze/sales"));
        fs::remove_file(project.path().join("tables/bronze/lines.json")).unwrap();
        project.write("tables/bronze/sales.json", r#"{ "name": "bronze.sales" }"#);
        if table["from"] == "silver.sales" {
            let columns = json!([{ "name": "shop", "type": "bigint" }, { "name": "sku", "type": "string" },
                { "name": "price", "type": "decimal(18,2)" }, { "name": "quantity", "type": "int" }]);
            let above = json!({ "name": "silver.sales", "from": "bronze.sales", "stages": [{ "decode": "json" }],
                "columns": columns });
            project.write("tables/silver/sales.json", &above.to_string());
        }
        let name = table["name"].as_str().unwrap().replace('.', "/");
        project.write(&format!("tables/{name}.json"), contract);
        let component = format!("new-{kind}.wasm");
        project.write_bytes(&format!("plugins/{component}"), &fs::read(plugin.join("build").join(&component)).unwrap());
        project.write_bytes("plugins/json.wasm", &fs::read(root().join("plugins/json.wasm")).unwrap());
        project.host(&["check"]).plugins(&project.path().join("plugins")).succeed();
    }
}

/// What follows on the first test: the test of the source, a build without need, a mistake, a trap.
fn the_loop_of_an_author(plugin: &Path) {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--quiet"]).current_dir(plugin).env("CARGO_TARGET_DIR", authored().join("target"));
    let tested = cargo.output().unwrap();
    assert!(tested.status.success() && told(&tested).contains("1 passed"), "{}", told(&tested));

    let component = plugin.join("build/new-decoder.wasm");
    let before = fs::metadata(&component).unwrap().modified().unwrap();
    assert!(succeed(plugin, &["build"]).contains(", as before"));
    assert_eq!(fs::metadata(&component).unwrap().modified().unwrap(), before, "the same file is left untouched");

    let source = plugin.join("src/lib.rs");
    let honest = fs::read_to_string(&source).unwrap();
    fs::write(&source, honest.replace("About::new(\"new-decoder\"", "About::new(\"newdecoder\"")).unwrap();
    let said = succeed(plugin, &["test"]);
    let told = "its source calls it `newdecoder`, plugin.toml `new-decoder`: contracts name it `newdecoder`";
    assert!(said.contains(told), "{said}");
    fs::write(&source, honest.replace("\"no_sku\", \"the sku is empty\"", "\"no_name\", \"the sku is empty\""))
        .unwrap();
    let said = fail(plugin, &["test"], 1);
    for words in ["FAIL  a message", "given[1]", "rejected as `no_sku`", "rejected as `no_name`", "0 of 1 samples hold"]
    {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert!(succeed(plugin, &["test", "--update"]).contains("new   a message"));
    assert!(fs::read_to_string(plugin.join("tests/samples.json")).unwrap().contains("no_name"));
    succeed(plugin, &["test"]);

    fs::write(
        &source,
        honest.replace("if sale.sku.is_empty() {", "if sale.sku.is_empty() {\n panic!(\"no sku in {message}\");"),
    )
    .unwrap();
    let said = fail(plugin, &["test"], 1);
    assert!(
        said.contains("FAIL  a message") && said.contains("no sku in {\"sku\":\"\""),
        "the guest's own words:\n{said}"
    );

    fs::write(&source, "fn").unwrap();
    let said = fail(plugin, &["test"], 1);
    assert!(said.contains("cargo build") && said.contains("stands above") && said.contains("src/lib.rs:1"), "{said}");
}

/// A folder with the samples of the bundled rules.
fn samples_of_rules() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::copy(root().join("plugins/order-rules/tests/samples.json"), folder.path().join("rules.json")).unwrap();
    folder
}

#[test]
fn samples_run_through_any_component_and_are_written_anew_where_they_differ() {
    let rules = root().join("plugins/order-rules.wasm").display().to_string();
    let said = succeed(&root(), &["test", &rules]);
    assert!(said.contains("order-rules") && said.contains("2 of 2 samples hold"), "those that it carries:\n{said}");

    let folder = samples_of_rules();
    let file = folder.path().join("rules.json");
    let samples = folder.path().display().to_string();
    let honest: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let mut changed = honest.clone();
    changed[0]["expect"]["rejected"][0]["code"] = "another".into();
    changed[0]["expect"]["rejected"].as_array_mut().unwrap().pop();
    fs::write(&file, changed.to_string()).unwrap();
    let report = out(&host(&root(), &["test", &rules, "--samples", &samples, "-o", "json"]));
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["schema"], &report["failed"]), (&json!("crisol.test/v1"), &json!(1)));
    let places: Vec<_> = report["samples"][0]["differences"].as_array().unwrap().iter().map(|d| &d["where"]).collect();
    assert_eq!(places, ["given[3]", "given[5]"]);
    assert_eq!(report["samples"][1]["state"], "ok");

    succeed(&root(), &["test", &rules, "--samples", &samples, "--update"]);
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let rejected = &written[0]["expect"]["rejected"];
    let code = |at: usize| &rejected[at]["code"];
    assert_eq!([code(0), code(1), code(2)], ["amount_not_positive", "unknown_currency", "event_in_future"]);
    assert_eq!(rejected[0].get("text"), None, "a text that nobody wrote down stays out");
    assert!(rejected[2]["text"].as_str().unwrap().contains("more than a day ahead"), "a new one is told whole");
    assert_eq!((&written[0]["given"], &written[1]), (&honest[0]["given"], &honest[1]), "all else stays");
    succeed(&root(), &["test", &rules, "--samples", &samples]);
}

#[test]
fn mistakes_of_authors_are_told_with_what_to_do() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    for (arguments, code, words) in [
        (&["new", "Sales", "--kind", "decoder"][..], 2, &["cannot be the name", "small letters"][..]),
        (&["new", "sales", "--kind", "encoder"], 2, &["invalid value 'encoder'", "decoder"]),
        (&["new", "sales", "--kind", "decoder", "--lang", "cobol"], 2, &["invalid value 'cobol'", "rust"]),
        (&["build"], 2, &["has no plugin.toml", "host new NAME"]),
        (&["test", "nowhere.wasm"], 3, &["cannot read nowhere.wasm"]),
        (&["inspect", "."], 3, &["cannot read ."]),
        (&["test", "nowhere.wasm", "--samples", "none"], 1, &["none: No such file"]),
    ] {
        let said = fail(home, arguments, code);
        for word in words {
            assert!(said.contains(word), "`{word}` is missing in:\n{said}");
        }
    }
    let refused: Value = serde_json::from_str(&out(&host(home, &["build", "-o", "json"]))).unwrap();
    assert_eq!((&refused["schema"], &refused["errors"][0]["code"]), (&json!("crisol.error/v1"), &json!("wrong_usage")));
    succeed(home, &["new", "sales", "--kind", "ranker"]);
    assert!(fail(home, &["new", "sales", "--kind", "ranker"], 2).contains("is there already"));
    let mut command = Command::new(binary("host"));
    let built = command.args(["build", "sales"]).current_dir(home).env("CARGO", "/nowhere/cargo").output().unwrap();
    assert_eq!(built.status.code(), Some(1));
    assert!(told(&built).contains("get it with `curl"), "{}", told(&built));

    let rules = root().join("plugins/order-rules.wasm").display().to_string();
    assert!(fail(home, &["test", &rules, "--update"], 2).contains("--samples DIR"));
    let folder = samples_of_rules();
    fs::write(folder.path().join("wrong.json"), r#"{ "name": "a", "gven": [] }"#).unwrap();
    let said = fail(home, &["test", &rules, "--samples", &folder.path().display().to_string()], 3);
    assert!(said.contains("wrong.json") && said.contains("did you mean `given`"), "{said}");
}
