//! Whose name an account may use: the list of its actors (contract §2.1).

use std::fmt;

use crate::record::ActorId;

/// The most actors in one list.
pub const MAX_ACTORS: usize = 64;

/// The list of the actors that an account may speak as.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Actors {
    /// Every actor but those of the system.
    every: bool,
    named: Vec<ActorId>,
}

/// A list that is not one of actors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownActor {
    /// A word that is no name.
    #[error("`{word}` is not an actor: a DID, or `*` for every actor but those of the system")]
    Word {
        /// The word.
        word: String,
    },
    /// More names than are taken.
    #[error("a list of actors has at most {MAX_ACTORS} names")]
    TooMany,
}

impl Actors {
    /// Returns the list `*`: every actor but those of the system.
    pub const fn every() -> Self {
        Self { every: true, named: Vec::new() }
    }

    /// Reads names with commas between them. An empty list is that of an account which speaks as
    /// itself alone.
    pub fn parse(csv: &str) -> Result<Self, UnknownActor> {
        let mut actors = Self::default();
        for word in csv.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if word == "*" {
                actors.every = true;
                continue;
            }
            let Ok(actor) = ActorId::parse(word) else {
                return Err(UnknownActor::Word { word: word.chars().take(64).collect() });
            };
            actors.named.push(actor);
        }
        actors.named.sort();
        actors.named.dedup();
        if actors.named.len() > MAX_ACTORS {
            return Err(UnknownActor::TooMany);
        }
        Ok(actors)
    }

    /// Returns whether nobody is on the list.
    pub fn is_empty(&self) -> bool {
        !self.every && self.named.is_empty()
    }

    /// Returns whether every actor is, but those of the system.
    pub const fn is_every(&self) -> bool {
        self.every
    }

    /// Returns whether this actor is named on the list.
    pub fn names(&self, actor: &ActorId) -> bool {
        self.named.contains(actor)
    }

    /// Returns the first actor on the list that is a part of the instance itself.
    pub fn system(&self) -> Option<&ActorId> {
        self.named.iter().find(|actor| actor.is_system())
    }

    /// Returns the words.
    pub fn words(&self) -> Vec<String> {
        let every = self.every.then(|| "*".to_owned());
        every.into_iter().chain(self.named.iter().map(ToString::to_string)).collect()
    }
}

impl fmt::Display for Actors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(","))
    }
}
