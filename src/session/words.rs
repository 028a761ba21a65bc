//! Which words go with an event, and which wait for the next.
//!
//! **Invariant:** nothing is dropped, nothing goes twice, and the order is kept: what is said and
//! then what is carried are the words that came in.

use std::borrow::Cow;

use super::Cap;
use crate::hook::shown;
use crate::record::RecordId;

/// The most bytes that go with one event, what stands between two texts included.
pub const MAX_BYTES: usize = 8 * 1024;

/// What stands between two texts: an empty line.
const BETWEEN: &str = "\n\n";

/// The words of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The name of the hook.
    pub rule: String,
    /// The words.
    pub text: String,
    /// The record of the observation.
    pub observation: RecordId,
}

/// What goes with an event, and what waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The text for the harness; `None` if there is nothing to say.
    pub text: Option<String>,
    /// What is in the text, in its order.
    pub said: Vec<Spoken>,
    /// What waits, in its order.
    pub carried: Vec<Spoken>,
}

/// Fills an event with `words`: those carried up to now, then those that are new; behind `context`,
/// which policy hooks add to a prompt. That goes in any case, and is cut to what the harness hands on.
///
/// Each is `<name>: <text>`. They go in their order up to [`MAX_BYTES`], and from the first that
/// finds no room they wait. The very first always goes, and is cut if it alone is longer than
/// what the harness hands on. To an event that does not deliver all of them wait.
pub fn pack(context: Option<&str>, mut words: Vec<Spoken>, delivers: bool, cap: Cap) -> Packed {
    let mut text = context.map(|context| bounded(context, cap, " [cut here]").into_owned());
    let mut said = 0;
    if delivers {
        for word in &words {
            let next = shown(&word.rule, &word.text);
            match &mut text {
                None => text = Some(cut(&next, cap, &word.observation)),
                Some(text) if text.len() + BETWEEN.len() + next.len() <= room(cap) => {
                    text.push_str(BETWEEN);
                    text.push_str(&next);
                }
                Some(_) => break,
            }
            said += 1;
        }
    }
    let carried = words.split_off(said);
    Packed { text, said: words, carried }
}

/// No harness has a cap below [`MAX_BYTES`] but one that counts escapes.
fn room(cap: Cap) -> usize {
    match cap {
        Cap::Utf16(most) | Cap::Bytes(most) => most.min(MAX_BYTES),
        Cap::None => MAX_BYTES,
    }
}

fn cut(text: &str, cap: Cap, observation: &RecordId) -> String {
    let note = format!(" [cut here; the record {observation} has the whole text]");
    bounded(text, cap, &note).into_owned()
}

/// Returns `text` whole if the harness hands it on, else its beginning with a note.
pub(super) fn bounded<'t>(text: &'t str, cap: Cap, note: &str) -> Cow<'t, str> {
    let (most, size): (usize, fn(char) -> usize) = match cap {
        Cap::Utf16(most) => (most, char::len_utf16),
        Cap::Bytes(most) => (most, char::len_utf8),
        Cap::None => return text.into(),
    };
    if text.chars().map(size).sum::<usize>() <= most {
        return text.into();
    }
    let room = most.saturating_sub(note.len());
    let mut used = 0;
    let kept = text.chars().take_while(|char| {
        used += size(*char);
        used <= room
    });
    kept.chain(note.chars()).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Harness;
    use super::*;

    fn word(number: usize, text: &str) -> Spoken {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&number.to_be_bytes());
        Spoken {
            rule: format!("rule-{number}"),
            text: text.into(),
            observation: RecordId::from_bytes(id),
        }
    }

    fn words(texts: &[String]) -> Vec<Spoken> {
        texts.iter().enumerate().map(|(number, text)| word(number, text)).collect()
    }

    fn size(text: &str, cap: Cap) -> usize {
        match cap {
            Cap::Utf16(_) => text.encode_utf16().count(),
            _ => text.len(),
        }
    }

    #[test]
    fn words_are_joined_by_one_empty_line() {
        let packed = pack(None, words(&["a".into(), "b".into()]), true, Cap::None);
        assert_eq!(packed.text.as_deref(), Some("rule-0: a\n\nrule-1: b"));
        assert!(packed.carried.is_empty());
        assert_eq!(pack(None, Vec::new(), true, Cap::None).text, None);
    }

    #[test]
    fn an_event_that_does_not_deliver_carries_all() {
        let packed = pack(None, words(&["a".into(), "b".into()]), false, Cap::None);
        assert_eq!((packed.text, packed.said.len(), packed.carried.len()), (None, 0, 2));
    }

    #[test]
    fn what_finds_no_room_waits_with_all_behind_it() {
        // `rule-N: ` has 8 bytes, and the empty line 2.
        let exact = |rest: usize| "x".repeat(MAX_BYTES - 8 - 2 - 8 - rest);
        let packed = pack(None, words(&[exact(1), "1".into()]), true, Cap::None);
        assert_eq!(packed.text.map(|text| text.len()), Some(MAX_BYTES));
        assert!(packed.carried.is_empty());
        let packed = pack(None, words(&[exact(1), "22".into(), String::new()]), true, Cap::None);
        assert_eq!((packed.said.len(), packed.carried.len()), (1, 2));
    }

    #[test]
    fn the_first_goes_whole_where_nothing_caps_it() {
        let long = "ä".repeat(MAX_BYTES);
        let packed = pack(None, words(&[long.clone(), "b".into()]), true, Harness::Qwen.cap());
        assert_eq!(packed.text, Some(format!("rule-0: {long}")));
        assert_eq!(packed.carried, [word(1, "b")]);
    }

    #[test]
    fn the_first_is_cut_between_characters() {
        for harness in Harness::ALL {
            for unit in ["x", "ä", "€", "😀", "a€😀"] {
                let packed = pack(None, words(&[unit.repeat(12_000)]), true, harness.cap());
                let text = packed.text.expect("a text");
                match harness.cap() {
                    Cap::None => assert_eq!(text.len(), 8 + unit.len() * 12_000),
                    cap @ (Cap::Utf16(most) | Cap::Bytes(most)) => {
                        let size = size(&text, cap);
                        assert!(size <= most && size + 4 > most, "{harness:?} {unit} {size}");
                        assert!(text.ends_with("has the whole text]"));
                        let (kept, _) = text.split_once(" [cut here").expect("a note");
                        let repeated = unit.repeat(12_000);
                        assert!(repeated.starts_with(&kept[8..]));
                    }
                }
                assert_eq!(packed.said.len(), 1);
            }
        }
    }

    #[test]
    fn a_context_goes_first_and_words_that_find_no_room_wait() {
        let packed = pack(Some("c"), words(&["a".into(), "b".into()]), true, Cap::None);
        assert_eq!(packed.text.as_deref(), Some("c\n\nrule-0: a\n\nrule-1: b"));
        let packed = pack(Some("c"), words(&["a".into()]), false, Cap::None);
        assert_eq!((packed.text.as_deref(), packed.carried.len()), (Some("c"), 1));
        let long = "c".repeat(MAX_BYTES);
        let packed = pack(Some(&long), words(&["a".into()]), true, Cap::None);
        assert_eq!((packed.text, packed.carried.len()), (Some(long), 1));
        for cap in Harness::ALL.map(Harness::cap) {
            let packed = pack(Some(&"ä".repeat(20_000)), words(&["a".into()]), true, cap);
            let text = packed.text.expect("a text");
            match cap {
                Cap::None => assert_eq!(text.len(), 40_000),
                Cap::Utf16(most) | Cap::Bytes(most) => assert!(size(&text, cap) <= most),
            }
            assert_eq!(packed.carried.len(), 1);
        }
    }

    fn any_cap() -> impl Strategy<Value = Cap> {
        proptest::sample::select(Harness::ALL.map(Harness::cap).to_vec())
    }

    fn any_text() -> impl Strategy<Value = String> {
        let short = "[a-zä€😀 \n]{0,40}";
        let long = (prop::sample::select(vec!["x", "ä", "€", "😀"]), 0_usize..6000)
            .prop_map(|(unit, count)| unit.repeat(count));
        prop_oneof![3 => short.prop_map(|text| text), 1 => long]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// Event after event, everything is said once and in its order.
        #[test]
        fn nothing_is_dropped_and_nothing_goes_twice(
            rounds in prop::collection::vec((prop::collection::vec(any_text(), 0..6), any::<bool>()), 0..6),
            cap in any_cap(),
        ) {
            let (mut carried, mut said, mut all) = (Vec::new(), Vec::new(), Vec::new());
            for (texts, delivers) in rounds {
                for text in texts {
                    let new = word(all.len(), &text);
                    all.push(new.clone());
                    carried.push(new);
                }
                let packed = pack(None, carried, delivers, cap);
                check(&packed, delivers, cap);
                said.extend(packed.said);
                carried = packed.carried;
            }
            // Each event that delivers says at least one, so the rest comes to its end.
            while !carried.is_empty() {
                let before = carried.len();
                let packed = pack(None, carried, true, cap);
                prop_assert!(packed.carried.len() < before);
                said.extend(packed.said);
                carried = packed.carried;
            }
            prop_assert_eq!(said, all);
        }
    }

    #[track_caller]
    fn check(packed: &Packed, delivers: bool, cap: Cap) {
        assert_eq!(packed.text.is_some(), !packed.said.is_empty());
        assert!(delivers || packed.said.is_empty());
        let Some(text) = &packed.text else { return };
        if packed.said.len() > 1 {
            assert!(text.len() <= MAX_BYTES, "{}", text.len());
            let whole: Vec<String> =
                packed.said.iter().map(|word| shown(&word.rule, &word.text)).collect();
            assert_eq!(*text, whole.join("\n\n"));
        }
        match cap {
            Cap::Utf16(most) | Cap::Bytes(most) => assert!(size(text, cap) <= most),
            Cap::None => {}
        }
    }
}
