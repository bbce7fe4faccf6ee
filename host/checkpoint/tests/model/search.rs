//! Breadth-first search over all worlds, and back from the ends.

use std::collections::HashMap;
use std::fmt::Write;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Instant;

use crate::protocol::{Action, Guards, successors};
use crate::world::{Violation, World};

/// Most states of one search: a model that grows beyond it is no unit test any more.
const STATES_MAX: usize = 4_000_000;

/// What a search found.
pub(crate) struct Found {
    pub(crate) states: usize,
    /// States in which all rows are done.
    pub(crate) finished: usize,
    pub(crate) seconds: f64,
    /// The invariant that does not hold, and the shortest way to break it.
    pub(crate) violation: Option<(Violation, String)>,
}

/// A hash that is quick for many small fields; nobody attacks a test.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

struct Search {
    worlds: Vec<World>,
    numbers: HashMap<World, u32, BuildHasherDefault<Quick>>,
    /// How each world was reached first.
    parents: Vec<Option<(u32, Action)>>,
    /// Steps that the world can be relied on to take.
    edges: Vec<(u32, u32)>,
}

/// Visits every world that can be reached, until an invariant breaks.
pub(crate) fn explore(first: World, guards: Guards) -> Found {
    let begin = Instant::now();
    let mut search = Search { worlds: Vec::new(), numbers: HashMap::default(), parents: Vec::new(), edges: Vec::new() };
    search.number(first, None);
    let violation = search.run(guards);
    Found {
        states: search.worlds.len(),
        finished: search.worlds.iter().filter(|world| world.finished()).count(),
        seconds: begin.elapsed().as_secs_f64(),
        violation: violation.map(|(violation, at)| (violation, search.trace(at))),
    }
}

impl Search {
    fn run(&mut self, guards: Guards) -> Option<(Violation, u32)> {
        let mut following = Vec::new();
        let mut at = 0;
        while at < self.worlds.len() {
            assert!(at < STATES_MAX, "the model has more than {STATES_MAX} states");
            let world = self.worlds[at];
            if let Some(violation) = world.violation() {
                return Some((violation, at as u32));
            }
            successors(&world, guards, &mut following);
            for (action, next) in following.drain(..) {
                let to = self.number(next, Some((at as u32, action)));
                if !action.is_fault() {
                    self.edges.push((at as u32, to));
                }
            }
            at += 1;
        }
        self.stuck().map(|at| (Violation::Stuck, at))
    }

    fn number(&mut self, world: World, parent: Option<(u32, Action)>) -> u32 {
        let next = self.worlds.len() as u32;
        *self.numbers.entry(world).or_insert_with(|| {
            self.worlds.push(world);
            self.parents.push(parent);
            next
        })
    }

    /// A world from which no way without further faults leads to one in which all rows are done.
    fn stuck(&self) -> Option<u32> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.worlds.len()];
        for (from, to) in &self.edges {
            before[*to as usize].push(*from);
        }
        let mut leads: Vec<bool> = self.worlds.iter().map(World::finished).collect();
        let mut open: Vec<u32> = (0..).zip(&leads).filter(|(_, ends)| **ends).map(|(n, _)| n).collect();
        while let Some(n) = open.pop() {
            for from in &before[n as usize] {
                if !std::mem::replace(&mut leads[*from as usize], true) {
                    open.push(*from);
                }
            }
        }
        let stuck = |n: u32, leads: bool| !leads && !self.worlds[n as usize].restored;
        (0..).zip(leads).find(|(n, leads)| stuck(*n, *leads)).map(|(n, _)| n)
    }

    /// The actions that lead here.
    fn trace(&self, mut at: u32) -> String {
        let last = self.worlds[at as usize];
        let mut actions = Vec::new();
        while let Some((from, action)) = self.parents[at as usize] {
            actions.push(action);
            at = from;
        }
        let mut text = String::new();
        for (n, action) in actions.iter().rev().enumerate() {
            let _ = writeln!(text, "  {:2}. {action}", n + 1);
        }
        let _ = writeln!(text, "  table {:?}", last.table.commits().collect::<Vec<_>>());
        let _ = writeln!(text, "  quarantine {:?}", last.quarantine.commits().collect::<Vec<_>>());
        text
    }
}
