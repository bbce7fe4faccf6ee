//! What a component is and which contracts it fits, told by the real binary.

use std::path::Path;

use crisol_tests::{Host, Project, root};
use serde_json::{Value, json};
use tempfile::TempDir;

fn inspected(project: &Path, component: &str, plugins: &Path) -> (String, Value) {
    let component = root().join("plugins").join(component).display().to_string();
    let text = Host::new(project, &["inspect", &component]).plugins(plugins).succeed();
    let json = Host::new(project, &["inspect", &component, "-o", "json"]).plugins(plugins).succeed();
    (String::from_utf8(text.stdout).unwrap(), serde_json::from_slice(&json.stdout).unwrap())
}

#[test]
fn columns_are_those_that_a_contract_of_the_project_gives() {
    let project = Project::example("orders");
    let (text, found) = inspected(project.path(), "order-rules.wasm", &root().join("plugins"));
    assert!(text.contains("  silver.orders, validate order-rules: fits\n"), "{text}");
    assert!(text.contains("columns in silver.orders, validate order-rules:\n  reads: "), "{text}");
    assert!(text.contains("options: currencies (array of string)"), "{text}");
    let columns = &found["columns"];
    assert_eq!(columns["from"], "in silver.orders, validate order-rules");
    let amount = json!({ "name": "amount", "type": "decimal(18,2)", "nullable": false });
    assert!(columns["reads"].as_array().unwrap().contains(&amount), "not null, as the decoder says: {columns}");
    assert_eq!(columns["writes"], json!([]));
    assert_eq!((&found["contracts"][0]["fits"], &found["contracts"][0]["problems"]), (&json!(true), &json!([])));
}

#[test]
fn columns_of_groups_are_told_as_well() {
    let project = Project::example("orders");
    let (text, found) = inspected(project.path(), "top-n.wasm", &root().join("plugins"));
    assert!(text.contains("  gold.top_orders, rank top-n: fits\n"), "{text}");
    assert_eq!(found["columns"]["writes"], json!([{ "name": "position", "type": "int", "nullable": false }]));
}

#[test]
fn without_a_project_a_sample_tells_the_columns() {
    let nowhere = TempDir::new().unwrap();
    let (text, found) = inspected(nowhere.path(), "order-rules.wasm", nowhere.path());
    assert!(text.contains("columns in its sample `each broken rule is named, and nulls pass`:"), "{text}");
    assert!(!text.contains("contracts:"), "{text}");
    assert_eq!(found["contracts"], json!(null));
    let amount = json!({ "name": "amount", "type": "decimal(18,2)", "nullable": true });
    assert!(found["columns"]["reads"].as_array().unwrap().contains(&amount), "{found}");
}

#[test]
fn a_component_that_does_not_fit_says_why() {
    let project = Project::example("orders");
    let silver = project.path().join("tables/silver/orders.json");
    let contract = std::fs::read_to_string(&silver).unwrap();
    std::fs::write(&silver, contract.replace("\"order-rules\"", "\"order-rules@^9\"")).unwrap();
    let (text, found) = inspected(project.path(), "order-rules.wasm", &root().join("plugins"));
    assert!(text.contains("silver.orders, validate order-rules@^9: does not fit"), "{text}");
    assert!(text.contains("it asks for another one: this is a validator 0.1.0"), "{text}");
    let contract = &found["contracts"][0];
    assert_eq!((&contract["fits"], &contract["reads"]), (&json!(false), &json!(null)));
    let keys: Vec<&Value> = contract["problems"].as_array().unwrap().iter().map(|problem| &problem["key"]).collect();
    assert!(keys.contains(&&json!("stages[1].validate")), "{contract}");

    // Whatever else keeps the stream from starting is told, too.
    let empty = TempDir::new().unwrap();
    std::fs::write(&silver, contract_without_range()).unwrap();
    let (text, _) = inspected(project.path(), "order-rules.wasm", empty.path());
    assert!(text.contains("`stages[0].decode`: no component `orders`"), "{text}");
}

fn contract_without_range() -> String {
    std::fs::read_to_string(root().join("examples/orders/tables/silver/orders.json")).unwrap()
}

#[test]
fn contracts_that_are_wrong_do_not_hide_the_component() {
    let project = Project::example("orders");
    project.write("tables/silver/orders.json", "{ \"name\": \"silver.orders\", \"nothing\": 1 }");
    let (text, found) = inspected(project.path(), "orders.wasm", &root().join("plugins"));
    assert!(text.contains("orders 0.1.0, decoder") && text.contains("which `host check` tells"), "{text}");
    assert!(found["contracts_error"].as_str().unwrap().contains("`host check`"), "{found}");
}
