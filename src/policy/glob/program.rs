//! Matching a name without a slash.
//!
//! Pieces become states, and a name is read from its end to its start: for each place in it, which
//! states would come to the end from there. So no way is walked twice, and what comes after a place is
//! known when `!(…)` asks for it.

use super::GlobError;
use super::segment::{Class, Kind, Piece, bit, firsts};

/// The most states of all programs of a pattern.
pub(super) const STATES: usize = 4096;

/// So many states find room on the stack.
const ON_STACK: usize = 256;

/// Pieces, made to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    /// What a state needs comes before it, but for loops.
    states: Vec<State>,
    start: usize,
    /// What a name has to begin and to end with, and the characters of which its first is one: most
    /// names that do not match are known by that.
    prefix: String,
    suffix: String,
    firsts: u128,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// The end of the name.
    End,
    /// This character, and then a state.
    Char(char, usize),
    /// Any character.
    One(usize),
    /// One of these.
    Class(Class, usize),
    /// Any characters, or none.
    Star(usize),
    /// No dot here.
    NoDot(usize),
    /// Neither `.` nor `..`, if the name begins here.
    NoDots(usize),
    /// Any of these states.
    Either(Vec<usize>),
    /// This state, or whatever the [`State::Close`] of it says.
    Loop(usize),
    /// The end of a loop: where it may go on, it may begin.
    Close { open: usize, bodies: Vec<usize> },
    /// Not the first state, and the second.
    Not(usize, usize),
}

/// Where a sequence stands.
#[derive(Clone, Copy)]
struct Place {
    /// What comes after it.
    next: usize,
    /// What comes after it, if the loops that it stands in are not run again.
    tail: usize,
    /// Whether a name begins with it.
    starts: bool,
    /// Whether a name ends with it.
    ends: bool,
}

impl Program {
    /// Compiles pieces; `hides` says whether a leading dot is matched by a dot alone.
    pub(super) fn compile(pieces: &[Piece], hides: bool) -> Result<Self, GlobError> {
        let mut compiler = Compiler { states: vec![State::End], hides };
        let place = Place { next: 0, tail: 0, starts: true, ends: true };
        let start = compiler.sequence(pieces, place)?;
        let char_of = |piece: &Piece| match piece {
            Piece::Char(c) => Some(*c),
            _ => None,
        };
        let prefix: String = pieces.iter().map_while(char_of).collect();
        let suffix: String = pieces.iter().rev().map_while(char_of).collect();
        Ok(Self {
            states: compiler.states,
            start,
            prefix,
            suffix: suffix.chars().rev().collect(),
            firsts: firsts(pieces).0,
        })
    }

    /// Returns how many states it has.
    pub(super) const fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns whether the whole of a name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        let first = name.chars().next();
        first.is_none_or(|c| !c.is_ascii() || self.firsts & bit(c) != 0)
            && name.starts_with(&self.prefix)
            && name.ends_with(&self.suffix)
            && self.run(name).0
    }

    /// Returns whether a name matches, and how many states were looked at to know.
    pub(super) fn run(&self, name: &str) -> (bool, usize) {
        let len = self.states.len();
        let (mut here, mut after) = ([false; ON_STACK], [false; ON_STACK]);
        match (here.get_mut(..len), after.get_mut(..len)) {
            (Some(here), Some(after)) => self.run_with(name, here, after),
            _ => self.run_with(name, &mut vec![false; len], &mut vec![false; len]),
        }
    }

    fn run_with<'r>(
        &self,
        name: &str,
        mut here: &'r mut [bool],
        mut after: &'r mut [bool],
    ) -> (bool, usize) {
        let mut steps = self.row(None, "", name.is_empty(), here, after);
        for (at, c) in name.char_indices().rev() {
            std::mem::swap(&mut here, &mut after);
            let rest = name.get(at..).unwrap_or_default();
            steps += self.row(Some(c), rest, at == 0, here, after);
        }
        (here.get(self.start) == Some(&true), steps)
    }

    /// Fills in which states come to the end from one place, given those of the place after it.
    fn row(
        &self,
        c: Option<char>,
        rest: &str,
        is_start: bool,
        here: &mut [bool],
        after: &[bool],
    ) -> usize {
        here.fill(false);
        let mut steps = 0;
        let mut at = 0;
        while let Some(state) = self.states.get(at) {
            steps += 1;
            let then = |next: &usize| after.get(*next) == Some(&true);
            let now = |next: &usize| here.get(*next) == Some(&true);
            let holds = match state {
                State::End => c.is_none(),
                State::Char(own, next) => c == Some(*own) && then(next),
                State::One(next) => c.is_some() && then(next),
                State::Class(class, next) => c.is_some_and(|c| class.has(c)) && then(next),
                State::Star(next) => now(next) || (c.is_some() && then(&at)),
                State::NoDot(next) => c != Some('.') && now(next),
                State::NoDots(next) => !(is_start && [".", ".."].contains(&rest)) && now(next),
                State::Either(next) => next.iter().any(now),
                State::Loop(next) => now(next) || now(&at),
                State::Close { open, bodies } => {
                    if !now(open) && bodies.iter().any(now) {
                        // What was looked at since may hold now. This happens once a loop.
                        if let Some(open) = here.get_mut(*open) {
                            *open = true;
                        }
                        at = open + 1;
                        continue;
                    }
                    false
                }
                State::Not(not, next) => !now(not) && now(next),
            };
            if let Some(here) = here.get_mut(at) {
                *here = holds;
            }
            at += 1;
        }
        steps
    }
}

struct Compiler {
    states: Vec<State>,
    hides: bool,
}

impl Compiler {
    fn push(&mut self, state: State) -> Result<usize, GlobError> {
        if self.states.len() >= STATES {
            return Err(GlobError::TooComplex);
        }
        self.states.push(state);
        Ok(self.states.len() - 1)
    }

    /// Compiles a sequence, last piece first, and returns the state that begins it.
    fn sequence(&mut self, pieces: &[Piece], place: Place) -> Result<usize, GlobError> {
        // Alone it stands for a name, which has at least one character.
        if place.starts && place.ends && pieces == [Piece::Star] {
            let star = self.push(State::Star(place.next))?;
            let one = self.push(State::One(star))?;
            return self.unhidden(one);
        }
        let negations = pieces.iter().take_while(|it| matches!(it, Piece::List(Kind::Not, _)));
        // Up to here, what stands before may be nothing.
        let starting = negations.count();
        let (mut next, mut tail) = (place.next, place.tail);
        for (index, piece) in pieces.iter().enumerate().rev() {
            let here = Place {
                next,
                tail,
                starts: place.starts && index <= starting,
                ends: place.ends && index + 1 == pieces.len(),
            };
            let asked_for = pieces.iter().take(index).any(negates);
            let begins = self.piece(piece, here)?;
            tail = match asked_for {
                true if next == tail => begins,
                true => self.piece(piece, Place { next: tail, ..here })?,
                false => tail,
            };
            next = begins;
        }
        if !(place.starts && self.hides) {
            return Ok(next);
        }
        let is_open =
            |at: usize| matches!(pieces.get(at), Some(Piece::One | Piece::Star | Piece::Class(_)));
        let is_dot = |at: usize| pieces.get(at) == Some(&Piece::Char('.'));
        if is_open(0) {
            self.unhidden(next)
        } else if is_dot(0) && (is_open(1) || (is_dot(1) && is_open(2))) {
            self.push(State::NoDots(next))
        } else {
            Ok(next)
        }
    }

    fn unhidden(&mut self, next: usize) -> Result<usize, GlobError> {
        if self.hides { self.push(State::NoDot(next)) } else { Ok(next) }
    }

    fn piece(&mut self, piece: &Piece, place: Place) -> Result<usize, GlobError> {
        let next = place.next;
        match piece {
            Piece::Char(c) => self.push(State::Char(*c, next)),
            Piece::One => self.push(State::One(next)),
            Piece::Star => self.push(State::Star(next)),
            Piece::Class(class) => self.push(State::Class(class.clone(), next)),
            Piece::List(kind, alternatives) => self.list(*kind, alternatives, place),
        }
    }

    fn list(
        &mut self,
        kind: Kind,
        alternatives: &[Vec<Piece>],
        place: Place,
    ) -> Result<usize, GlobError> {
        match kind {
            Kind::One => {
                let bodies = self.bodies(alternatives, place)?;
                self.push(State::Either(bodies))
            }
            Kind::Maybe => {
                let mut bodies = self.bodies(alternatives, place)?;
                bodies.push(place.next);
                self.push(State::Either(bodies))
            }
            Kind::Any | Kind::Some => {
                let open = self.push(State::Loop(place.next))?;
                let again = Place { next: open, starts: false, ..place };
                let bodies = self.bodies(alternatives, again)?;
                self.push(State::Close { open, bodies: bodies.clone() })?;
                let mut first = if place.starts {
                    self.bodies(alternatives, Place { starts: true, ..again })?
                } else {
                    bodies
                };
                if kind == Kind::Any {
                    first.push(place.next);
                }
                self.push(State::Either(first))
            }
            Kind::Not => self.not(alternatives, place),
        }
    }

    fn bodies(
        &mut self,
        alternatives: &[Vec<Piece>],
        place: Place,
    ) -> Result<Vec<usize>, GlobError> {
        alternatives.iter().map(|pieces| self.sequence(pieces, place)).collect()
    }

    /// Anything, unless one of these and then the rest of the pattern would match it.
    fn not(&mut self, alternatives: &[Vec<Piece>], place: Place) -> Result<usize, GlobError> {
        if alternatives == [Vec::new()] {
            let star = self.push(State::Star(place.next))?;
            let one = self.push(State::One(star))?;
            return if place.starts { self.unhidden(one) } else { Ok(one) };
        }
        let inside = Place { next: place.tail, ends: true, ..place };
        let bodies = self.bodies(alternatives, inside)?;
        let not = self.push(State::Either(bodies))?;
        let star = self.push(State::Star(place.next))?;
        let star = if place.starts { self.unhidden(star)? } else { star };
        self.push(State::Not(not, star))
    }
}

fn negates(piece: &Piece) -> bool {
    match piece {
        Piece::List(Kind::Not, _) => true,
        Piece::List(_, alternatives) => alternatives.iter().flatten().any(negates),
        _ => false,
    }
}
