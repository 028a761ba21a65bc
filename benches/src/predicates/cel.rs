//! The `cel` crate as its users use it: one environment for all, one context for each call, with
//! the record as a `serde` value, and every program executed.

use std::sync::Arc;

use ::cel::{Context, Env, Program, Value};
use serde::Serialize;

use super::calls::{ACTOR, Call};
use super::hooks::Hook;
use super::rival::Loaded;

#[derive(Serialize)]
struct Record<'a> {
    act: &'a str,
    actor: &'a str,
    thread: &'a str,
    data_type: &'a str,
    clock: i64,
    parents: [&'a str; 0],
    body: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    tool: &'a str,
    args: Arguments<'a>,
    status: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct Arguments<'a> {
    command: &'a str,
    path: &'a str,
}

struct Programs {
    env: Arc<Env>,
    programs: Vec<(usize, Program)>,
}

pub fn load(hooks: &[Hook]) -> Box<dyn Loaded> {
    let env = Arc::new(Env::stdlib());
    let keyed = |hook: &Hook| (hook.number, compile(&env, &hook.cel()));
    let programs = hooks.iter().map(keyed).collect();
    Box::new(Programs { env, programs })
}

pub fn compile(env: &Env, source: &str) -> Program {
    env.compile(source).expect(source)
}

/// Returns the context of one call.
pub fn context(env: &Arc<Env>, call: &Call) -> Context<'static, 'static> {
    let record = Record {
        act: "CALL",
        actor: ACTOR,
        thread: "th_run",
        data_type: "SCALAR",
        clock: 7,
        parents: [],
        body: Body {
            tool: &call.tool,
            args: Arguments { command: "make -j2 all", path: &call.path },
            status: call.status,
            content: &call.content,
        },
    };
    let mut context = Context::with_env(Arc::clone(env));
    context.add_variable("record", record).expect("a variable");
    let trust = call.trust;
    let score = move |_actor: Arc<String>, _domain: Arc<String>| trust;
    context.add_function("trust", score).expect("a name of its own");
    context.add_function("current_actor", || ACTOR.to_owned()).expect("a name of its own");
    context
}

impl Loaded for Programs {
    fn ask(&mut self, call: &Call, hits: &mut Vec<usize>) {
        let context = context(&self.env, call);
        for (number, program) in &self.programs {
            if program.execute(&context) == Ok(Value::Bool(true)) {
                hits.push(*number);
            }
        }
    }
}
