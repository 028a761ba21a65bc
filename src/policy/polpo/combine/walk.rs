//! From one controlling hook to the next.

use std::ops::ControlFlow;

use super::Refusal;
use crate::policy::polpo::trace::{Execution, Trace};
use crate::policy::polpo::{Answer, Cause, Cell, Failure, HookName};
use crate::policy::polpo::{Mode, OnFailure, Outcome, Selection, Site, Word};

/// A hook that decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    name: HookName,
    on_failure: OnFailure,
}

impl Control {
    /// Returns the hook, if it is one that decides.
    pub fn of(name: HookName, mode: Mode, on_failure: OnFailure) -> Option<Self> {
        (mode == Mode::Control).then_some(Self { name, on_failure })
    }

    /// Returns those who decide about an event, in their order. Gates are asked on their own.
    pub fn ordinary(selection: &Selection<'_>) -> Vec<Self> {
        let ordinary = selection.control.iter().filter(|it| it.hook.gate.is_none());
        ordinary
            .filter_map(|it| Self::of(HookName::from(it), it.hook.mode, it.hook.on_failure))
            .collect()
    }

    /// Returns which hook it is.
    pub const fn name(&self) -> &HookName {
        &self.name
    }

    /// Returns what its failure counts as.
    pub const fn on_failure(&self) -> OnFailure {
        self.on_failure
    }
}

/// What the words of hooks mean at one event.
pub trait Seat {
    /// What comes of it.
    type Effect;

    /// Where handlers are asked.
    const PLACE: Site;

    /// Takes a valid decision. Breaks with the effect, if the decision ends the walk.
    ///
    /// An error is a decision that is not valid after all, which counts as a failure.
    fn take(
        &mut self,
        hook: &HookName,
        answer: Answer,
    ) -> Result<ControlFlow<Self::Effect, Changed>, Failure>;

    /// Returns what comes of a refusal.
    fn refuse(&mut self, refusal: Refusal) -> Self::Effect;

    /// Returns what comes of it when all have been asked.
    fn end(&mut self) -> Self::Effect;
}

/// Whether a decision has changed what those behind it are asked about.
pub type Changed = bool;

/// What became of one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Whose.
    pub hook: HookName,
    /// The decision, or why there is none.
    pub said: Result<Word, Failure>,
    /// Whether it counted.
    pub applied: bool,
    /// Whether it changed what those behind it were asked about.
    pub changed: Changed,
    /// Keys of the answer that had no meaning.
    pub ignored: Vec<String>,
}

impl Heard {
    /// Returns what there is to tell of it.
    pub fn trace(self, execution: Execution, duration_ms: u64, on_failure: OnFailure) -> Trace {
        let Self { said, applied, changed, ignored, .. } = self;
        match said {
            Ok(decision) => {
                Trace::Completed { execution, decision, duration_ms, applied, changed, ignored }
            }
            Err(Failure { cause, .. }) => Trace::Failed { execution, cause, on_failure, applied },
        }
    }
}

/// The end of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done<E> {
    /// What comes of it.
    pub effect: E,
    /// Who was asked, in order.
    pub heard: Vec<Heard>,
    /// Who was not, since it was over before.
    pub not_reached: Vec<HookName>,
}

/// A walk over the controlling hooks at one event.
#[derive(Debug)]
pub struct Walk<S: Seat> {
    seat: S,
    controls: Vec<Control>,
    at: usize,
    /// Whether answers count. Where hooks are only rolled out to be watched, they do not.
    enforced: bool,
    heard: Vec<Heard>,
    ended: Option<S::Effect>,
}

impl<S: Seat> Walk<S> {
    /// Starts a walk over `controls`, which are in their order.
    pub const fn new(seat: S, controls: Vec<Control>, enforced: bool) -> Self {
        Self { seat, controls, at: 0, enforced, heard: Vec::new(), ended: None }
    }

    /// Returns the hook to ask now, and about what; `None` when there is nobody left to ask.
    pub fn next(&self) -> Option<(&Control, &S)> {
        let control = self.controls.get(self.at).filter(|_| self.ended.is_none())?;
        Some((control, &self.seat))
    }

    /// Takes what came of asking that hook. Once the walk is over, nothing changes any more.
    pub fn answered(&mut self, outcome: Outcome) {
        let Some(control) = self.next().map(|(control, _)| control.clone()) else { return };
        self.at += 1;
        let (said, ignored, taken) = match outcome {
            Outcome::Failed(failure) => (Err(failure.clone()), Vec::new(), Err(failure)),
            Outcome::Answered(answer) => {
                let (word, ignored) = (answer.decision.word(), answer.ignored.clone());
                (Ok(word), ignored, self.take(&control.name, answer))
            }
        };
        let hook = control.name.clone();
        let mut heard = Heard { hook, said, applied: self.enforced, changed: false, ignored };
        match taken {
            Ok(ControlFlow::Continue(changed)) => heard.changed = changed,
            Ok(ControlFlow::Break(effect)) => self.ended = Some(effect),
            Err(failure) => {
                heard.said = Err(failure.clone());
                heard.applied = self.enforced && control.on_failure == OnFailure::Fail;
                if heard.applied {
                    self.ended = Some(self.seat.refuse(Refusal::failed(control.name, failure)));
                }
            }
        }
        self.heard.push(heard);
    }

    fn take(
        &mut self,
        hook: &HookName,
        answer: Answer,
    ) -> Result<ControlFlow<S::Effect, Changed>, Failure> {
        let word = answer.decision.word();
        match word.at(S::PLACE) {
            Cell::Invalid => {
                let detail = format!("`{}` is not valid here", word.as_str());
                Err(Failure::new(Cause::InvalidDecision, &detail))
            }
            _ if self.enforced => self.seat.take(hook, answer),
            _ => Ok(ControlFlow::Continue(false)),
        }
    }

    /// Ends the walk. One in which somebody is left to be asked has no end yet, and comes back.
    pub fn done(mut self) -> Result<Done<S::Effect>, Self> {
        if self.next().is_some() {
            return Err(self);
        }
        let effect = self.ended.take().unwrap_or_else(|| self.seat.end());
        let not_reached = self.controls.into_iter().skip(self.at).map(|c| c.name).collect();
        Ok(Done { effect, heard: self.heard, not_reached })
    }
}
