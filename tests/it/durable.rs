//! Durable means synced: the order of syncs and names, read from the system calls of the real program.

use std::fs;
use std::path::Path;

use crisol_tests::Project;

const CALLS: &str = "trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2";

/// One system call that matters, in order.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    /// This file or folder was synced.
    Synced(String),
    /// This name came into being, by a link or a rename.
    Named(String),
}

#[test]
fn data_then_log_entry_then_folder_then_mark() {
    let project = Project::example("music");
    project.write(
        "input/2026-03-01.json",
        "{\"country\":\"ES\",\"day\":\"2026-03-01\",\"song\":\"s\",\"plays\":1}\n{\"country\":\"ES\",\"plays\":1}\n",
    );
    let calls = trace(&project);
    let tables = project.path().join("data/tables");
    let marks = project.path().join("data/checkpoints/tables/silver.song_plays");
    let table = tables.join("silver/song_plays");
    let quarantine = tables.join("silver/song_plays_quarantine");

    let range = named(&calls, &marks.join("offsets/0"));
    let outcome = named(&calls, &marks.join("outcome/0"));
    let refused = named(&calls, &quarantine.join("_delta_log").join(format!("{:020}.json", 1)));
    let committed = named(&calls, &table.join("_delta_log").join(format!("{:020}.json", 1)));
    let marked = named(&calls, &marks.join("commits/0"));
    assert!(range < outcome && outcome < refused && refused < committed && committed < marked);

    for (folder, entry) in [(&table, committed), (&quarantine, refused)] {
        for file in data_files(folder) {
            let data = synced_file(&calls, &file);
            let parent = synced_after(&calls, file.parent().expect("a folder"), data);
            assert!(parent < outcome, "{} and its folder are durable before the outcome names them", file.display());
            assert!(data < entry);
        }
        let log = synced_after(&calls, &folder.join("_delta_log"), entry);
        assert!(log < marked, "the log's folder is synced before the batch is marked");
    }
    for (folder, put) in [("offsets", range), ("outcome", outcome), ("commits", marked)] {
        assert!(synced_after(&calls, &marks.join(folder), put) > put);
    }
}

#[test]
fn what_a_dead_host_may_have_left_visible_only_is_made_durable_before_anything_is_built_on_it() {
    let project = Project::example("music");
    project.write("input/2026-03-01.json", "{\"country\":\"ES\",\"plays\":1}\n");
    project.host(&["run"]).succeed();
    project.write("input/2026-03-02.json", "{\"country\":\"ES\",\"plays\":2}\n");
    let calls = trace(&project);
    let tables = project.path().join("data/tables/silver");
    let marks = project.path().join("data/checkpoints/tables/silver.song_plays");

    let range = named(&calls, &marks.join("offsets/1"));
    let settled = ["offsets", "outcome", "commits", "sources/0"].map(|folder| marks.join(folder));
    let logs = [tables.join("song_plays/_delta_log")];
    for folder in settled.iter().chain(&logs) {
        let synced = synced_after(&calls, folder, 0);
        assert!(synced < range, "{} is synced before the next range is bound", folder.display());
    }
}

/// Runs the host under strace.
fn trace(project: &Project) -> Vec<Call> {
    let log = project.path().join("calls.txt");
    let ended = project.host(&["run"]).under("strace", &["-f", "-y", "-qq", "-e", CALLS, "-o"], &log).succeed();
    assert!(ended.status.success());
    let text = fs::read_to_string(&log).expect("strace writes its log (is it installed?)");
    let calls: Vec<_> = whole_lines(&text).iter().filter_map(|line| call(line)).collect();
    assert!(calls.len() > 10, "{text}");
    calls
}

/// Calls that strace shows in two parts, put together where they end.
fn whole_lines(text: &str) -> Vec<String> {
    let mut begun = std::collections::HashMap::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(process.to_string(), begin.to_string());
        } else if let (true, Some((_, end))) = (rest.starts_with("<..."), rest.split_once("resumed>")) {
            lines.push(format!("{}{end}", begun.remove(process).unwrap_or_default()));
        } else {
            lines.push(rest.to_string());
        }
    }
    lines
}

fn call(line: &str) -> Option<Call> {
    if !line.trim_end().ends_with("= 0") {
        return None;
    }
    if line.starts_with("fsync(") || line.starts_with("fdatasync(") {
        let (_, rest) = line.split_once('<')?;
        return Some(Call::Synced(rest.split_once('>')?.0.to_string()));
    }
    // The last path in quotes is the new name.
    let name = line.rsplit('"').nth(1)?;
    Some(Call::Named(name.to_string()))
}

fn named(calls: &[Call], path: &Path) -> usize {
    let wanted = Call::Named(path.to_string_lossy().into_owned());
    calls
        .iter()
        .position(|call| *call == wanted)
        .unwrap_or_else(|| panic!("{} is never named: {calls:#?}", path.display()))
}

/// When a data file was synced: under its own name, or under the one that it had before.
fn synced_file(calls: &[Call], path: &Path) -> usize {
    let name = calls.iter().position(|call| *call == Call::Named(path.to_string_lossy().into_owned()));
    let folder = path.parent().expect("a folder").to_string_lossy().into_owned();
    let synced = |call: &Call| matches!(call, Call::Synced(file) if file.starts_with(&format!("{folder}/")));
    let end = name.unwrap_or(calls.len());
    let last = calls[..end].iter().rposition(synced);
    last.unwrap_or_else(|| panic!("{} is not synced before it has its name: {calls:#?}", path.display()))
}

fn synced_after(calls: &[Call], folder: &Path, after: usize) -> usize {
    let wanted = Call::Synced(folder.to_string_lossy().into_owned());
    let found = calls.iter().skip(after).position(|call| *call == wanted).map(|at| at + after);
    found.unwrap_or_else(|| panic!("{} is not synced after call {after}: {calls:#?}", folder.display()))
}

fn data_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the table").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("_delta_log") {
            found.extend(data_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            found.push(path);
        }
    }
    found
}
