use std::collections::BTreeMap;

use super::*;

fn build(version: &str, digest: &str, file: &str) -> KeptBuild {
    KeptBuild { version: version.into(), schema_versions: "all".into(), digest: digest.into(), file: file.into() }
}

fn state(builds: &[KeptBuild]) -> ServedState {
    ServedState { since: "then".into(), builds: builds.to_vec() }
}

fn there(file: &str, digest: &str) -> Present {
    Present { file: file.into(), digest: digest.into(), waits: false }
}

fn waiting(file: &str, digest: &str) -> Present {
    Present { waits: true, ..there(file, digest) }
}

/// Of each letter the highest number serves; two that end in `!` make one claim.
fn start(digests: &[&str]) -> Start {
    let letter = |digest: &str| digest.chars().next().unwrap();
    let is_ambiguous =
        |one: &&&str| one.ends_with('!') && digests.iter().any(|other| other.ends_with('!') && other != *one);
    let ambiguous: BTreeSet<String> = digests.iter().filter(is_ambiguous).map(|one| (*one).into()).collect();
    let mut serving: BTreeMap<char, &str> = BTreeMap::new();
    for digest in digests.iter().copied().filter(|digest| !ambiguous.contains(*digest)) {
        let highest = serving.entry(letter(digest)).or_insert(digest);
        *highest = digest.max(*highest);
    }
    Start { serving: serving.into_values().map(Into::into).collect(), ambiguous }
}

/// What is written, as `digest > file`, and what is taken out.
fn done(states: &[ServedState], to: Option<&str>, present: &[Present]) -> (Vec<String>, Vec<PathBuf>) {
    let Plan { write, take_out, .. } = plan(states, to, present, &start).unwrap();
    let write = write.into_iter().map(|build| format!("{} > {}", build.digest, build.file.display()));
    (write.collect(), take_out)
}

fn why(states: &[ServedState], to: Option<&str>, present: &[Present]) -> String {
    let NoWay(what, hint) = plan(states, to, present, &start).unwrap_err();
    format!("{what}; {hint}")
}

fn written(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn in_one_file(digests: &[&str]) -> Vec<ServedState> {
    digests.iter().map(|digest| state(&[build("1.0.0", digest, "o.wasm")])).collect()
}

#[test]
fn a_file_that_was_replaced_in_place_gets_its_bytes_back() {
    let states = in_one_file(&["a1", "a2"]);
    assert_eq!(done(&states, None, &[there("o.wasm", "a2")]), (written(&["a1 > o.wasm"]), vec![]));
    let states = in_one_file(&["a2", "a1"]);
    assert_eq!(done(&states, None, &[there("o.wasm", "a1")]), (written(&["a2 > o.wasm"]), vec![]));
}

#[test]
fn a_newer_file_beside_the_old_one_is_taken_out_and_comes_back_the_other_way() {
    let (old, new) = (build("1.0.0", "a1", "o.wasm"), build("2.0.0", "a2", "n.wasm"));
    let states = [state(std::slice::from_ref(&old)), state(std::slice::from_ref(&new))];
    let both = [there("n.wasm", "a2"), waiting("o.wasm", "a1")];
    assert_eq!(done(&states, None, &both), (vec![], vec!["n.wasm".into()]));
    let states = [state(std::slice::from_ref(&old)), state(&[new]), state(&[old])];
    let one = [there("o.wasm", "a1")];
    assert_eq!(done(&states, None, &one), (written(&["a2 > n.wasm"]), vec![]), "the old one waits again");
}

#[test]
fn builds_that_served_together_come_back_together() {
    let (one, two) = (build("1.0.0", "a1", "o.wasm"), build("3.0.0", "c1", "o3.wasm"));
    let mut states = vec![state(std::slice::from_ref(&one)), state(&[two.clone(), one])];
    let both = [there("o.wasm", "a1"), there("o3.wasm", "c1")];
    assert_eq!(done(&states, None, &both), (vec![], vec!["o3.wasm".into()]));
    states.push(state(&[two, build("1.1.0", "a2", "o.wasm")]));
    let now = [there("o.wasm", "a2"), there("o3.wasm", "c1")];
    assert_eq!(done(&states, None, &now), (written(&["a1 > o.wasm"]), vec![]));
}

#[test]
fn what_was_refused_removed_or_never_seen_is_undone_before_what_serves() {
    let states = in_one_file(&["a1", "a2"]);
    let back = (written(&["a2 > o.wasm"]), vec![]);
    assert_eq!(done(&states, None, &[]), back, "the file was removed, or is no component any more");
    assert_eq!(done(&states, None, &[there("o.wasm", "a3")]), back, "another build stands in its place");
    let beside = [there("o.wasm", "a2"), there("n.wasm", "a3")];
    assert_eq!(done(&states, None, &beside), (vec![], vec!["n.wasm".into()]), "one beside it would serve");
    let lower = [there("o.wasm", "a2"), there("n.wasm", "a0")];
    assert_eq!(done(&states, None, &lower).0, ["a1 > o.wasm"], "one beside it would wait");
    let states = in_one_file(&["a1!", "a2!"]);
    let ambiguous = [there("o.wasm", "a2!"), there("n.wasm", "a3!")];
    assert_eq!(done(&states, None, &ambiguous), (vec![], vec!["n.wasm".into()]), "none would serve");
}

#[test]
fn a_file_that_waits_is_not_taken_out_but_named_where_it_would_serve() {
    let states = in_one_file(&["a1", "a3"]);
    let lower = [there("o.wasm", "a3"), waiting("w.wasm", "a0")];
    assert_eq!(done(&states, None, &lower), (written(&["a1 > o.wasm"]), vec![]));
    let between = [there("o.wasm", "a3"), waiting("w.wasm", "a2")];
    assert!(why(&states, None, &between).starts_with("`w.wasm`, which waits, would serve after the next start"));
}

#[test]
fn a_file_that_was_renamed_holds_what_it_held() {
    let states = in_one_file(&["a1", "a2"]);
    let present = [there("renamed.wasm", "a2"), waiting("older.wasm", "a1")];
    assert_eq!(done(&states, None, &present), (vec![], vec!["renamed.wasm".into()]));
}

#[test]
fn a_version_or_the_beginning_of_a_digest_chooses_the_newest_that_fits() {
    let states = [
        state(&[build("1.0.0", "aaaa1", "o.wasm")]),
        state(&[build("1.1.0", "bbbb1", "o.wasm")]),
        state(&[build("1.1.0", "bbbb2", "o.wasm")]),
        state(&[build("2.0.0", "cccc1", "o.wasm")]),
    ];
    let now = [there("o.wasm", "cccc1")];
    assert_eq!(done(&states, Some("1.0.0"), &now).0, ["aaaa1 > o.wasm"]);
    assert_eq!(done(&states, Some("bbbb1"), &now).0, ["bbbb1 > o.wasm"]);
    assert_eq!(done(&states, Some("2.0.0"), &now), (vec![], vec![]), "it serves already");
    assert_eq!(
        why(&states, Some("1.1.0"), &now),
        "`1.1.0` means several builds; name one by its digest: 1.1.0 (bbbb2), 1.1.0 (bbbb1)"
    );
    assert!(why(&states, Some("bbbb"), &now).starts_with("`bbbb` means several builds"));
    assert_eq!(
        why(&states, Some("9.9.9"), &now),
        "no build `9.9.9` of it is kept; kept are 1.1.0 (bbbb2), 1.1.0 (bbbb1), 1.0.0 (aaaa1)"
    );
    assert!(why(&states, Some("a"), &now).starts_with("no build `a`"), "too short to mean a build");
}

#[test]
fn where_nothing_served_before_there_is_no_way_back() {
    assert!(why(&[], None, &[]).starts_with("no build of it served yet"));
    let states = [state(&[build("1.0.0", "a1", "o.wasm")])];
    assert!(why(&states, None, &[there("o.wasm", "a1")]).starts_with("nothing served before"));
    assert!(why(&states, Some("2.0.0"), &[]).ends_with("no other build of it is kept"));
}

#[test]
fn what_is_taken_out_has_a_name_that_no_host_looks_at() {
    assert_eq!(aside(Path::new("/p/o.wasm")), Path::new("/p/o.wasm.rolled-back"));
}
