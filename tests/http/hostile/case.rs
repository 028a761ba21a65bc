//! Hostile writes of hooks, each with what must become of it.
//!
//! A case is made from its number alone. What is expected of it follows from how it was made and
//! from the contract, not from the validator: the two lists of fields below are the contract's.

use spl::canon::{Object, Value};
use spl::object;

/// What a hook may say (contract §5.2).
const FIELDS: [&str; 8] =
    ["kind", "topic", "name", "when", "text", "max_fires_per_run", "enabled", "namespace"];

/// What no hook may say (contract §5.2).
const FORBIDDEN: [&str; 6] = ["priority", "action", "suppress", "replace", "order", "instead_of"];

/// What almost is a field, and is none.
const UNKNOWN: [&str; 24] = [
    "Priority",
    "PRIORITY",
    "priority ",
    "prioritу", // its last letter is Cyrillic
    "instead-of",
    "insteadOf",
    "suppress\u{200b}",
    "Action",
    "veto",
    "block",
    "before",
    "after",
    "weight",
    "override",
    "mode",
    "scope",
    "Name",
    "whеn", // with a Cyrillic e
    "condition",
    "message",
    "__proto__",
    "constructor",
    "_x",
    "",
];

const ACTS: [&str; 7] = ["INTEND", "DO", "KNOW", "GET", "PUT", "CALL", "MAP"];

const THREADS: [&str; 6] = [
    "th_engine_configs",
    "th_engine_config ",
    "TH_ENGINE_CONFIG",
    "th_work",
    "engine_config",
    "th_audit_security",
];

/// What must become of a write that passes scope and JSON, when the operator makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Want {
    /// Refused as a hook, by naming this field and reason.
    Refused { field: String, reason: &'static str },
    /// The envelope is none, by this field and reason.
    NoEnvelope { field: String, reason: &'static str },
    /// The bytes are no JSON that can be canonical.
    Unread,
    /// There are too many bytes.
    TooLarge,
    /// Stored as data, since it is no hook by kind or topic; never loaded, and shown beside the
    /// hooks by this field.
    Near { field: &'static str },
    /// Nothing is wrong with it but who writes it.
    Whole,
}

/// One hostile write.
pub(super) struct Case {
    pub(super) number: usize,
    /// A word that stands in the body and nowhere else.
    pub(super) word: String,
    pub(super) want: Want,
    /// The bytes for the records door.
    pub(super) sent: Vec<u8>,
    /// The envelope, if the bytes are one; `None` of what only bytes can be.
    pub(super) envelope: Option<Object>,
}

/// Numbers that depend on nothing but where they start (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("small");
        usize::try_from(self.roll() % end).expect("small")
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// A hook with nothing wrong with it.
fn whole(word: &str) -> Object {
    object! {
        "enabled": true,
        "kind": "core.hook.v1",
        "max_fires_per_run": 3,
        "name": word,
        "text": format!("{word}: read stderr first"),
        "topic": "hook",
        "when": format!("record.body.tool == \"{word}\""),
    }
}

/// A value of each JSON type, with the word of the case where there is room for one.
fn any(word: &str) -> Vec<Value> {
    vec![
        Value::Null,
        true.into(),
        7.into(),
        Value::from_float(1.5),
        word.into(),
        vec![word].into(),
        Object::from([(word.to_owned(), word.into())]).into(),
    ]
}

/// Values that are no string.
fn no_string(word: &str) -> Vec<Value> {
    any(word).into_iter().filter(|value| value.as_str().is_none()).collect()
}

fn refused(field: impl Into<String>, reason: &'static str) -> Want {
    Want::Refused { field: field.into(), reason }
}

/// How a hostile write is made out of a good one.
struct Making {
    dice: Dice,
    word: String,
    act: Value,
    thread: Value,
    body: Object,
}

impl Making {
    fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.body.insert(field.into(), value.into());
    }

    /// A forbidden field, alone or beside what would be refused as well.
    fn forbidden(&mut self) -> Want {
        let field = self.dice.pick(&FORBIDDEN);
        let value = self.dice.pick(&any(&self.word));
        self.set(field, value);
        match self.dice.below(4) {
            0 => self.set(&format!("a{}", self.word), 1),
            1 => self.set("name", 7),
            2 => self.set("when", "(("),
            _ => {}
        }
        refused(field, "forbidden_field")
    }

    /// A field that no hook has, alone or beside a wrong value.
    fn unknown(&mut self) -> Want {
        let field = match self.dice.below(3) {
            0 => self.word.clone(),
            _ => self.dice.pick(&UNKNOWN).to_owned(),
        };
        let value = self.dice.pick(&any(&self.word));
        self.set(&field, value);
        match self.dice.below(4) {
            0 => self.set("text", ""),
            1 => self.set("max_fires_per_run", 0),
            _ => {}
        }
        refused(field, "unknown_field")
    }

    /// Two forbidden fields: the one that stands first in the contract is named.
    fn two_forbidden(&mut self) -> Want {
        let first = self.dice.below(FORBIDDEN.len() - 1);
        let second = first + 1 + self.dice.below(FORBIDDEN.len() - first - 1);
        let word = self.word.clone();
        self.set(FORBIDDEN[second], word.as_str());
        self.set(FORBIDDEN[first], word.as_str());
        refused(FORBIDDEN[first], "forbidden_field")
    }

    fn missing(&mut self) -> Want {
        let field = self.dice.pick(&["kind", "topic", "name", "when", "text"]);
        self.body.remove(field);
        refused(field, "missing_field")
    }

    fn wrong_type(&mut self) -> Want {
        let field = self.dice.pick(&FIELDS);
        let values = match field {
            "max_fires_per_run" => {
                let number = |value: &Value| matches!(value, Value::Number(_));
                any(&self.word).into_iter().filter(|value| !number(value)).collect()
            }
            "enabled" => {
                any(&self.word).into_iter().filter(|value| value.as_bool().is_none()).collect()
            }
            _ => no_string(&self.word),
        };
        let value = self.dice.pick(&values);
        self.set(field, value);
        refused(field, "wrong_type")
    }

    fn bad_value(&mut self) -> Want {
        let word = self.word.clone();
        let (field, value): (&str, Value) = match self.dice.below(8) {
            0 => ("name", "".into()),
            1 => ("name", word.repeat(20).into()),
            2 => ("name", format!("{word}\u{7}").into()),
            3 => ("name", self.dice.pick(&["repeat-guard", "absence-guard"]).into()),
            4 => ("text", word.repeat(600).into()),
            5 => ("text", "".into()),
            6 => ("when", format!("record.body.tool == \"{}\"", word.repeat(300)).into()),
            _ => {
                let caps = [0_i64, -1, 1001, i64::MAX, i64::MIN].map(Value::from);
                let caps = [caps.as_slice(), &[Value::from_float(2.5)]].concat();
                ("max_fires_per_run", self.dice.pick(&caps))
            }
        };
        self.set(field, value);
        refused(field, "bad_value")
    }

    fn bad_namespace(&mut self) -> Want {
        let namespaces =
            ["", "NO", "a//b", "/a", "a/", "../a", "a b", "a/b/c/d/e", "\u{430}", "*", "a."];
        let namespace = self.dice.pick(&namespaces);
        self.set("namespace", namespace);
        refused("namespace", "bad_value")
    }

    fn bad_cel(&mut self) -> Want {
        let word = self.word.clone();
        let when = match self.dice.below(8) {
            0 => format!("{word} == 1"),
            1 => format!("record.body.tool == \"{word}"),
            2 => format!("(((record.body.tool == \"{word}\""),
            3 => format!("\"{word}\""),
            4 => format!("{word}(record)"),
            5 => format!("record.body.tool == \"{word}\" && 1"),
            6 => format!("{}\"{word}\" == \"\"{}", "(".repeat(900), ")".repeat(900)),
            _ => format!("record.body.tool.matches(\"({word}\")"),
        };
        self.set("when", when);
        refused("when", "bad_cel")
    }

    fn sdk_fields(&mut self) -> Want {
        if self.dice.below(2) == 0 {
            let numbers = [2.into(), 0.into(), Value::from_float(1.5), (-1).into()];
            let value = self.dice.pick(&numbers);
            self.set("_v", value);
            return refused("_v", "bad_value");
        }
        let field = self.dice.pick(&["_v", "_refs"]);
        let value = self.dice.pick(&[Value::Null, true.into(), self.word.as_str().into()]);
        self.set(field, value);
        refused(field, "wrong_type")
    }

    fn elsewhere(&mut self) -> Want {
        if self.dice.below(2) == 0 {
            self.act = self.dice.pick(&ACTS).into();
            return refused("act", "bad_value");
        }
        self.thread = self.dice.pick(&THREADS).into();
        refused("thread", "bad_value")
    }

    /// A kind or a topic that is not the one, while the other is.
    fn half(&mut self) -> Want {
        if self.dice.below(2) == 0 {
            let kinds =
                ["core.hook.v2", "Core.Hook.V1", "core.hook.v1 ", "core.hook", "x.y.v1", ""];
            let kind = self.dice.pick(&kinds);
            self.set("kind", kind);
            return refused("kind", "bad_value");
        }
        let topic =
            self.dice.pick(&["hooks", "Hook", "HOOK", "hook ", " hook", "h\u{43e}\u{43e}k", ""]);
        self.set("topic", topic);
        refused("topic", "bad_value")
    }

    /// No hook by kind and topic, and meant as one.
    fn near(&mut self) -> Want {
        match self.dice.below(3) {
            0 => {
                let kind = self.dice.pick(&["core.hook.v2", "Core.Hook.V1", "core.hooks.v1"]);
                self.set("kind", kind);
                self.set("topic", "hooks");
                Want::Near { field: "kind" }
            }
            1 => {
                self.body.remove("kind");
                let topic = self.dice.pick(&["hooks", "Hook", " hook", "hok"]);
                self.set("topic", topic);
                Want::Near { field: "topic" }
            }
            _ => {
                self.body.remove("kind");
                self.body.remove("topic");
                Want::Near { field: "kind" }
            }
        }
    }

    fn envelope(&self, clock: usize) -> Object {
        object! {
            "act": self.act.clone(),
            "actor": "did:sync:user:vera",
            "body": self.body.clone(),
            "clock": clock,
            "thread": self.thread.clone(),
        }
    }

    /// An envelope that is none.
    fn no_envelope(&mut self, clock: usize) -> (Want, Object) {
        let mut envelope = self.envelope(clock);
        let (field, value, reason): (&str, Value, _) = match self.dice.below(7) {
            0 => ("act", "learn".into(), "bad_value"),
            1 => ("act", 1.into(), "wrong_type"),
            2 => ("clock", (-1).into(), "bad_value"),
            3 => ("clock", "0".into(), "wrong_type"),
            4 => ("parents", Value::Null, "wrong_type"),
            5 => ("body", Value::from(self.body.clone()).to_string().into(), "wrong_type"),
            _ => ("namespace", "default".into(), "unknown_field"),
        };
        envelope.insert(field.into(), value);
        (Want::NoEnvelope { field: field.into(), reason }, envelope)
    }

    /// Bytes that no value can be written as.
    fn bytes(&mut self, clock: usize) -> (Want, Vec<u8>) {
        let good = Value::from(self.envelope(clock)).to_string();
        let word = self.word.as_str();
        let bytes = match self.dice.below(7) {
            0 => good.replace("\"enabled\":true", "\"enabled\":true,\"enabled\":false"),
            // The same key, spelt in another way.
            1 => good.replace("\"enabled\":true", "\"enabled\":true,\"\\u0065nabled\":false"),
            2 => good.replacen('{', &format!("{{\"{word}\":1,\"{word}\":2,"), 1),
            3 => {
                let deep = format!("{}\"{word}\"{}", "[".repeat(200), "]".repeat(200));
                good.replace("\"enabled\":true", &format!("\"_refs\":{deep}"))
            }
            4 => good[..good.len() - 2].to_owned(),
            5 => good.replace("\"max_fires_per_run\":3", "\"max_fires_per_run\":1e999"),
            _ => good.replace("\"enabled\":true", "\"enabled\":true,\"priority\":\"\\ud800\""),
        };
        (Want::Unread, bytes.into_bytes())
    }

    /// A body that is larger than a door takes.
    fn huge(&mut self, clock: usize) -> (Want, Vec<u8>) {
        let text = self.word.repeat(4 * 1024 * 1024 / self.word.len() + 1);
        self.set("text", text);
        (Want::TooLarge, Value::from(self.envelope(clock)).to_string().into_bytes())
    }
}

impl Case {
    /// Makes the case with this number.
    pub(super) fn new(number: usize) -> Self {
        let seed = u64::try_from(number).expect("small");
        let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let word = format!("zq{number:05}x{:03}", dice.below(1000));
        let body = whole(&word);
        let (act, thread) = ("LEARN".into(), "th_engine_config".into());
        let mut making = Making { dice, word, act, thread, body };
        let mut wire = None;
        let mut odd = None;
        let want = match number % 20 {
            // One in 980: each of them is 4 MiB.
            0 if number.is_multiple_of(980) => {
                let (want, bytes) = making.huge(number);
                wire = Some(bytes);
                want
            }
            0..=3 => making.forbidden(),
            4..=6 => making.unknown(),
            7 => making.two_forbidden(),
            8 => making.missing(),
            9 | 10 => making.wrong_type(),
            11 => making.bad_value(),
            12 => making.bad_namespace(),
            13 => making.bad_cel(),
            14 => making.sdk_fields(),
            15 => making.elsewhere(),
            16 => making.half(),
            17 => making.near(),
            18 if making.dice.below(2) == 0 => {
                let (want, envelope) = making.no_envelope(number);
                odd = Some(envelope);
                want
            }
            18 => {
                let (want, bytes) = making.bytes(number);
                wire = Some(bytes);
                want
            }
            _ => Want::Whole,
        };
        let envelope = match &wire {
            Some(_) => None,
            None => Some(odd.unwrap_or_else(|| making.envelope(number))),
        };
        let text = || envelope.clone().map(|envelope| Value::from(envelope).to_string());
        let sent = wire.unwrap_or_else(|| text().expect("an envelope").into_bytes());
        Self { number, word: making.word, want, sent, envelope }
    }
}
