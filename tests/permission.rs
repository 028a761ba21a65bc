//! Permission rules: their order, against a model that is too simple to be wrong, and its laws.

use std::sync::Arc;

use proptest::prelude::*;
use spl::object;
use spl::permission::{Action, PermissionRule, RuleSet, Ruled, Ruling, rule};
use spl::predicate::{BodyFacts, ExpressionCache, Facts, RecordFacts, SystemFacts};
use spl::record::{Act, ActorId, Draft, Namespace, ThreadId};
use spl::trust::Standing;

/// A line of descent, and a namespace beside it.
const SPACES: [&str; 4] = ["default", "acme", "acme/site", "other"];

/// How many of them are on the line.
const LINE: usize = 3;

/// What a predicate says of the call that everything here is asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Yes,
    No,
    Fails,
}

impl Says {
    const fn expression(self) -> &'static str {
        match self {
            Self::Yes => "resource == 'tool:bash'",
            Self::No => "resource == 'tool:read_file'",
            Self::Fails => "record.body.args.missing == 1",
        }
    }
}

#[derive(Debug, Clone)]
struct Written {
    space: usize,
    name: String,
    priority: i64,
    action: Action,
    says: Says,
}

impl Written {
    fn check(&self, expressions: &ExpressionCache) -> Arc<PermissionRule> {
        let body = object! {
            "action": self.action.as_str(),
            "expression": self.says.expression(),
            "name": self.name.as_str(),
            "namespace": SPACES[self.space],
            "priority": self.priority,
            "topic": "permission_rule",
        };
        let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
        Arc::new(PermissionRule::check(&draft, expressions).expect("a rule"))
    }
}

fn arb_rule() -> impl Strategy<Value = Written> {
    let says = prop_oneof![3 => Just(Says::Yes), 2 => Just(Says::No), 1 => Just(Says::Fails)];
    let action = prop_oneof![Just(Action::Allow), Just(Action::Deny)];
    (0..SPACES.len(), 0..6_usize, -2..3_i64, action, says).prop_map(
        |(space, name, priority, action, says)| Written {
            space,
            name: format!("r{name}"),
            priority,
            action,
            says,
        },
    )
}

/// Rules of which no two have one key.
fn arb_rules() -> impl Strategy<Value = Vec<Written>> {
    prop::collection::vec(arb_rule(), 0..12).prop_map(|mut rules| {
        let mut seen = std::collections::BTreeSet::new();
        rules.retain(|rule| seen.insert((rule.space, rule.name.clone())));
        rules
    })
}

fn set(rules: &[Written]) -> RuleSet {
    let expressions = ExpressionCache::default();
    let mut set = RuleSet::default();
    for rule in rules {
        set.insert(rule.check(&expressions));
    }
    set
}

fn asked(rules: &RuleSet, space: usize) -> Ruled {
    let body = object! { "args": object! {}, "tool": "bash" };
    let facts = Facts {
        record: RecordFacts {
            act: "CALL",
            actor: "did:sync:agent:clerk",
            thread: "th_run",
            data_type: "SCALAR",
            clock: 0,
            parents: &[],
            body: BodyFacts::Any(&body),
        },
        resource: "tool:bash",
        actor: "did:sync:agent:clerk",
        namespace: SPACES[space],
        trust: &Standing::default(),
        now_secs: 0,
        system: &SystemFacts::NONE,
    };
    rule(rules, &Namespace::parse(SPACES[space]).expect("a namespace"), &facts)
}

/// The order, as the documentation says it: the ruling of the namespace above first.
fn model(rules: &[Written], level: usize) -> Ruling {
    if let Some(above) = level.checked_sub(1)
        && let denied @ Ruling::Deny { rule: Some(_) } = model(rules, above)
    {
        return denied;
    }
    let mut speaking: Vec<&Written> =
        rules.iter().filter(|rule| rule.space <= level && rule.says == Says::Yes).collect();
    speaking.sort_by_key(|rule| {
        let allows = rule.action == Action::Allow;
        (-rule.priority, allows, rule.name.clone(), rule.space)
    });
    match speaking.first() {
        None => Ruling::Deny { rule: None },
        Some(rule) if rule.action == Action::Allow => Ruling::Allow { rule: rule.name.clone() },
        Some(rule) => Ruling::Deny { rule: Some(rule.name.clone()) },
    }
}

proptest! {
    #[test]
    fn the_order_is_the_documented_one(rules in arb_rules(), level in 0..LINE) {
        prop_assert_eq!(asked(&set(&rules), level).ruling, model(&rules, level));
    }

    #[test]
    fn what_no_rule_allows_is_refused(rules in arb_rules(), level in 0..LINE) {
        let silent: Vec<Written> =
            rules.into_iter().filter(|rule| rule.says != Says::Yes).collect();
        let Ruled { ruling, skipped } = asked(&set(&silent), level);
        prop_assert_eq!(ruling, Ruling::Deny { rule: None });
        // Each rule that failed is told about, and no other.
        let failing = silent.iter().filter(|rule| rule.space <= level && rule.says == Says::Fails);
        prop_assert_eq!(skipped.len(), failing.count());
    }

    #[test]
    fn one_more_refusal_never_allows_more(
        rules in arb_rules(),
        more in arb_rule(),
        level in 0..LINE,
    ) {
        let more = Written { action: Action::Deny, name: "more".into(), ..more };
        let before = asked(&set(&rules), level).ruling;
        let after = asked(&set(&[rules, vec![more]].concat()), level).ruling;
        prop_assert!(before.allows() || !after.allows(), "{before:?} became {after:?}");
    }

    #[test]
    fn a_namespace_below_undoes_no_refusal(
        rules in arb_rules(),
        below in prop::collection::vec(arb_rule(), 0..6),
    ) {
        let above: Vec<Written> = rules.into_iter().filter(|rule| rule.space == 0).collect();
        let denied = asked(&set(&above), 0).ruling;
        let below = below.into_iter().enumerate().map(|(number, rule)| Written {
            space: 1 + rule.space % 2,
            name: format!("below{number}"),
            priority: i64::MAX,
            ..rule
        });
        let all: Vec<Written> = above.into_iter().chain(below).collect();
        if matches!(denied, Ruling::Deny { rule: Some(_) }) {
            prop_assert_eq!(asked(&set(&all), 2).ruling, denied);
        }
    }

    #[test]
    fn the_order_of_arrival_says_nothing(rules in arb_rules(), level in 0..LINE) {
        let backwards: Vec<Written> = rules.iter().rev().cloned().collect();
        prop_assert_eq!(asked(&set(&rules), level), asked(&set(&backwards), level));
    }

    #[test]
    fn what_is_taken_out_again_was_never_there(
        rules in arb_rules(),
        more in arb_rule(),
        level in 0..LINE,
    ) {
        let more = Written { name: "more".into(), ..more }.check(&ExpressionCache::default());
        let mut rules = set(&rules);
        let (before, len) = (asked(&rules, level), rules.len());
        rules.insert(Arc::clone(&more));
        prop_assert_eq!(rules.len(), len + 1);
        rules.remove(&more);
        prop_assert_eq!((asked(&rules, level), rules.len()), (before, len));
    }
}

#[test]
fn a_rule_elsewhere_says_nothing_here() {
    let allow = |space| Written {
        space,
        name: "a".into(),
        priority: 0,
        action: Action::Allow,
        says: Says::Yes,
    };
    assert_eq!(asked(&set(&[allow(3)]), 1).ruling, Ruling::Deny { rule: None });
    assert!(asked(&set(&[allow(3)]), 3).ruling.allows());
    assert!(asked(&set(&[allow(0)]), 2).ruling.allows());
    // What is allowed below is not allowed above.
    assert!(!asked(&set(&[allow(2)]), 1).ruling.allows());
}

#[test]
fn a_rule_that_is_not_enabled_does_nothing() {
    let body = object! {
        "action": "allow", "enabled": false, "expression": "true", "name": "a",
        "kind": "core.permission_rule.v1",
    };
    let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
    let rule = PermissionRule::check(&draft, &ExpressionCache::default()).expect("a rule");
    let mut rules = RuleSet::default();
    rules.insert(Arc::new(rule));
    assert!(rules.is_empty());
}

#[test]
fn a_rule_that_is_none_is_refused_by_field() {
    let good = object! {
        "action": "deny", "expression": "true", "name": "n", "topic": "permission_rule",
    };
    let check = |body| {
        let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
        PermissionRule::check(&draft, &ExpressionCache::default()).map(drop)
    };
    assert_eq!(check(good.clone()), Ok(()));
    let with = |field: &str, value: spl::canon::Value| {
        let mut body = good.clone();
        body.insert(field.into(), value);
        check(body).expect_err("refused")
    };
    let without = |field: &str| {
        let mut body = good.clone();
        body.remove(field);
        check(body).expect_err("refused")
    };
    let mut said = String::new();
    for error in [
        without("name"),
        without("expression"),
        without("action"),
        with("name", "".into()),
        with("name", "a\nb".into()),
        with("name", "n".repeat(129).into()),
        with("action", "block".into()),
        with("action", true.into()),
        with("priority", "high".into()),
        with("priority", spl::canon::Value::from_float(0.5)),
        with("enabled", "no".into()),
        with("namespace", "Not/A Namespace".into()),
        with("kind", "core.permission_rule.v2".into()),
        with("topic", "rule".into()),
        with("prioriy", 1.into()),
        with("expression", "resource == ".into()),
        with("expression", "record.body.tool ==".into()),
        with("expression", "nobody_knows(1)".into()),
        with("expression", "1 + 1".into()),
    ] {
        let column = error.column.map(|column| format!(" at {column}")).unwrap_or_default();
        said.push_str(&format!("{} {}{column}: {}\n", error.field, error.reason, error.message));
    }
    insta::assert_snapshot!(said);
}
