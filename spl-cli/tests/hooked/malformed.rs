//! What is no payload: one line, and nothing is kept.

use crate::house::{House, failed};

/// Returns 200 texts that are no event, each a payload to which one thing was done.
fn malformed() -> Vec<Vec<u8>> {
    // A sign that stands in a text may go.
    let whole = failed("toolu_1").replace("error: ", "");
    let mut texts: Vec<Vec<u8>> = Vec::new();
    // Cut off, at every other byte.
    texts.extend((0..whole.len()).step_by(2).map(|end| whole.as_bytes()[..end].to_vec()));
    // Without one of its signs.
    for (at, _) in whole.match_indices(['"', ',', '{', '}', ':']) {
        let mut text = whole.clone();
        text.remove(at);
        texts.push(text.into_bytes());
    }
    // With one of them twice.
    for (at, sign) in whole.match_indices([',', '{', '}', ':']) {
        let mut text = whole.clone();
        text.insert_str(at, sign);
        texts.push(text.into_bytes());
    }
    // Without what says which session and which event, or with something else there.
    for (name, value) in
        [("session_id", "\"7b0e2c9a\""), ("hook_event_name", "\"PostToolUseFailure\"")]
    {
        for other in ["7", "null", "true", "[]", "{}", "[\"a\"]", "1.5"] {
            let (from, to) = (format!("\"{name}\":{value}"), format!("\"{name}\":{other}"));
            texts.push(whole.replace(&from, &to).into_bytes());
        }
        texts.push(whole.replace(&format!("\"{name}\""), "\"other\"").into_bytes());
    }
    // Not one object.
    for text in ["null", "7", "\"text\"", "[]", "NaN", "{", "}", " \n", "\0", "not JSON", "<xml/>"]
    {
        texts.push(text.into());
    }
    texts.push(format!("[{whole}]").into_bytes());
    texts.push(format!("{whole}{whole}").into_bytes());
    texts.push(format!("{whole}\n{whole}").into_bytes());
    texts.push([whole.as_bytes(), b"\xff"].concat());
    assert!(texts.len() >= 200, "{}", texts.len());
    texts
}

#[track_caller]
fn check(house: &House) {
    let before = house.count("*");
    for text in malformed() {
        let ended = house.hook(&[], &text);
        let shown = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(ended.stdout, "", "{shown}");
        let complaint = ended.complaint();
        assert!(complaint.starts_with("spl session hook: "), "{shown}");
    }
    assert_eq!(house.count("*"), before);
}

#[test]
fn what_is_no_event_is_one_line_and_no_record() {
    check(&House::taught());
}

#[test]
fn a_server_keeps_nothing_of_it_either() {
    let house = House::taught();
    let _server = house.serve();
    check(&house);
}

/// Not even an instance.
#[test]
fn what_is_no_event_makes_no_home() {
    let house = House::empty();
    house.hook(&[], "{}").complaint();
    assert!(!house.home().exists());
}
