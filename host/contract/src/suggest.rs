//! The nearest valid name, and lists of names for people.

/// `; did you mean …?` when something near exists, else nothing.
pub(crate) fn did_you_mean<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(given, valid) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = given.to_lowercase();
    valid
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= name.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `` `a`, `b` ``
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `` choose one of `a`, `b` ``, or nothing when there is nothing to choose from.
pub(crate) fn choose<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let list = quoted(names);
    (!list.is_empty()).then(|| format!("choose one of {list}"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        assert_eq!(did_you_mean("amuont", ["country", "amount"]), "; did you mean `amount`?");
        assert_eq!(did_you_mean("Name", ["name", "path"]), "; did you mean `name`?");
        assert_eq!(did_you_mean("zebra", ["name", "path"]), "");
    }
}
