//! A blueprint together with those that it extends.

use std::collections::BTreeMap;

use super::place::Place;
use super::{Blueprint, BlueprintError, Seed, Sort};
use crate::canon::{Canonical, Digest, Object, Value, hex};
use crate::object;
use crate::record::{Reason, ShapeError};

/// The most blueprints that one builds on, directly or not.
pub const MAX_EXTENDED: usize = 16;

/// A seed, and the file it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Where it stands.
    pub place: Place,
    /// What it says.
    pub seed: Seed,
}

/// A blueprint together with those that it extends, and what all of them would write.
///
/// What is extended comes first. A hook or a rule of one name and namespace replaces that of a
/// blueprint that is extended; within one file it may stand once.
#[derive(Debug, Clone)]
pub struct BlueprintSet {
    top: Blueprint,
    extended: Vec<Digest>,
    seeds: Vec<Placed>,
}

impl BlueprintSet {
    /// Reads a blueprint, and those that it extends in whatever order.
    pub fn read(blueprint: Value, extended: Vec<Value>) -> Result<Self, BlueprintError> {
        let top = Blueprint::read(blueprint)?;
        let extended = extended.into_iter().enumerate();
        let extended = extended.map(|(at, value)| Blueprint::read_at(value, Some(at)));
        Self::assemble(top, extended.collect::<Result<_, _>>()?)
    }

    /// Puts a blueprint together with those that it extends, in whatever order they come.
    ///
    /// Each that is named must be there, and none that is not. A signature must be one over its file,
    /// whoever made it.
    pub fn assemble(top: Blueprint, extended: Vec<Blueprint>) -> Result<Self, BlueprintError> {
        if extended.len() > MAX_EXTENDED {
            let message = format!("at most {MAX_EXTENDED} blueprints may be extended");
            return Err(ShapeError::new("extends", Reason::BadValue, message).into());
        }
        top.check_signature()?;
        for (at, blueprint) in extended.iter().enumerate() {
            blueprint.check_signature().map_err(|error| inside(at, error))?;
        }
        let given: BTreeMap<Digest, (usize, Blueprint)> = extended
            .into_iter()
            .enumerate()
            .map(|(at, blueprint)| (blueprint.hash(), (at, blueprint)))
            .collect();
        let mut order = Vec::new();
        visit(&top, &given, &mut order)?;
        if let Some((_, (at, unused))) = given.iter().find(|(hash, _)| !order.contains(hash)) {
            let message = format!("`{}` was given and is not extended", unused.name);
            return Err(ShapeError::new(format!("extends[{at}]"), Reason::BadValue, message).into());
        }
        let mut gathered = Gathered::default();
        for (at, blueprint) in order.iter().filter_map(|hash| given.get(hash)) {
            gathered.add(blueprint, Some(*at))?;
        }
        gathered.add(&top, None)?;
        Ok(Self { seeds: gathered.seeds(), extended: order, top })
    }

    /// Returns the blueprint itself.
    pub const fn blueprint(&self) -> &Blueprint {
        &self.top
    }

    /// Returns the hashes of what it extends, directly or not, in the order of building on it.
    pub fn extended(&self) -> &[Digest] {
        &self.extended
    }

    /// Returns all that would be written, in the order in which it would be: content, then permission
    /// rules, then hooks.
    pub fn seeds(&self) -> &[Placed] {
        &self.seeds
    }

    /// Returns the hash that whoever installs this accepts: of every blueprint of the set, and of
    /// every seed that would be written, hooks and rules among them, in their order.
    ///
    /// It says nothing of the instance, so it is the same everywhere.
    pub fn plan_hash(&self) -> Digest {
        let of = |sort: Sort| -> Vec<Object> {
            let seeds = self.seeds.iter().map(|placed| &placed.seed);
            seeds.filter(|seed| seed.sort() == sort).map(Seed::to_object).collect()
        };
        let extended: Vec<String> = self.extended.iter().map(|hash| hex(hash)).collect();
        let plan = object! {
            "blueprint": hex(&self.top.hash()),
            "content": of(Sort::Content),
            "extends": extended,
            "hooks": of(Sort::Hook),
            "object": "blueprint_plan",
            "rules": of(Sort::Rule),
        };
        Canonical::of_object(&plan).sha256()
    }
}

/// Returns a refusal of a blueprint as one of the set that it was given with.
pub(super) fn inside(extended: usize, error: ShapeError) -> ShapeError {
    ShapeError { field: format!("extends[{extended}].{}", error.field), ..error }
}

/// Adds what a blueprint extends to `order`, what that extends before it. A hash cannot be part of
/// what it is of, so this ends.
fn visit(
    blueprint: &Blueprint,
    given: &BTreeMap<Digest, (usize, Blueprint)>,
    order: &mut Vec<Digest>,
) -> Result<(), BlueprintError> {
    for hash in &blueprint.extends {
        if order.contains(hash) {
            continue;
        }
        let Some((_, extended)) = given.get(hash) else {
            let message =
                format!("`{}` extends `{}`, which was not given", blueprint.name, hex(hash));
            return Err(ShapeError::new("extends", Reason::MissingField, message)
                .with_hint("Give its file with `--extends`.")
                .into());
        };
        visit(extended, given, order)?;
        order.push(*hash);
    }
    Ok(())
}

/// What tells one seed from another.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A hook or a rule, by its namespace and name.
    Named(Sort, String, String),
    /// Content, by all that it says.
    Said(Digest),
}

impl Key {
    fn of(seed: &Seed) -> Self {
        match seed.key() {
            Some((sort, namespace, name)) => Self::Named(sort, namespace, name),
            None => Self::Said(seed.digest()),
        }
    }
}

/// The seeds of several blueprints, each with the number of its turn.
#[derive(Default)]
struct Gathered {
    seeds: BTreeMap<Key, (usize, Placed)>,
    turn: usize,
}

impl Gathered {
    fn add(&mut self, blueprint: &Blueprint, extended: Option<usize>) -> Result<(), ShapeError> {
        let own_from = self.turn;
        for (at, seed) in blueprint.seeds.iter().enumerate() {
            let place = Place { extended, seed: at };
            let placed = Placed { place, seed: seed.clone() };
            let before = self.seeds.insert(Key::of(seed), (self.turn, placed));
            if before.is_some_and(|(turn, _)| turn >= own_from) {
                let message = format!("the {} stands twice in one blueprint", seed.in_words());
                return Err(ShapeError::new(place.to_string(), Reason::BadValue, message));
            }
            self.turn += 1;
        }
        Ok(())
    }

    fn seeds(self) -> Vec<Placed> {
        let mut seeds: Vec<(usize, Placed)> = self.seeds.into_values().collect();
        seeds.sort_by_key(|(turn, placed)| (placed.seed.sort(), *turn));
        seeds.into_iter().map(|(_, placed)| placed).collect()
    }
}
