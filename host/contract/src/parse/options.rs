//! Options by Spark's names or ours, from one or two objects of a contract; and those that are refused by name.

use crate::keys::{self, KeyFile};
use crate::problem::Code;
use crate::read::Value;
use crate::text::Entry;

/// Options that were found, by our name.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    known: Vec<(&'static str, Value<'a>)>,
    /// `kafka.*`, without the prefix.
    pub(super) client: Vec<(String, Value<'a>)>,
}

/// An option that is known and refused: its names, and why.
pub(super) struct Refused {
    pub(super) names: &'static [&'static str],
    pub(super) why: Why,
}

/// Why an option is refused.
#[derive(Clone, Copy)]
pub(super) enum Why {
    /// A later release will have it.
    NotYet,
    /// It will never do what it says; the reason.
    Never(&'static str),
}

/// Which options may stand in the objects that are read.
pub(super) struct Allowed {
    pub(super) file: KeyFile,
    /// Where they stand in the table of keys.
    pub(super) parent: &'static str,
    pub(super) refused: &'static [Refused],
}

impl Allowed {
    /// Whether this is the place of an option, be it taken or refused by name.
    pub(super) fn holds(&self, name: &str) -> bool {
        client_option(self, name).is_some()
            || keys::option_under(self.file, self.parent, name).is_some()
            || refused(self, name).is_some()
    }
}

impl<'a> Options<'a> {
    /// Reads one object of options.
    pub(super) fn read(&mut self, object: &Value<'a>, allowed: &Allowed) {
        for (entry, value) in object.any_entries().unwrap_or_default() {
            let name = entry.name.as_str();
            if let Some(client) = client_option(allowed, name) {
                self.add_client(client, value);
            } else if let Some(known) = keys::option_under(allowed.file, allowed.parent, name) {
                self.add(known, value);
            } else if let Some(refused) = refused(allowed, name) {
                match refused.why {
                    Why::NotYet => value.refuse(Code::NotSupported, "is not supported yet"),
                    Why::Never(reason) => value.refuse(Code::Refused, reason),
                }
            } else {
                unknown(object, entry, allowed);
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn add(&mut self, name: &'static str, value: Value<'a>) {
        match self.get(name) {
            Some(first) => refuse_second(&value, &first.key),
            None => self.known.push((name, value)),
        }
    }

    fn add_client(&mut self, name: String, value: Value<'a>) {
        match self.client.iter().find(|(known, _)| *known == name) {
            Some((_, first)) => refuse_second(&value, &first.key),
            None => self.client.push((name, value)),
        }
    }
}

fn refuse_second(value: &Value<'_>, first: &str) {
    value.refuse(Code::DuplicateKey, format!("means the same as `{first}`, which is given too"));
}

/// The client's name of `kafka.…`, and of the two that have a name of ours.
fn client_option(allowed: &Allowed, name: &str) -> Option<String> {
    (allowed.parent == "source.kafka").then(|| client_name(name))?
}

/// The client's name of an option that may stand in `source.kafka`; `None` when it is no option of the client.
pub(crate) fn client_name(name: &str) -> Option<String> {
    match name.split_at_checked("kafka.".len()) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case("kafka.") && !rest.is_empty() => Some(rest.to_lowercase()),
        _ => match keys::plain(name).as_str() {
            "bootstrapservers" => Some("bootstrap.servers".to_owned()),
            "groupid" => Some("group.id".to_owned()),
            _ => None,
        },
    }
}

fn refused(allowed: &Allowed, name: &str) -> Option<&'static Refused> {
    let given = keys::plain(name);
    allowed.refused.iter().find(|refused| refused.names.iter().any(|name| keys::plain(name) == given))
}

fn unknown<'a>(object: &Value<'a>, entry: &'a Entry, allowed: &Allowed) {
    if allowed.parent == "source.kafka" && entry.name.contains('.') {
        let right = format!("kafka.{}", entry.name);
        let message = format!("unknown key; options of the Kafka client have a prefix: `{right}`");
        object.below(entry).refuse(Code::UnknownKey, message);
        return;
    }
    let ours = keys::names_under(allowed.file, allowed.parent).into_iter().filter(|name| *name != "*");
    let ours = ours.map(|name| if name == "kafka" { "kafka.*" } else { name });
    let spark = keys::keys().iter().filter(|key| key.file == allowed.file && key.path.starts_with(allowed.parent));
    let spark = spark.map(|key| key.spark).filter(|name| !name.is_empty());
    let names: Vec<&str> = match entry.name.contains(char::is_uppercase) {
        true => spark.collect(),
        false => ours.collect(),
    };
    object.unknown_key(entry, names.iter().copied());
}
