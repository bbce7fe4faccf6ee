//! What is known later of gaps that were accepted.

use crisol_tests::{Project, Topic};
use serde_json::{Value, json};

use crate::bronze::{TABLE, change, numbered, of, of_topics, offsets, places, reading, run};

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

/// Reads 20 records, makes the topic anew with `records`, and lets the stream go on.
fn made_anew(name: &str, records: i64) -> (Project, Topic) {
    let topic = Topic::create(name, 1);
    topic.send(numbered(0, 0..20));
    let project = of(&topic);
    run(&project);
    topic.delete();
    let anew = Topic::create(name, 1);
    anew.send(numbered(0, 0..records));
    change(&project, json!({ "fail_on_data_loss": false }));
    (project, anew)
}

#[test]
fn a_gap_that_only_planning_can_find_is_told_once_wherever_the_host_is_killed() {
    for step in ["plan", "log_range", "write_files", "log_outcome", "commit_table", "mark"] {
        let (project, topic) = made_anew(&format!("losses.killed.{step}"), 5);
        let ended = project.host(&["run"]).abort_at(&format!("log/{step}/after"), 0).run();
        assert!(!ended.status.success(), "{step} was not passed");
        // From here on nobody can see that the topic was made anew; only before the range is bound nobody knows yet.
        if step != "plan" {
            topic.send(numbered(0, 5..35));
        }
        run(&project);
        run(&project);
        let told = losses(&project);
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{step}: {told}");
        assert_eq!((&told[0]["reason"], &told[0]["until"]), (&json!("truncated"), &json!(20)), "{step}");
        assert!(notes(&project).contains("truncated"), "{step}: {}", notes(&project));
        let end = if step == "plan" { 20 } else { 35 };
        assert_eq!(places(&project), offsets(0, 0..end), "{step}");
    }
}

#[test]
fn k067_t004_a_bound_range_that_was_cut_off_is_read_as_far_as_it_goes_and_the_rest_is_one_gap() {
    let topic = Topic::create("losses.cut", 1);
    topic.send(numbered(0, 0..20));
    let project = of(&topic);
    project.host(&["run"]).abort_at("log/log_range/after", 0).run();
    topic.delete();
    let anew = Topic::create("losses.cut", 1);
    anew.send(numbered(0, 0..7));
    change(&project, json!({ "fail_on_data_loss": false }));
    run(&project);
    run(&project);
    let told = losses(&project);
    assert_eq!(places(&project), offsets(0, 0..7));
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!((&told[0]["from"], &told[0]["until"]), (&json!(7), &json!(20)), "what was read is no gap");
}

#[test]
fn k012_a_bound_range_whose_partition_is_gone_is_one_gap() {
    let (kept, gone) = (Topic::create("losses.bound.kept", 1), Topic::create("losses.bound.gone", 1));
    [&kept, &gone].iter().for_each(|topic| topic.send(numbered(0, 0..4)));
    let project = reading(&kept, json!({ "topic": null, "topic_pattern": "losses[.]bound[.].*" }));
    project.host(&["run"]).abort_at("log/log_range/after", 0).run();
    gone.delete();
    change(&project, json!({ "fail_on_data_loss": false }));
    run(&project);
    kept.send(numbered(0, 4..5));
    run(&project);
    let told = losses(&project);
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!((&told[0]["topic"], &told[0]["from"]), (&json!("losses.bound.gone"), &json!(0)));
    let again = Topic::create("losses.bound.gone", 1);
    again.send(numbered(0, 0..2));
    run(&project);
    assert_eq!(of_topics(&project).len(), 7, "K-010: it came back, and is read from its beginning");
}
