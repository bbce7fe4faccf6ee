//! Random sequences of files, runs, rebuilds and crashes: in the end each table is what the events come to.

use crisol_tests::Random;

use super::plays::{Build, Event, Plays, wrong};

const STEPS: [&str; 7] =
    ["plan", "log_range", "write_files", "log_outcome", "commit_table", "commit_quarantine", "mark"];
const MOMENTS: [&str; 2] = ["before", "after"];
const STREAMS: [&str; 7] =
    ["plays", "silver.plays", "silver.heard", "silver.latest", "silver.mirror", "gold.days", "gold.latest_days"];

/// A slice of `silver.plays`, and what the model has of it.
type Slice = (&'static str, fn(&Event, i64) -> bool);

const SLICES: [Slice; 5] = [
    ("day = 'd1'", |event, _| event.day == "d1"),
    ("song = 'song 3'", |event, _| event.song == "song 3"),
    ("score >= 40", |_, score| score >= 40),
    ("score BETWEEN 6 AND 24 AND day <> 'd2'", |event, score| (6..=24).contains(&score) && event.day != "d2"),
    ("plays IS NULL", |event, _| event.plays.is_none()),
];

/// A place where a process may end, of one of these.
fn failpoint(random: &mut Random, of: &[&str]) -> String {
    format!("{}/{}/{}", random.one_of(of), random.one_of(&STEPS), random.one_of(&MOMENTS))
}

#[test]
fn any_sequence_of_files_rebuilds_and_crashes_leaves_the_tables_that_the_events_come_to() {
    let mut random = Random::new();
    let (plays, mut model) = wrong(2);
    plays.build(Build::Right);
    for step in 0..18 {
        match random.one_of(&["land", "run", "end a run", "rebuild", "rebuild", "rebuild below"]) {
            "land" => plays.land(&mut model, Build::Right),
            "run" => plays.run(),
            "end a run" => {
                let failpoint = failpoint(&mut random, &STREAMS);
                println!("{step}: a run, ended at {failpoint} if it comes there");
                plays.host(&["run", "-q"]).abort_at(&failpoint, 0).run();
            }
            "rebuild" => {
                let (predicate, meant) = random.one_of(&SLICES);
                rebuild(&plays, &mut random, "silver.plays", predicate);
                model.rebuild(meant);
            }
            _ => {
                let (table, predicate) = random.one_of(&[("silver.latest", "score > 20"), ("gold.days", "true")]);
                rebuild(&plays, &mut random, table, predicate);
            }
        }
    }
    plays.run();
    plays.holds(&model, "in the end");
}

/// One in two is ended on its way, and begun again.
fn rebuild(plays: &Plays, random: &mut Random, table: &str, predicate: &str) {
    let rebuild = ["rebuild", table, "--where", predicate];
    if random.one_of(&[true, false]) {
        let failpoint = failpoint(random, &[&format!("rebuild:{table}")]);
        println!("{table} where {predicate}, ended at {failpoint} if it comes there");
        plays.host(&rebuild).abort_at(&failpoint, 0).run();
    }
    println!("{table} where {predicate}");
    plays.host(&rebuild).succeed();
}
