//! One predicate at a time.

use std::sync::Arc;

use ::cel::{Env, Program, Value};
use regex::Regex;
use spl::predicate::{Predicate, Ruling};

use super::calls::{Call, worst};
use super::cedar::Policies;
use super::hooks::{PATTERN, word_of};
use super::measure::{Work, nanos};
use super::node::Node;
use super::rego::{Rules, input};
use super::targets::{Target, Targets};
use super::{cel, spl_set};

/// So many copies of a predicate take turns, so that no cache knows it by heart.
const COPIES: usize = 1_000;

/// Of how many evaluations one batch is made at least.
const A_TURN: usize = 1_000;

/// A predicate in each language, and by hand.
struct Single {
    what: &'static str,
    cel: String,
    cedar: Option<String>,
    rego: String,
    by_hand: Box<dyn Fn(&Call) -> bool>,
    holds: bool,
    target: Option<Target>,
}

const SIMPLE: Target =
    Target { what: "a simple predicate", most: 30.0, unit: "ns", ratio: Some(20.0) };
const MATCHES: Target = Target { what: "`matches`", most: 400.0, unit: "ns", ratio: Some(50.0) };

pub fn run(node: Option<&Node>, targets: &mut Targets) {
    println!("\n## Nanoseconds for one predicate that holds (least of 15 batches)\n");
    println!("Contexts, requests and inputs made once; in brackets: made for each evaluation.\n");
    println!("| | by hand | spl | cel | cedar-policy | regorus | cel-js |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let call = worst();
    for single in singles(&call.tool) {
        single.measure(&call, node, targets);
    }
}

fn singles(tool: &str) -> Vec<Single> {
    let word = word_of(tool);
    let is =
        |tool: &str| format!("record.body.tool == \"{tool}\" && record.body.status == \"error\"");
    let allow =
        |condition: &str| format!("permit(principal, action, resource) when {{ {condition} }};");
    let equal =
        |tool: &str| allow(&format!("context.tool == \"{tool}\" && context.status == \"error\""));
    let rule = |condition: &str| format!("hits contains 0 if {{ {condition} }}\n");
    let same = |tool: &str| rule(&format!("input.tool == \"{tool}\"; input.status == \"error\""));
    let named = |tool: &str| {
        let tool = tool.to_owned();
        move |call: &Call| call.tool == tool && call.status == "error"
    };
    let regex = Regex::new(PATTERN).expect("a pattern");
    let both = named(tool);
    vec![
        Single {
            what: "tool and status",
            cel: is(tool),
            cedar: Some(equal(tool)),
            rego: same(tool),
            by_hand: Box::new(named(tool)),
            holds: true,
            target: Some(SIMPLE),
        },
        Single {
            what: "the same for another tool",
            cel: is("tool-999"),
            cedar: Some(equal("tool-999")),
            rego: same("tool-999"),
            by_hand: Box::new(named("tool-999")),
            holds: false,
            target: None,
        },
        Single {
            what: "tool, status and `contains`",
            cel: format!("{} && record.body.content.contains(\"{word}\")", is(tool)),
            cedar: Some(allow(&format!(
                "context.tool == \"{tool}\" && context.status == \"error\" \
                 && context.content like \"*{word}*\""
            ))),
            rego: rule(&format!(
                "input.tool == \"{tool}\"; input.status == \"error\"; \
                 contains(input.content, \"{word}\")"
            )),
            by_hand: Box::new(move |call| both(call) && call.content.contains(&word)),
            holds: true,
            target: None,
        },
        Single {
            what: "`matches`",
            cel: format!("record.body.content.matches(\"{PATTERN}\")"),
            cedar: None,
            rego: rule(&format!("regex.match(`{PATTERN}`, input.content)")),
            by_hand: Box::new(move |call| regex.is_match(&call.content)),
            holds: true,
            target: Some(MATCHES),
        },
        Single {
            what: "`trust`",
            cel: "trust(current_actor(), \"code\") < 0.5".to_owned(),
            cedar: Some(allow("context.trust_per_mille < 500")),
            rego: rule("input.trust < 0.5"),
            by_hand: Box::new(|call| call.trust < 0.5),
            holds: true,
            target: None,
        },
        Single {
            what: "`has` and `startsWith`",
            cel: "has(record.body.args.path) && record.body.args.path.startsWith(\"/etc\")"
                .to_owned(),
            cedar: Some(allow("context.args has path && context.args.path like \"/etc*\"")),
            rego: rule("startswith(input.args.path, \"/etc\")"),
            by_hand: Box::new(|call| {
                let path = call.args.get("path").and_then(|path| path.as_str());
                path.is_some_and(|path| path.starts_with("/etc"))
            }),
            holds: true,
            target: None,
        },
    ]
}

impl Single {
    fn measure(&self, call: &Call, node: Option<&Node>, targets: &mut Targets) {
        let predicates: Vec<Predicate> = copies(|| spl_set::compile(&self.cel));
        let env = Arc::new(Env::stdlib());
        let programs: Vec<Program> = copies(|| cel::compile(&env, &self.cel));
        let (facts, context) = (call.facts(), cel::context(&env, call));
        let policies = self.cedar.clone().map(|cedar| Policies::of([(0, cedar)]));
        let request = policies.as_ref().map(|policies| policies.request(call));
        let mut rules = [Rules::of(&self.rego), Rules::of(&self.rego)];
        rules[0].set_input(input(call));
        let [once, each] = &mut rules;
        let ruling = if self.holds { Ruling::Holds } else { Ruling::DoesNotHold };
        let want = Ok(Value::Bool(self.holds));
        let mut works: Vec<Work<'_>> = vec![
            turns(|_| (self.by_hand)(std::hint::black_box(call)) == self.holds),
            turns(|at| predicates[at].holds(std::hint::black_box(&facts)) == ruling),
            turns(|at| programs[at].execute(&context) == want),
            turns(|at| programs[at].execute(&cel::context(&env, call)) == want),
            turns(|_| found(|hits| once.ask(hits)) == self.holds),
            turns(|_| {
                each.set_input(input(call));
                found(|hits| each.ask(hits)) == self.holds
            }),
        ];
        if let (Some(policies), Some(request)) = (&policies, &request) {
            works.push(turns(|_| found(|hits| policies.ask(request, hits)) == self.holds));
            works.push(turns(|_| {
                found(|hits| policies.ask(&policies.request(call), hits)) == self.holds
            }));
        }
        let got = nanos(works);
        let js = node.map(|node| {
            let copies = vec![self.cel.clone(); COPIES];
            let answer = node.ask(&copies, std::slice::from_ref(call)).expect("an answer");
            assert_eq!(answer.hits[0].len(), if self.holds { COPIES } else { 0 }, "cel-js");
            answer.nanos / COPIES as f64
        });
        let pair = |at: usize| match (got.get(at), got.get(at + 1)) {
            (Some(once), Some(each)) => format!("{once:.0} ({each:.0})"),
            _ => "cannot".to_owned(),
        };
        let js = js.map_or_else(String::new, |js| format!("{js:.0}"));
        let (what, hand, ours) = (self.what, got[0], got[1]);
        println!(
            "| {what} | {hand:.1} | {ours:.0} | {} | {} | {} | {js} |",
            pair(2),
            pair(6),
            pair(4)
        );
        if let Some(target) = &self.target {
            targets.note(target, ours, Some(got[2]));
        }
    }
}

fn copies<T>(make: impl FnMut() -> T) -> Vec<T> {
    std::iter::repeat_with(make).take(COPIES).collect()
}

fn found(ask: impl FnOnce(&mut Vec<usize>)) -> bool {
    let mut hits = Vec::new();
    ask(&mut hits);
    !hits.is_empty()
}

/// Evaluates each of the copies in turn, and wants what is right of all.
fn turns<'w>(mut right: impl FnMut(usize) -> bool + 'w) -> Work<'w> {
    Box::new(move || {
        for at in 0..A_TURN {
            assert!(right(at % COPIES));
        }
        A_TURN
    })
}
