//! Which files become one.

use std::collections::{BTreeMap, HashMap};

use crate::merge::{LiveFile, Partition};
use crate::origin::Origin;

/// Property of a table that says how large its files should be.
pub(super) const TARGET: &str = "delta.targetFileSize";
pub(super) const TARGET_BYTES: u64 = 128 << 20;

/// Files of one partition, all of one stream or all of none of this host's, in the order in which they were added.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) stream: Option<String>,
    pub(super) files: Vec<LiveFile>,
    pub(super) bytes: u64,
}

pub(super) fn bytes(file: &LiveFile) -> u64 {
    u64::try_from(file.size).unwrap_or_default()
}

/// Files smaller than half of the target, put together up to the target. A file alone is left as it is.
pub(super) fn groups(live: Vec<LiveFile>, origins: &HashMap<String, Origin>, target_bytes: u64) -> Vec<Group> {
    let mut owned: BTreeMap<(Option<String>, Partition), Vec<_>> = BTreeMap::new();
    for file in live.into_iter().filter(|file| bytes(file) < target_bytes / 2) {
        let origin = origins.get(&file.path);
        let stream = origin.and_then(|origin| origin.stream.clone());
        // What the log does not tell of any more came before what it tells of.
        let at = origin.map(|origin| origin.at);
        owned.entry((stream, file.partition())).or_default().push((at, file));
    }
    let mut groups = Vec::new();
    for ((stream, _), mut files) in owned {
        files.sort_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.path.cmp(&right.path)));
        let first = groups.len();
        for (_, file) in files {
            let bytes = bytes(&file);
            let open = groups.get_mut(first..).and_then(|own| own.last_mut());
            match open.filter(|group: &&mut Group| group.bytes + bytes <= target_bytes) {
                Some(group) => {
                    group.files.push(file);
                    group.bytes += bytes;
                }
                None => groups.push(Group { stream: stream.clone(), files: vec![file], bytes }),
            }
        }
    }
    groups.retain(|group| group.files.len() > 1);
    groups
}

/// Groups of one commit: all of one stream, and not many more bytes than the target, so that little is done in vain when
/// another writer comes first.
pub(super) fn bundles(groups: Vec<Group>, target_bytes: u64) -> Vec<Vec<Group>> {
    let mut bundles: Vec<Vec<Group>> = Vec::new();
    let mut bytes = 0;
    for group in groups {
        let of_its_stream = |bundle: &&mut Vec<Group>| bundle.last().is_some_and(|other| other.stream == group.stream);
        match bundles.last_mut().filter(|_| bytes < target_bytes).filter(of_its_stream) {
            Some(bundle) => {
                bytes += group.bytes;
                bundle.push(group);
            }
            None => {
                bytes = group.bytes;
                bundles.push(vec![group]);
            }
        }
    }
    bundles
}

/// A number of bytes as Delta's properties have it: `134217728`, `128m`, `128mb`. Units are powers of 1,024.
pub(super) fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit.trim_start() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scanned;

    fn file(name: &str, size: i64, day: Option<&str>) -> LiveFile {
        let values = [("day".to_string(), day.map(str::to_string))].into();
        let scanned = Scanned { path: name.into(), partition_values: values };
        LiveFile { path: name.into(), size, rows: None, stats: None, scanned }
    }

    fn origins(of: &[(&str, Option<&str>, i64)]) -> HashMap<String, Origin> {
        let origin = |stream: &Option<&str>, version| Origin { stream: stream.map(str::to_string), at: (version, 0) };
        of.iter().map(|(path, stream, version)| ((*path).to_string(), origin(stream, *version))).collect()
    }

    fn names(groups: &[Group]) -> Vec<Vec<&str>> {
        groups.iter().map(|group| group.files.iter().map(|file| file.path.as_str()).collect()).collect()
    }

    #[test]
    fn d102_small_files_are_put_together_up_to_the_target_in_the_order_in_which_they_were_added() {
        let live = ["d", "c", "b", "a"].map(|name| file(name, 40, None)).into();
        let known = origins(&[("a", Some("s"), 4), ("b", Some("s"), 3), ("c", Some("s"), 2), ("d", Some("s"), 1)]);
        assert_eq!(names(&groups(live, &known, 100)), [["d", "c"], ["b", "a"]]);
    }

    #[test]
    fn d102_large_files_and_files_alone_are_left_as_they_are() {
        let live = vec![file("large", 50, None), file("small", 49, None), file("elsewhere", 1, Some("x"))];
        assert!(groups(live, &HashMap::new(), 100).is_empty());
    }

    #[test]
    fn files_of_two_streams_or_partitions_are_never_put_together() {
        let live: Vec<_> = [("a", None), ("b", None), ("c", None), ("d", Some("")), ("e", Some("x")), ("f", Some("x"))]
            .map(|(name, day)| file(name, 1, day))
            .into();
        let known = origins(&[("a", Some("s"), 1), ("b", Some("t"), 2), ("c", Some("s"), 3), ("d", Some("s"), 4)]);
        // The empty string is null, and what nobody knows is of nobody.
        assert_eq!(names(&groups(live, &known, 100)), [vec!["e", "f"], vec!["a", "c", "d"]]);
    }

    #[test]
    fn a_commit_is_of_one_stream_and_not_many_more_bytes_than_the_target() {
        let group = |stream: &str, bytes| Group { stream: Some(stream.into()), files: Vec::new(), bytes };
        let groups = vec![group("a", 80), group("a", 20), group("a", 20), group("b", 2), group("b", 2)];
        let lengths: Vec<usize> = bundles(groups, 100).iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 1, 2]);
    }

    #[test]
    fn sizes_are_read_as_delta_has_them() {
        let read = ["134217728", "128mb", "128 MB", "2k", "1g", "5b"].map(parse_bytes);
        assert_eq!(read, [Some(128 << 20), Some(128 << 20), Some(128 << 20), Some(2048), Some(1 << 30), Some(5)]);
        assert!(
            ["", "mb", "1.5g", "-1", "0", "12 parsecs", "99999999999g"].map(parse_bytes).iter().all(Option::is_none)
        );
    }
}
