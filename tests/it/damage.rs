//! State that is damaged, missing, set back or contradicts itself: starting again does not help, so each ends a start
//! with exit code 3, with words, and with nothing written.

use std::fs;

use crisol_tests::Project;

const LINE: &str = "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"s\",\"plays\":1}\n";

/// What is done to the checkpoint of the files' stream, or to its table; all paths are relative to them.
#[derive(Debug)]
enum Damage {
    Remove(&'static [&'static str]),
    Write(&'static str, &'static [u8]),
    SetTableBack,
}

/// Two batches, then the damage, then another file that waits.
fn refused(damage: &Damage, words: &[&str]) {
    let project = Project::example("music");
    for day in 1..=2 {
        project.write(&format!("input/2026-03-0{day}.json"), LINE);
        project.host(&["run"]).succeed();
    }
    project.write("input/2026-03-03.json", LINE);
    let table = "bronze/song_plays_raw";
    let path = |file: &str| project.checkpoint(&format!("streaming/song_plays/{file}"));
    match damage {
        Damage::Remove(files) => {
            for file in *files {
                fs::remove_file(path(file)).unwrap_or_else(|e| panic!("{damage:?}: {file}: {e}"));
            }
        }
        Damage::Write(file, bytes) => {
            assert!(path(file).exists(), "{damage:?}");
            fs::write(path(file), bytes).expect("it can be written");
        }
        Damage::SetTableBack => {
            let log = project.tables().path(table).join("_delta_log");
            fs::remove_file(log.join("00000000000000000002.json")).expect("the commit of batch 1");
        }
    }
    let commits = || fs::read_dir(project.tables().path(table).join("_delta_log")).expect("the log").count();
    let before = commits();
    let said = project.host(&["run"]).fail_with(3);
    for word in words {
        assert!(said.contains(word), "{damage:?}: `{word}` is missing in:\n{said}");
    }
    assert_eq!(commits(), before, "{damage:?}: nothing is committed");
}

#[test]
fn c034_metadata_that_is_missing_or_garbled_is_refused() {
    refused(&Damage::Remove(&["metadata"]), &["`metadata` is missing"]);
    refused(&Damage::Write("metadata", b"{"), &["`metadata` cannot be read"]);
}

#[test]
fn c032_c033_logs_with_gaps_are_refused() {
    refused(&Damage::Remove(&["commits/0", "commits/1"]), &["newest done batch is none"]);
    refused(&Damage::Remove(&["offsets/0", "commits/1"]), &["`offsets/0`"]);
    refused(&Damage::Remove(&["offsets/1"]), &["newest logged batch is 0"]);
}

#[test]
fn c007_entries_that_are_garbled_are_refused() {
    refused(&Damage::Write("offsets/1", b"v9\n{}"), &["`offsets/1` has version `v9`"]);
    refused(&Damage::Write("offsets/1", b"\xff\xfe"), &["`offsets/1` cannot be read"]);
}

#[test]
fn f017_entries_of_files_that_are_missing_or_garbled_are_refused_with_the_whole_way_out() {
    let way_out = ["`checkpoint_suffix`", "--rebuild"];
    refused(&Damage::Remove(&["sources/0/0"]), &[&["sources/0/0 is missing"][..], &way_out].concat());
    refused(&Damage::Write("sources/0/0", b"v1\n\xff"), &[&["sources/0/0 is damaged"][..], &way_out].concat());
    refused(&Damage::Write("sources/0/0", b"v1\n{"), &[&["sources/0/0 is damaged"][..], &way_out].concat());
}

#[test]
fn r032_a_table_behind_or_ahead_of_its_checkpoint_is_refused() {
    refused(&Damage::SetTableBack, &["batch 1 is marked as done"]);
    refused(&Damage::Remove(&["offsets/1", "commits/1", "outcome/1"]), &["the table holds batch 1"]);
}

#[test]
fn an_outcome_that_is_garbled_is_refused() {
    let project = Project::example("music");
    project.write("input/2026-03-01.json", LINE);
    project.host(&["run"]).succeed();
    let path = |file: &str| project.checkpoint(&format!("streaming/song_plays/{file}"));
    fs::remove_file(path("commits/0")).expect("the mark");
    fs::write(path("outcome/0"), "{").expect("it can be written");
    let said = project.host(&["run"]).fail_with(3);
    assert!(said.contains("`outcome/0` cannot be read"), "{said}");
}
