//! Consumer groups: never asked for positions, and told them only on request.

use crisol_tests::Topic;
use serde_json::json;

use crate::bronze::{numbered, offsets, places, reading, run};

#[test]
fn k071_k093_t016_nothing_is_committed_to_the_group_that_is_named_and_nothing_read_from_it() {
    let topic = Topic::create("groups.named", 1);
    topic.send(numbered(0, 0..10));
    topic.commit("groups-named", 0, 4);
    let project = reading(&topic, json!({ "group_id": "groups-named" }));
    let output = project.host(&["check"]).run();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("others that use this consumer group may disturb this stream"), "a warning: {said}");
    run(&project);
    assert_eq!(places(&project), offsets(0, 0..10));
    assert_eq!(topic.committed("groups-named", 0), Some(4), "as it was");
    topic.send(numbered(0, 10..12));
    run(&project);
    assert_eq!(places(&project), offsets(0, 0..12));
}

#[test]
fn positions_are_told_to_a_group_on_request_and_never_read_back() {
    let topic = Topic::create("groups.report", 2);
    topic.send(numbered(0, 0..10).chain(numbered(1, 0..3)));
    let project = reading(&topic, json!({ "report_group_id": "groups-report" }));
    let output = project.host(&["run"]).succeed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("could not be reported"), "{said}");
    let committed = || [0, 1].map(|partition| topic.committed("groups-report", partition));
    assert_eq!(committed(), [Some(10), Some(3)]);
    topic.commit("groups-report", 0, 1);
    topic.send(numbered(0, 10..12));
    run(&project);
    assert_eq!(places(&project).len(), 15, "none is read again");
    assert_eq!(committed(), [Some(12), Some(3)]);
}
