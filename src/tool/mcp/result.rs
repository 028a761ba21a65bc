//! What a server answers, as an answer of ours.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::canon::{Limits, Value, parse};
use crate::object;
use crate::tool::{Answer, Clip, Status};

/// The most bytes of the form for programs.
const DATA_BYTES: usize = 64 * 1024;

/// Returns the answer that shows a result: its texts one below the other, and of what is no text
/// what it is.
pub(super) fn answer(result: &CallToolResult) -> Answer {
    let mut clip = Clip::new();
    for block in &result.content {
        clip.end_line();
        push(&mut clip, block);
    }
    let structured = result.structured_content.as_ref().map(ToString::to_string);
    if let Some(text) = structured.as_ref().filter(|_| clip.is_empty()) {
        clip.push(text);
    }
    let status = if result.is_error == Some(true) { Status::Error } else { Status::Ok };
    let empty = clip.is_empty();
    if empty {
        clip.push("[nothing]");
    }
    let answer = clip.into_answer(status).with_empty(empty);
    match structured {
        Some(text) => answer.with_data(data(&text)),
        None => answer,
    }
}

fn data(text: &str) -> Value {
    let limits = Limits { bytes: DATA_BYTES, depth: 64 };
    parse(text.as_bytes(), limits)
        .unwrap_or_else(|_| object! { "bytes": text.len(), "left_out": true }.into())
}

fn push(clip: &mut Clip, block: &ContentBlock) {
    let described = match block {
        ContentBlock::Text(text) => return clip.push(&text.text),
        ContentBlock::Image(image) => foreign("an image", Some(&image.mime_type), &image.data),
        ContentBlock::Audio(audio) => foreign("a sound", Some(&audio.mime_type), &audio.data),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => return clip.push(text),
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                foreign("a file", mime_type.as_deref(), blob)
            }
            _ => "[a file of an unknown form]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[a link: {} {}]", link.name, link.uri),
        _ => "[something that is no text]".to_owned(),
    };
    clip.push(&described);
}

fn foreign(what: &str, kind: Option<&str>, base64: &str) -> String {
    let kind = kind.unwrap_or("of an unknown kind");
    format!("[{what}, {kind}, {} bytes, not shown]", base64.len() / 4 * 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::SHOWN_BYTES;

    fn shown(json: &str) -> Answer {
        answer(&serde_json::from_str(json).expect("a result"))
    }

    #[test]
    fn texts_stand_below_each_other_and_the_rest_is_described() {
        let answer = shown(
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},
                {"type":"image","data":"AAAA","mimeType":"image/png"},
                {"type":"resource","resource":{"uri":"x:y","blob":"AAAAAAAA"}},
                {"type":"resource","resource":{"uri":"x:y","text":"c"}},
                {"type":"resource_link","uri":"x:z","name":"z"}],"isError":true}"#,
        );
        assert_eq!(answer.status, Status::Error);
        assert_eq!(
            answer.shown,
            "a\nb\n[an image, image/png, 3 bytes, not shown]\n\
             [a file, of an unknown kind, 6 bytes, not shown]\nc\n[a link: z x:z]"
        );
        assert_eq!(answer.data, None);
    }

    #[test]
    fn what_is_structured_is_for_programs_and_shown_where_there_is_no_text() {
        let answer = shown(r#"{"content":[],"structuredContent":{"b":1,"a":[2]}}"#);
        assert_eq!(answer.data.expect("data").to_string(), r#"{"a":[2],"b":1}"#);
        assert!(answer.shown.contains("\"a\":[2]"));
        let large = format!(r#"{{"structuredContent":{{"a":"{}"}}}}"#, "x".repeat(SHOWN_BYTES * 2));
        let answer = shown(&large);
        assert!(answer.shown.len() <= SHOWN_BYTES);
        let data = answer.data.expect("data").to_string();
        assert!(data.contains("\"left_out\":true"), "{data}");
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        let answer = shown(r#"{"content":[]}"#);
        assert!(answer.empty && answer.status == Status::Ok);
        assert_eq!(answer.shown, "[nothing]");
    }
}
