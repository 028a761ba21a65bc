//! Asking whoever sits at the terminal what a run wants to have decided.
//!
//! Without a terminal nobody is asked, and the run waits. So it does when the question is left, or
//! interrupted: then it is answered with `spl decisions`, and the run taken up.

use spl::engine::{Caller, DecisionAnswer, DecisionRequest, DecisionVerb, Engine, Expiry};
use spl::record::{ActorId, RecordId};
use spl::run::{Decider, Decision};

use super::typist::Typist;
use crate::output::{self, printable};

/// Whoever sits at the terminal, if somebody does.
pub(crate) struct AtTerminal<'a> {
    engine: &'a Engine,
    by: ActorId,
    typist: &'a Typist,
}

impl<'a> AtTerminal<'a> {
    /// Returns whoever sits at the terminal of this process, and answers as `by`.
    pub(crate) const fn new(engine: &'a Engine, by: ActorId, typist: &'a Typist) -> Self {
        Self { engine, by, typist }
    }
}

impl Decider for AtTerminal<'_> {
    fn decide(&mut self, request: RecordId, asked: &DecisionRequest) -> Decision {
        if !self.typist.is_there() {
            return Decision::Open;
        }
        for line in question(asked) {
            output::note(&line);
        }
        loop {
            let Some(line) = self.typist.line() else { return Decision::Open };
            match answer(&line, asked) {
                Typed::Left => return Decision::Open,
                Typed::Unclear(why) => output::note(&why),
                Typed::Answer(answer) => {
                    let caller = Caller::operator();
                    match self.engine.decide(&caller, &self.by, request, &answer) {
                        Ok(_) => return Decision::Made,
                        Err(error) => output::note(&error.to_string()),
                    }
                    // Somebody else may have been faster.
                    if matches!(self.engine.decision(request), Ok(Some(_))) {
                        return Decision::Made;
                    }
                }
            }
        }
    }
}

/// Returns the question as it is shown, line by line.
fn question(asked: &DecisionRequest) -> Vec<String> {
    let mut lines = vec![format!("the run asks: {}", printable(&asked.question))];
    if !asked.context.is_empty() {
        lines.push(format!("  {}", printable(&asked.context)));
    }
    for (at, option) in asked.options.iter().enumerate() {
        lines.push(format!("  {}  {}", at + 1, printable(option)));
    }
    if let Some(lesson) = &asked.lesson {
        lines.push(format!(
            "  it proposes the lesson `{}`: {}",
            printable(&lesson.name),
            printable(&lesson.text)
        ));
        lines.push(format!("  when {}", printable(&lesson.when)));
    }
    lines.push(choices(asked));
    lines
}

fn choices(asked: &DecisionRequest) -> String {
    let mut choices = vec!["a approve", "r [WHY] reject", "v VALUE"];
    if asked.lesson.is_some() {
        choices.insert(1, "l [30d] approve as a lesson");
    }
    if !asked.options.is_empty() {
        choices.push("a number");
    }
    format!("  {}; Enter leaves it", choices.join(", "))
}

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    /// The question stays open.
    Left,
    /// It means nothing, and why.
    Unclear(String),
    /// An answer.
    Answer(DecisionAnswer),
}

fn answer(line: &str, asked: &DecisionRequest) -> Typed {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    let new = DecisionAnswer::new;
    let option = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match (word.to_ascii_lowercase().as_str(), rest) {
        ("", _) => Typed::Left,
        ("a" | "approve" | "y" | "yes", None) => Typed::Answer(new(DecisionVerb::Approved)),
        ("r" | "reject" | "n" | "no", reason) => {
            Typed::Answer(DecisionAnswer { reason, ..new(DecisionVerb::Rejected) })
        }
        ("v" | "value", Some(value)) => {
            Typed::Answer(DecisionAnswer { value: Some(value), ..new(DecisionVerb::Provided) })
        }
        ("l" | "lesson", expires) if asked.lesson.is_some() => {
            match expires.as_deref().map(Expiry::parse).transpose() {
                Ok(expires) => Typed::Answer(DecisionAnswer {
                    becomes_policy: true,
                    expires,
                    ..new(DecisionVerb::Approved)
                }),
                Err(error) => Typed::Unclear(error.to_string()),
            }
        }
        (_, None) => match option.and_then(|at| asked.options.get(at)) {
            Some(option) => Typed::Answer(DecisionAnswer {
                value: Some(option.clone()),
                ..new(DecisionVerb::Provided)
            }),
            None => Typed::Unclear(choices(asked)),
        },
        _ => Typed::Unclear(choices(asked)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spl::object;

    fn asked() -> DecisionRequest {
        let lesson = object! { "name": "x", "when": "true", "text": "Run the tests first." };
        let args = object! {
            "question": "Which colour?",
            "options": vec!["red", "blue"],
            "lesson": lesson,
        };
        DecisionRequest::read(&args).expect("a question")
    }

    #[test]
    fn a_line_is_an_answer_or_is_asked_again() {
        let typed = |line: &str| answer(line, &asked());
        let new = DecisionAnswer::new;
        let provided = |value: &str| {
            Typed::Answer(DecisionAnswer {
                value: Some(value.into()),
                ..new(DecisionVerb::Provided)
            })
        };
        assert_eq!(typed("  "), Typed::Left);
        assert_eq!(typed("a"), Typed::Answer(new(DecisionVerb::Approved)));
        assert_eq!(typed("2"), provided("blue"));
        assert_eq!(typed("v  light blue "), provided("light blue"));
        let reason = Some("not now".into());
        let rejected = DecisionAnswer { reason, ..new(DecisionVerb::Rejected) };
        assert_eq!(typed("r not now"), Typed::Answer(rejected));
        let Typed::Answer(lesson) = typed("l 30d") else { panic!("a lesson") };
        assert!(lesson.becomes_policy && lesson.expires == Expiry::parse("30d").ok());
        for unclear in ["3", "0", "v", "a thing", "l soon", "blue"] {
            assert!(matches!(typed(unclear), Typed::Unclear(_)), "{unclear}");
        }
    }

    #[test]
    fn a_question_is_shown_without_what_a_terminal_acts_on() {
        let asked = DecisionRequest { question: "x\u{1b}[2J".into(), ..asked() };
        let shown = question(&asked).join("\n");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        insta::assert_snapshot!(shown, @r"
        the run asks: x\u{1b}[2J
          1  red
          2  blue
          it proposes the lesson `x`: Run the tests first.
          when true
          a approve, l [30d] approve as a lesson, r [WHY] reject, v VALUE, a number; Enter leaves it
        ");
    }
}
