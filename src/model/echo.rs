//! The model that says what it was told.

use super::{Message, Model, ModelError, Reply, StopReason, TurnRequest, Usage};
use crate::cancel::Cancel;

/// Answers with the last words of the user, and calls nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Echo;

impl Model for Echo {
    fn turn(
        &mut self,
        request: &TurnRequest,
        _: &Cancel,
        said: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::User { text } => Some(text.clone()),
            _ => None,
        });
        let text = last.unwrap_or_default();
        said(&text);
        Ok(Reply { text, calls: Vec::new(), usage: Usage::default(), stop: StopReason::EndTurn })
    }

    fn name(&self) -> &'static str {
        "echo"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_the_user_come_back() {
        let request = TurnRequest {
            messages: vec![
                Message::User { text: "one".into() },
                Message::User { text: "two".into() },
                Message::Observation { rule: "r".into(), text: "three".into() },
            ],
            ..TurnRequest::default()
        };
        let mut heard = String::new();
        let reply = Echo
            .turn(&request, &Cancel::new(), &mut |words| heard.push_str(words))
            .expect("a reply");
        assert_eq!(heard, reply.text);
        assert_eq!((reply.text.as_str(), reply.stop), ("two", StopReason::EndTurn));
        let reply =
            Echo.turn(&TurnRequest::default(), &Cancel::new(), &mut |_| {}).expect("a reply");
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("", 0));
    }
}
