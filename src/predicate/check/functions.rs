//! The functions that an expression may call, and how each is carried out.

use super::bindings::{Names, TASK};
use super::types::Type;

/// A function with one list of parameters. Several may share a name.
pub(in crate::predicate) struct Function {
    pub(in crate::predicate) name: &'static str,
    pub(in crate::predicate) form: Form,
    /// What each argument may be; the target of a method comes first.
    pub(in crate::predicate) takes: &'static [Takes],
    pub(in crate::predicate) gives: Type,
    pub(in crate::predicate) plan: Plan,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::predicate) enum Form {
    /// `f(x)`
    Function,
    /// `x.f()`
    Method,
    /// Both.
    Either,
}

/// The types that an argument may have; none is all of them.
type Takes = &'static [Type];

/// How a function is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::predicate) enum Plan {
    /// By a metered function of ours with this name.
    Own(&'static str),
    /// By the evaluator's own, whose text arguments count as built.
    Converts,
    /// By the evaluator's own; it does little, whatever it is given.
    Free,
    /// By looking up this fact.
    Fact(&'static str),
    /// By looking up this fact and indexing it with the arguments.
    Ask(&'static str),
    /// By searching for a pattern that was compiled when the expression was.
    Matches,
    /// Not at all: there is no such function, which shows when it is evaluated.
    Absent,
}

const ANY: Takes = &[];
const TEXT: Takes = &[Type::Text];
const SIZED: Takes = &[Type::Text, Type::Bytes, Type::List, Type::Map];
const NUMBERS: [Type; 4] = [Type::Int, Type::Uint, Type::Double, Type::Text];
const WHEN: Takes = &[Type::Timestamp];
const WHEN_OR_LONG: Takes = &[Type::Timestamp, Type::Duration];

const fn row(
    name: &'static str,
    form: Form,
    takes: &'static [Takes],
    gives: Type,
    plan: Plan,
) -> Function {
    Function { name, form, takes, gives, plan }
}

macro_rules! of_time {
    ($name:literal, $takes:ident) => {
        of_time!($name, $takes, Plan::Free)
    };
    ($name:literal, $takes:ident, $plan:expr) => {
        [
            row($name, Form::Method, &[$takes], Type::Int, $plan),
            row($name, Form::Method, &[WHEN, TEXT], Type::Int, Plan::Converts),
        ]
    };
}

static STANDARD: &[Function] = &[
    row("size", Form::Either, &[SIZED], Type::Int, Plan::Own("@size")),
    row("contains", Form::Method, &[TEXT, TEXT], Type::Bool, Plan::Own("@contains")),
    row("startsWith", Form::Method, &[TEXT, TEXT], Type::Bool, Plan::Own("@starts_with")),
    row("endsWith", Form::Method, &[TEXT, TEXT], Type::Bool, Plan::Own("@ends_with")),
    row("matches", Form::Either, &[TEXT, TEXT], Type::Bool, Plan::Matches),
    row(
        "string",
        Form::Function,
        &[&[
            Type::Text,
            Type::Bool,
            Type::Int,
            Type::Uint,
            Type::Double,
            Type::Bytes,
            Type::Timestamp,
            Type::Duration,
        ]],
        Type::Text,
        Plan::Converts,
    ),
    row(
        "int",
        Form::Function,
        &[&[Type::Int, Type::Uint, Type::Double, Type::Text, Type::Timestamp]],
        Type::Int,
        Plan::Converts,
    ),
    row("uint", Form::Function, &[&NUMBERS], Type::Uint, Plan::Converts),
    row("double", Form::Function, &[&NUMBERS], Type::Double, Plan::Converts),
    row("bool", Form::Function, &[&[Type::Bool, Type::Text]], Type::Bool, Plan::Converts),
    row("bytes", Form::Function, &[&[Type::Text, Type::Bytes]], Type::Bytes, Plan::Converts),
    row("dyn", Form::Function, &[ANY], Type::Dyn, Plan::Free),
    row("type", Form::Function, &[ANY], Type::Meta, Plan::Free),
    row(
        "timestamp",
        Form::Function,
        &[&[Type::Text, Type::Timestamp, Type::Int]],
        Type::Timestamp,
        Plan::Own("@timestamp"),
    ),
    row(
        "duration",
        Form::Function,
        &[&[Type::Text, Type::Duration]],
        Type::Duration,
        Plan::Converts,
    ),
];

static OF_TIME: &[[Function; 2]] = &[
    of_time!("getFullYear", WHEN),
    of_time!("getMonth", WHEN),
    of_time!("getDate", WHEN),
    of_time!("getDayOfMonth", WHEN),
    of_time!("getDayOfWeek", WHEN),
    of_time!("getDayOfYear", WHEN),
    of_time!("getHours", WHEN_OR_LONG),
    of_time!("getMinutes", WHEN_OR_LONG),
    of_time!("getSeconds", WHEN_OR_LONG),
    of_time!("getMilliseconds", WHEN_OR_LONG, Plan::Own("@milliseconds")),
];

static OF_FACTS: &[Function] = &[
    row("current_actor", Form::Function, &[], Type::Text, Plan::Fact("@current_actor")),
    row("current_namespace", Form::Function, &[], Type::Text, Plan::Fact("@current_namespace")),
    row("now", Form::Function, &[], Type::Int, Plan::Fact("@now")),
    row("trust", Form::Function, &[TEXT, TEXT], Type::Double, Plan::Ask("@trust")),
    row("trust_count", Form::Function, &[TEXT, TEXT], Type::Int, Plan::Ask("@trust_count")),
    row("task", Form::Function, &[TEXT], Type::Shape(&TASK), Plan::Ask("@task")),
    row("fanout_status", Form::Function, &[TEXT], Type::Text, Plan::Ask("@fanout_status")),
    row("fleet_frozen_namespaces", Form::Function, &[], Type::List, Plan::Fact("@nothing")),
    row("fleet_hard_frozen_past_grace", Form::Function, &[], Type::List, Plan::Fact("@nothing")),
    row("fleet_emergency_active", Form::Function, &[], Type::Bool, Plan::Fact("@no")),
];

/// Returns every function that goes with `names`: where there are facts, those of facts too.
pub(in crate::predicate) fn of(names: &Names) -> impl Iterator<Item = &'static Function> + use<> {
    let of_facts = match names {
        Names::Of(_) => OF_FACTS,
        Names::Declared(_) => &[],
    };
    STANDARD.iter().chain(OF_TIME.iter().flatten()).chain(of_facts)
}

/// The macros, which the parser has already written out as loops where they were called rightly.
pub(in crate::predicate) const MACROS: &[(&str, &str)] = &[
    ("all", "list.all(x, condition)"),
    ("exists", "list.exists(x, condition)"),
    ("exists_one", "list.exists_one(x, condition)"),
    ("existsOne", "list.existsOne(x, condition)"),
    ("filter", "list.filter(x, condition)"),
    ("has", "has(record.body.args.path)"),
    ("map", "list.map(x, expression)"),
];

impl Function {
    /// Tells whether the function may be called like this, arguments aside.
    pub(in crate::predicate) fn fits(&self, method: bool, arguments: usize) -> bool {
        let form = match self.form {
            Form::Function => !method,
            Form::Method => method,
            Form::Either => true,
        };
        form && self.takes.len() == arguments
    }

    /// Returns the first argument whose type is not taken.
    pub(in crate::predicate) fn clash(&self, given: &[Type]) -> Option<usize> {
        let taken = |(takes, given): (&Takes, &Type)| {
            takes.is_empty() || takes.iter().any(|wanted| given.may_be(*wanted))
        };
        self.takes.iter().zip(given).position(|pair| !taken(pair))
    }
}
