use crisol_checkpoint::Position;
use uuid::Uuid;

use super::*;

fn graveness(failure: impl Into<Failure>) -> ErrorKind {
    kind(&StreamError { stream: "s".into(), batch: None, failure: Box::new(failure.into()) })
}

fn opening(source: CheckpointError) -> Failure {
    Failure::OpenCheckpoint { folder: "c".into(), source: Box::new(source) }
}

fn refused_positions() -> CheckpointError {
    let source = Position::parse("{\"kind\": 1}").expect_err("no position");
    CheckpointError::Position { file: "offsets/1".into(), source }
}

/// One of each, with what it must mean; `CheckpointError::is_damage` names them all, so a new one is thought about.
fn checkpoint_errors() -> Vec<(CheckpointError, ErrorKind)> {
    let file = || "offsets/1".to_owned();
    let disk = || io::Error::new(io::ErrorKind::TimedOut, "the disk sleeps");
    vec![
        (CheckpointError::Held { file: file(), owner: None, ours: Uuid::nil() }, ErrorKind::Held),
        (CheckpointError::MissingMetadata { file: file() }, ErrorKind::Refused),
        (CheckpointError::Gap { offsets: 3, commit: Some(1) }, ErrorKind::Refused),
        (CheckpointError::MissingPrevious { batch: 3 }, ErrorKind::Refused),
        (CheckpointError::MissingInitial, ErrorKind::Refused),
        (CheckpointError::Unlogged { file: file(), offsets: None }, ErrorKind::Refused),
        (CheckpointError::SourceCount { file: file(), found: 2, expected: 1 }, ErrorKind::Refused),
        (CheckpointError::UnsupportedVersion { file: file(), found: "v9".into(), supported: "v1" }, ErrorKind::Refused),
        (CheckpointError::Malformed { file: file(), what: "it is cut".into() }, ErrorKind::Refused),
        (refused_positions(), ErrorKind::Refused),
        (CheckpointError::TableBehind { commit: 3, txn: Some(2) }, ErrorKind::Refused),
        (CheckpointError::TableAhead { commit: None, logged: None, txn: 2 }, ErrorKind::Refused),
        (CheckpointError::QuarantineBehind { batch: 3, txn: None }, ErrorKind::Refused),
        (CheckpointError::QuarantineAhead { outcome: None, txn: 2 }, ErrorKind::Refused),
        (CheckpointError::Storage { what: "read", file: file(), source: Box::new(disk()) }, ErrorKind::Failed),
    ]
}

#[test]
fn a_damaged_checkpoint_is_refused_and_a_sleeping_disk_is_worth_another_start() {
    for (error, expected) in checkpoint_errors() {
        assert_eq!(graveness(error), expected);
    }
    for (error, expected) in checkpoint_errors() {
        let failure = opening(error);
        assert_eq!(graveness(failure), expected, "while it is opened");
    }
}

#[test]
fn errors_of_sources_tables_and_stages_are_as_grave_as_what_a_person_can_do() {
    let (what, hint) = (|| "what".to_owned(), || "hint".to_owned());
    let table = || "t".to_owned();
    let stage = |source| Failure::Stage { rows: 0..1, source };
    let cases: Vec<(Failure, ErrorKind)> = vec![
        (SourceError::Config { what: what(), hint: hint() }.into(), ErrorKind::Refused),
        (SourceError::DataLoss { what: what(), hint: hint() }.into(), ErrorKind::DataLoss),
        (SourceError::Data { what: what(), hint: None }.into(), ErrorKind::Failed),
        (SourceError::Concurrent { what: what() }.into(), ErrorKind::Held),
        (SourceError::External { what: what(), source: None }.into(), ErrorKind::Failed),
        (TableError::Mismatch { table: table(), path: what(), what: what(), hint: hint() }.into(), ErrorKind::Refused),
        (TableError::Data { table: table(), what: what() }.into(), ErrorKind::Failed),
        (TableError::External { table: table(), what: what(), source: None }.into(), ErrorKind::Failed),
        (stage(StageError::Config { key: "k".into(), what: what(), hint: hint() }), ErrorKind::Refused),
        (stage(StageError::Internal { stage: "s".into(), what: what() }), ErrorKind::Failed),
        (Failure::Accounts { rows_in: 1, accepted: 0, rejected: 0, filtered: 0 }, ErrorKind::Failed),
        (Failure::TableNotEmpty { table: table() }, ErrorKind::Refused),
        (Failure::TableMissing { table: table(), path: what(), checkpoint: what() }, ErrorKind::Refused),
        (Failure::Upstream { upstream: "u".into() }, ErrorKind::Failed),
        (Failure::Internal { what: what() }, ErrorKind::Failed),
    ];
    for (failure, expected) in cases {
        let text = format!("{failure:?}");
        assert_eq!(graveness(failure), expected, "{text}");
    }
}
