//! What a hook reads.

use std::path::Path;

use super::Event;
use crate::canon::Value;
use crate::object;
use crate::policy::Question;

/// Returns what a hook reads: one line of JSON, ended by a line break.
pub fn payload(question: &Question<'_>, cwd: &Path) -> String {
    let mut members = object! {
        "event": Event::at(question.seam()).map(Event::as_str),
        "cwd": cwd.to_string_lossy().into_owned(),
    };
    match *question {
        Question::Prompt { text } => members.extend(object! { "prompt": text }),
        Question::Before { tool, input } => {
            members.extend(object! { "toolName": tool, "toolInput": input.clone() });
        }
        Question::After { tool, input, text, failed } => members.extend(object! {
            "toolName": tool,
            "toolInput": input.clone(),
            "resultText": text,
            "isError": failed,
        }),
    }
    format!("{}\n", Value::from(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(question: &Question<'_>) -> String {
        payload(question, Path::new("/work"))
    }

    #[test]
    fn each_event_has_its_keys_and_no_others() {
        let input = object! { "command": "ls\n-l" };
        assert_eq!(
            of(&Question::Before { tool: "bash", input: &input }),
            "{\"cwd\":\"/work\",\"event\":\"preToolUse\",\"toolInput\":{\"command\":\"ls\\n-l\"},\
             \"toolName\":\"bash\"}\n"
        );
        let after = Question::After { tool: "bash", input: &input, text: "a", failed: true };
        assert_eq!(
            of(&after),
            "{\"cwd\":\"/work\",\"event\":\"postToolUse\",\"isError\":true,\"resultText\":\"a\",\
             \"toolInput\":{\"command\":\"ls\\n-l\"},\"toolName\":\"bash\"}\n"
        );
        assert_eq!(
            of(&Question::Prompt { text: "hi\u{2028}\r\n" }),
            "{\"cwd\":\"/work\",\"event\":\"userPromptSubmit\",\"prompt\":\"hi\u{2028}\\r\\n\"}\n"
        );
    }
}
