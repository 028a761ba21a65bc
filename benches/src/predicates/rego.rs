//! Regorus: a rule for each hook in one policy, which puts its number into a set.

use regorus::{Engine, Value};

use super::calls::Call;
use super::hooks::Hook;
use super::rival::Loaded;

const RULE: &str = "data.hooks.hits";

/// A policy.
pub struct Rules(Engine);

pub fn load(hooks: &[Hook]) -> Box<dyn Loaded> {
    Box::new(Rules::of(&hooks.iter().map(Hook::rego).collect::<String>()))
}

impl Rules {
    pub fn of(rules: &str) -> Self {
        let mut engine = Engine::new();
        let policy = format!("package hooks\nimport rego.v1\n{rules}");
        engine.add_policy("hooks.rego".to_owned(), policy).expect("a policy");
        // What can be prepared is, at the first question.
        engine.set_input(Value::new_object());
        engine.eval_rule(RULE.to_owned()).expect("a result");
        Self(engine)
    }

    /// Sets what the rules are asked about.
    pub fn set_input(&mut self, input: Value) {
        self.0.set_input(input);
    }

    /// Puts the numbers of the rules that hold of the input into `hits`.
    pub fn ask(&mut self, hits: &mut Vec<usize>) {
        let found = self.0.eval_rule(RULE.to_owned()).expect("a result");
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        hits.extend(found.as_set().expect("a set").iter().map(number));
    }
}

/// Returns the input that a call is.
pub fn input(call: &Call) -> Value {
    let args = object([("command", "make -j2 all".into()), ("path", call.path.as_str().into())]);
    object([
        ("tool", call.tool.as_str().into()),
        ("status", call.status.into()),
        ("content", call.content.as_str().into()),
        ("args", args),
        ("trust", Value::from(call.trust)),
    ])
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut object = Value::new_object();
    let inner = object.as_object_mut().expect("an object");
    for (key, value) in members {
        inner.insert(key.into(), value);
    }
    object
}

impl Loaded for Rules {
    fn ask(&mut self, call: &Call, hits: &mut Vec<usize>) {
        self.set_input(input(call));
        Self::ask(self, hits);
    }
}
