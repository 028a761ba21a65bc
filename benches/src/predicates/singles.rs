//! One predicate at a time.

use std::sync::{Arc, LazyLock};

use ::cel::{Env, Program, Value};
use regex::Regex;
use spl::predicate::{Predicate, Ruling};

use super::calls::{Call, worst};
use super::cedar::Policies;
use super::hooks::{Hook, PATTERN, Shape, word_of};
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
    hook: Hook,
    by_hand: fn(&Call) -> bool,
    target: Option<Target>,
}

const SIMPLE: Target =
    Target { what: "a simple predicate", most: 30.0, unit: "ns", ratio: Some(20.0) };
const MATCHES: Target = Target { what: "`matches`", most: 400.0, unit: "ns", ratio: Some(50.0) };

pub fn run(node: Option<&Node>, targets: &mut Targets) {
    println!("\n## Nanoseconds for one predicate (least of 15 batches)\n");
    println!("Contexts, requests and inputs made once; in brackets: made for each evaluation.\n");
    println!("| | by hand | spl | cel | cedar-policy | regorus | cel-js |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let call = worst();
    for single in singles(&call) {
        single.measure(&call, node, targets);
    }
}

fn singles(call: &Call) -> [Single; 6] {
    let hook = |shape, tool: Option<&str>| Hook {
        number: 0,
        shape,
        tool: tool.map(str::to_owned),
        word: word_of(&call.tool),
    };
    let tool = Some(call.tool.as_str());
    let single = |what, hook, by_hand| Single { what, hook, by_hand, target: None };
    [
        Single {
            target: Some(SIMPLE),
            ..single("tool and status", hook(Shape::Status, tool), |call| {
                call.tool == "tool-000" && call.status == "error"
            })
        },
        single("the same of another tool", hook(Shape::Status, Some("tool-999")), |call| {
            call.tool == "tool-999" && call.status == "error"
        }),
        single("tool, status and `contains`", hook(Shape::StatusAndWord, tool), |call| {
            call.tool == "tool-000"
                && call.status == "error"
                && call.content.contains("cannot open tool-000.lock")
        }),
        Single {
            target: Some(MATCHES),
            ..single("`matches`", hook(Shape::Pattern, None), |call| {
                static COMPILED: LazyLock<Regex> =
                    LazyLock::new(|| Regex::new(PATTERN).expect("a pattern"));
                COMPILED.is_match(&call.content)
            })
        },
        single("`trust`", hook(Shape::Trust, None), |call| call.trust < 0.5),
        single("`has` and `startsWith`", hook(Shape::Argument, None), |call| {
            let path = call.args.get("path").and_then(|path| path.as_str());
            path.is_some_and(|path| path.starts_with("/etc"))
        }),
    ]
}

impl Single {
    fn measure(&self, call: &Call, node: Option<&Node>, targets: &mut Targets) {
        let source = self.hook.cel();
        let predicates: Vec<Predicate> = copies(|| spl_set::compile(&source));
        let env = Arc::new(Env::stdlib());
        let programs: Vec<Program> = copies(|| cel::compile(&env, &source));
        let (facts, context) = (call.facts(), cel::context(&env, call));
        let policies = self.hook.cedar().map(|cedar| Policies::of([(0, cedar)]));
        let request = policies.as_ref().map(|policies| policies.request(call));
        let mut rules = [(); 2].map(|()| Rules::of(&self.hook.rego()));
        rules[0].set_input(input(call));
        let [once, each] = &mut rules;
        let holds = (self.by_hand)(call);
        let ruling = if holds { Ruling::Holds } else { Ruling::DoesNotHold };
        let want = Ok(Value::Bool(holds));
        let mut works: Vec<Work<'_>> = vec![
            turns(|_| (self.by_hand)(std::hint::black_box(call)) == holds),
            turns(|at| predicates[at].holds(std::hint::black_box(&facts)) == ruling),
            turns(|at| programs[at].execute(&context) == want),
            turns(|at| programs[at].execute(&cel::context(&env, call)) == want),
            turns(|_| found(|hits| once.ask(hits)) == holds),
            turns(|_| {
                each.set_input(input(call));
                found(|hits| each.ask(hits)) == holds
            }),
        ];
        if let (Some(policies), Some(request)) = (&policies, &request) {
            works.push(turns(|_| found(|hits| policies.ask(request, hits)) == holds));
            works.push(turns(|_| {
                found(|hits| policies.ask(&policies.request(call), hits)) == holds
            }));
        }
        let got = nanos(works);
        let js = node.map(|node| {
            let copies = vec![source.clone(); COPIES];
            let answer = node.ask(&copies, std::slice::from_ref(call)).expect("an answer");
            assert_eq!(answer.hits[0].len(), if holds { COPIES } else { 0 }, "cel-js");
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
