//! The model: events, where each may be, and what the tables come to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// 2026-03-01 in seconds.
const FIRST_DAY_S: u64 = 1_772_323_200;
const DAY_S: u64 = 86_400;

/// What a message says.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) number: usize,
    pub(super) order: usize,
    /// Since the first day.
    pub(super) second: u64,
    pub(super) cents: u64,
    pub(super) version: u64,
    /// `gone` deletes the order.
    pub(super) country: Option<&'static str>,
    pub(super) fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Cut,
    NoOrder,
    NoVersion,
    /// The decoder traps on it.
    Trap,
    /// It never comes to an end.
    Loop,
    /// It asks for more and more memory.
    Grow,
}

/// A row as the tables tell it: number, order, second, cents, version, country.
pub(super) type Row = (usize, String, u64, u64, u64, Option<String>);

impl Event {
    pub(super) fn key(&self) -> String {
        format!("o-{}", self.order)
    }

    pub(super) fn value(&self) -> String {
        let at = format!("2026-03-{:02}T{:02}:00:00Z", self.second / DAY_S + 1, self.second % DAY_S / 3_600);
        let mut value = json!({ "customer_id": format!("e-{}", self.number), "order_id": self.key(), "event_ts": at,
            "amount": self.cents as f64 / 100.0, "schema_version": self.version, "country": self.country });
        match self.fault {
            Fault::None => value.to_string(),
            Fault::Trap | Fault::Loop | Fault::Grow => {
                value["do"] = json!(format!("{:?}", self.fault).to_lowercase());
                value.to_string()
            }
            Fault::Cut => value.to_string().split(",\"event_ts\"").next().unwrap_or_default().to_owned(),
            Fault::NoOrder => {
                value["order_id"] = Value::Null;
                value.to_string()
            }
            Fault::NoVersion => {
                value.as_object_mut().expect("an object").remove("schema_version");
                value.to_string()
            }
        }
    }

    /// The number of the event that a message tells.
    pub(super) fn number_in(message: &str) -> usize {
        let rest = message.split("\"customer_id\":\"e-").nth(1).expect("every message has its number");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Why it is refused, if it is.
    fn refused(&self, three_is_served: bool) -> Option<&'static str> {
        match (self.fault, self.version) {
            (Fault::Cut, _) => Some("corrupt_record"),
            (Fault::NoVersion, _) => Some("schema_version_missing"),
            (_, 3) if !three_is_served => Some("unsupported_schema_version"),
            (_, 9) => Some("unsupported_schema_version"),
            (Fault::Trap, _) => Some("plugin_trap"),
            (Fault::Loop, _) => Some("plugin_timeout"),
            (Fault::Grow, _) => Some("plugin_memory"),
            (Fault::NoOrder, _) => Some("not_null: order_id"),
            _ => None,
        }
    }

    pub(super) fn row(&self) -> Row {
        let country = self.country.map(str::to_owned);
        (self.number, self.key(), self.second, self.cents, self.version, country)
    }
}

/// Where the events are, as far as the model knows.
#[derive(Default)]
pub(super) struct World {
    events: Vec<Event>,
    /// Where each may be: in silver (`None`), or in quarantine for a reason.
    may: Vec<BTreeSet<Option<&'static str>>>,
    /// How many have been through a run that did all it had to.
    settled: usize,
    /// A replay was ended before its end, and none came to its end since.
    unfinished: bool,
}

/// What is in silver and its quarantine: numbers, and reasons.
pub(super) struct Found {
    pub(super) silver: Vec<Row>,
    pub(super) refused: Vec<(usize, String)>,
}

impl World {
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn add(&mut self, events: Vec<Event>) {
        self.may.extend(events.iter().map(|_| BTreeSet::new()));
        self.events.extend(events);
    }

    /// A run begins, whether it comes to its end or not.
    pub(super) fn run(&mut self, three_is_served: bool) {
        for (event, may) in self.events.iter().zip(&mut self.may).skip(self.settled) {
            may.insert(event.refused(three_is_served));
        }
    }

    /// A replay of all rows, done or ended before.
    pub(super) fn replay(&mut self, three_is_served: bool, done: bool) {
        for (number, (event, may)) in self.events.iter().zip(&mut self.may).enumerate() {
            let waits = may.iter().any(Option::is_some);
            let now = event.refused(three_is_served);
            if waits {
                may.insert(now);
            }
            if waits && done && number < self.settled && now.is_none() {
                *may = BTreeSet::from([None]);
            }
        }
        self.unfinished = !done;
    }

    /// Every event is where it may be, once; those that have been through a whole run are somewhere. `whole`: all have.
    /// Gives the events in silver.
    pub(super) fn check(&mut self, found: &Found, whole: bool) -> Vec<Event> {
        if whole {
            self.settled = self.events.len();
        }
        let mut places = vec![BTreeSet::new(); self.events.len()];
        for row in &found.silver {
            assert_eq!(*row, self.events[row.0].row());
            assert!(places[row.0].insert(None), "{row:?} is in silver twice");
        }
        for (number, code) in &found.refused {
            let (event, may) = (&self.events[*number], &self.may[*number]);
            let known = may.iter().flatten().find(|may| *may == code);
            let code = *known.unwrap_or_else(|| panic!("{event:?} is refused as {code} and may be in {may:?}"));
            assert!(places[*number].insert(Some(code)), "{event:?} is in quarantine twice");
        }
        for (number, places) in places.iter().enumerate() {
            let (may, event) = (&mut self.may[number], &self.events[number]);
            assert!(places.is_subset(may), "{event:?} is in {places:?} and may be in {may:?}");
            assert!(places.len() <= 1 || self.unfinished, "{event:?} is in {places:?}");
            assert!(!places.is_empty() || number >= self.settled, "{event:?} is nowhere");
            if number < self.settled && !self.unfinished {
                may.clone_from(places);
            }
        }
        let in_silver = |event: &&Event| places[event.number].contains(&None);
        self.events.iter().filter(in_silver).cloned().collect()
    }
}

/// The newest event of each order, unless that deleted it; of equal times the later message.
pub(super) fn current(silver: &[Event]) -> Vec<Event> {
    let mut newest = BTreeMap::<usize, &Event>::new();
    for event in silver {
        let known = newest.entry(event.order).or_insert(event);
        if (event.second, event.number) >= (known.second, known.number) {
            *known = event;
        }
    }
    newest.into_values().filter(|event| event.country != Some("gone")).cloned().collect()
}

type Groups<'a> = BTreeMap<(&'a str, String), Vec<&'a Event>>;

fn groups(current: &[Event]) -> Groups<'_> {
    let mut groups = Groups::new();
    for event in current {
        if let Some(country) = event.country {
            let day = format!("2026-03-{:02}", event.second / DAY_S + 1);
            groups.entry((country, day)).or_default().push(event);
        }
    }
    groups
}

/// Country, day, order and place of the three greatest orders of each group, as the table tells them.
pub(super) fn top(current: &[Event]) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    for ((country, day), mut events) in groups(current) {
        events.sort_by_key(|event| (u64::MAX - event.cents, event.key()));
        for (place, event) in events.iter().take(3).enumerate() {
            rows.insert(json!([country, day, event.key(), format!("e-{}", event.number), place + 1]).to_string());
        }
    }
    rows
}

/// Country, day, orders, sum in cents and average in millionths of each group.
pub(super) fn revenue(current: &[Event]) -> BTreeSet<String> {
    let rows = groups(current).into_iter().map(|((country, day), events)| {
        let (count, sum) = (events.len() as u64, events.iter().map(|event| event.cents).sum::<u64>());
        let average = (sum * 10_000 * 2 + count) / (2 * count);
        json!([country, day, count, sum, average]).to_string()
    });
    rows.collect()
}

/// What the table of `SELECT` columns number, order, seconds, cents, version and country says.
pub(super) fn row(values: &[Value]) -> Row {
    let whole = |value: &Value| value.as_u64().expect("a whole number");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let number = text(&values[0]).trim_start_matches("e-").parse().expect("a number");
    let second = whole(&values[2]) - FIRST_DAY_S;
    (number, text(&values[1]), second, whole(&values[3]), whole(&values[4]), values[5].as_str().map(str::to_owned))
}
