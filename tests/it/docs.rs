//! What the documentation shows is what happens: its files are written and its commands run.

use std::fs;

use crisol_tests::document::{first_plugin, run, script};
use crisol_tests::root;

/// The plugin is built, for which cargo keeps what it compiles beside the tests.
#[test]
fn the_first_plugin_in_rust_runs_as_it_is_written() {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("authored/target");
    first_plugin("docs/tutorial-rust.md", "src/lib.rs", &format!("export CARGO_TARGET_DIR={}", target.display()));
}

#[test]
fn the_first_pipeline_runs_as_it_is_written() {
    let script = script("docs/first-pipeline.md");
    assert!(script.contains("host run") && script.contains("cat > tables/silver/orders.json"), "{script}");
    let (_folder, tables, said) = run(&script);
    for words in ["corrupt_record", "positive_amount", "amount", "silver.orders"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    assert_eq!(tables.count("bronze/orders_raw"), 4);
    assert_eq!(tables.count("silver/orders"), 2);
    assert_eq!(tables.count("silver/orders_quarantine"), 2);
}

#[test]
fn the_rebuild_of_a_day_runs_as_it_is_written() {
    let (_folder, tables, said) = run(&(script("docs/first-pipeline.md") + &script("docs/rebuild.md")));
    assert!(said.contains("dry run, nothing was written") && said.contains("0 rows that differed removed"), "{said}");
    assert_eq!(tables.value("silver/orders", "SELECT count(*) FROM rows WHERE order_id = 'o-4'"), 1);
    assert_eq!((tables.count("silver/orders"), tables.count("silver/orders_quarantine")), (3, 1));
}

#[test]
fn a_roll_back_runs_as_it_is_written() {
    // Another build of the component, in a folder of its own, that has served.
    let deploy = "mine=$(readlink -f ../plugins); rm ../plugins; cp -r \"$mine\" ../plugins\n\
                  cp ../plugins/orders.wasm ../before.wasm; printf '\\000\\006\\004mark1' >> ../plugins/orders.wasm\n\
                  host run --plugins ../plugins\n";
    let documents = [script("docs/first-pipeline.md"), deploy.to_owned(), script("docs/plugins-operations.md")];
    let (folder, _, said) = run(&documents.concat());
    for words in ["dry run, nothing was written", "written: ../plugins/orders.wasm", "components: json 0.1.0"] {
        assert!(said.contains(words), "`{words}` is missing in:\n{said}");
    }
    let [put_back, before] = ["plugins/orders.wasm", "before.wasm"].map(|file| fs::read(folder.path().join(file)));
    assert_eq!(put_back.expect("the component"), before.expect("its copy"));
}

/// A document without its blocks of code, whose brackets are no links.
fn prose(document: &str) -> String {
    document.split("```").step_by(2).collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut checked = 0;
    let mut documents: Vec<_> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    documents.extend(fs::read_dir(root().join("docs")).expect("docs").flatten().map(|entry| entry.path()));
    for example in fs::read_dir(root().join("examples")).expect("examples").flatten() {
        documents.push(example.path().join("README.md"));
    }
    for document in documents {
        let text = fs::read_to_string(&document).unwrap_or_else(|error| panic!("{}: {error}", document.display()));
        for link in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let target = document.parent().expect("a folder").join(link.split('#').next().unwrap_or(link));
            assert!(target.exists(), "{} links to {link}", document.display());
            checked += 1;
        }
    }
    assert!(checked > 10, "found {checked} links");
}
