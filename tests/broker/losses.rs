//! What is known later of gaps that were accepted.

use crisol_tests::{Project, Topic};
use serde_json::{Value, json};

use crate::bronze::{TABLE, change, numbered, of, reading, run};

fn losses(project: &Project) -> Value {
    let output = project.host(&["losses", "-o", "json"]).succeed();
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(said["schema"], "crisol.losses/v1");
    said["losses"].clone()
}

fn notes(project: &Project) -> String {
    project.tables().log(TABLE)["commits"].to_string()
}

#[test]
fn k066_k072_every_gap_that_was_accepted_is_in_progress_commit_and_host_losses() {
    let topic = Topic::create("losses.expired", 2);
    topic.send(numbered(0, 0..10).chain(numbered(1, 0..10)));
    let project = of(&topic);
    run(&project);
    assert_eq!(losses(&project), json!([]));
    topic.send(numbered(0, 10..20));
    topic.delete_records(0, 15);
    project.host(&["run"]).fail_with(6);
    assert_eq!(losses(&project), json!([]), "what stopped the stream was not accepted");

    change(&project, json!({ "fail_on_data_loss": false }));
    let batches = run(&project);
    let gap =
        json!({ "topic": topic.name(), "partition": 0, "reason": "expired", "from": 10, "until": 15, "offsets": 5 });
    assert_eq!(batches[0]["host"]["losses"], json!([gap]));
    assert!(notes(&project).contains("losses"), "{}", notes(&project));
    let first = json!({ "stream": "log", "table": "bronze.log", "batch": 1, "topic": topic.name(), "partition": 0,
        "reason": "expired", "from": 10, "until": 15, "offsets": 5 });
    assert_eq!(losses(&project), json!([first]));

    topic.send(numbered(1, 10..14));
    topic.delete_records(1, 14);
    run(&project);
    let both = losses(&project);
    assert_eq!(both.as_array().map(Vec::len), Some(2), "{both}");
    assert_eq!((&both[0], &both[1]["partition"], &both[1]["offsets"]), (&first, &json!(1), &json!(4)));
    assert_eq!(run(&project), [0; 0]);
    assert_eq!(losses(&project), both, "none is told twice");
    let said = project.host(&["losses"]).succeed();
    assert!(String::from_utf8_lossy(&said.stdout).contains("losses.expired"));
}

#[test]
fn k012_k066_a_topic_that_was_gone_on_without_is_told_though_nobody_knows_how_much_it_held() {
    let kept = Topic::create("losses.kept", 1);
    let gone = Topic::create("losses.gone", 1);
    [&kept, &gone].iter().for_each(|topic| topic.send(numbered(0, 0..4)));
    let project = reading(&kept, json!({ "topic": null, "topic_pattern": "losses[.](kept|gone)" }));
    run(&project);
    gone.delete();
    change(&project, json!({ "fail_on_data_loss": false }));
    run(&project);
    let told = losses(&project);
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    let gap = &told[0];
    assert_eq!((&gap["topic"], &gap["reason"], &gap["from"]), (&json!("losses.gone"), &json!("deleted"), &json!(4)));
    assert_eq!(gap["offsets"], json!(null));
    kept.send(numbered(0, 4..5));
    run(&project);
    assert_eq!(losses(&project), told);
}

#[test]
fn k066_k067_a_topic_made_anew_is_told_once() {
    let topic = Topic::create("losses.anew", 1);
    topic.send(numbered(0, 0..10));
    let project = of(&topic);
    run(&project);
    topic.delete();
    let anew = Topic::create("losses.anew", 1);
    anew.send(numbered(0, 0..3));
    change(&project, json!({ "fail_on_data_loss": false }));
    run(&project);
    run(&project);
    let told = losses(&project);
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told[0]["reason"], "truncated");
}
