//! The third door: each hostile hook inside of a blueprint, beside one with nothing wrong with it.

use spl::blueprint::{Blueprint, BlueprintSet};
use spl::canon::{Object, Value, hex};
use spl::identity::KeyPair;
use spl::object;
use spl::time::Timestamp;

use super::case::{Case, Want};
use super::{Doors, Said, Who, all, hooks_loaded, said};

/// Returns the seed that a case is, and nothing of those that only bytes can be.
fn seed(case: &Case) -> Option<Object> {
    let mut seed = case.envelope.clone()?;
    // A seed has no clock; one that is to be wrong stays.
    if !matches!(&case.want, Want::NoEnvelope { field, .. } if field == "clock") {
        seed.remove("clock");
    }
    Some(seed)
}

/// Returns the request to install it, signed by the operator unless what is wrong is that nobody is
/// trusted with it.
fn request(case: &Case, key: &KeyPair) -> Option<String> {
    let good = seed(&Case::new(19)).expect("a seed");
    let blueprint = object! {
        "author": "did:web:orchard.example",
        "format": 1,
        "name": "orchard",
        "object": "blueprint",
        "seeds": vec![good, seed(case)?],
        "version": "1.0.0",
    };
    let mut blueprint = Value::from(blueprint);
    if case.want != Want::Whole
        && let Ok(read) = Blueprint::read(blueprint.clone())
    {
        let now = Timestamp::from_millis(1_796_000_000_000);
        blueprint = read.sign(key, now).to_object().into();
    }
    let plan = BlueprintSet::read(blueprint.clone(), Vec::new()).map(|set| hex(&set.plan_hash()));
    let request = object! {
        "accept_plan": plan.unwrap_or_else(|_| "0".repeat(64)),
        "actor": "did:sync:user:vera",
        "blueprint": blueprint,
    };
    Some(Value::from(request).to_string())
}

/// What the contract has this door say to this caller (§7.6).
fn expected(who: Who, want: &Want) -> Said {
    let refused = |field: &str, reason: &str| {
        (422, "BLUEPRINT_REFUSED".to_owned(), Some(field.to_owned()), Some(reason.to_owned()))
    };
    let bare = |status: u16, code: &str| (status, code.to_owned(), None, None);
    match (who, want) {
        (Who::Nobody, _) => bare(401, "AUTH_REQUIRED"),
        (Who::Reader, _) => bare(403, "SCOPE_FORBIDDEN"),
        // A seed is read before anybody is asked what it is.
        (_, Want::NoEnvelope { field, .. }) if matches!(field.as_str(), "clock" | "parents") => {
            refused(&format!("seeds[1].{field}"), "unknown_field")
        }
        (_, Want::NoEnvelope { field, reason }) => refused(&format!("seeds[1].{field}"), reason),
        _ if !who.is_operator() => bare(403, "CONFIG_WRITE_DENIED"),
        (_, Want::Refused { field, reason }) if *reason == "bad_value" && is_outside(field) => {
            refused(&format!("seeds[1].{field}"), reason)
        }
        (_, Want::Refused { field, reason }) => refused(&format!("seeds[1].body.{field}"), reason),
        // It configures, and is neither a hook nor a rule.
        (_, Want::Near { .. }) => refused("seeds[1].thread", "bad_value"),
        // Nobody vouches for it, and the first seed is no content.
        (_, Want::Whole) => refused("seeds[0].act", "bad_value"),
        (_, Want::Unread | Want::TooLarge) => unreachable!("such a case has no seed"),
    }
}

fn is_outside(field: &str) -> bool {
    matches!(field, "act" | "thread")
}

/// Whose turn it is: whoever may install it all, for a hook with nothing wrong with it that nobody
/// vouches for.
fn turn(case: &Case) -> Who {
    let who = Who::of(case);
    let swaps = case.want == Want::Whole && (case.number / 20).is_multiple_of(2);
    if swaps { Who::OPERATORS[case.number / 40 % Who::OPERATORS.len()] } else { who }
}

#[test]
fn a_blueprint_lands_none_of_them() {
    let doors = Doors::open();
    let seed = std::fs::read(doors.server.home.operator_key_path()).expect("a key");
    let key = KeyPair::from_seed(&seed.try_into().expect("a seed"));
    all(|case| {
        let Some(request) = request(case, &key) else { return };
        let who = turn(case);
        let reply = doors.request(who, "/v1/blueprints/materialize").json(&request).send();
        let about = format!("{} by {who:?}: {:?}", case.number, case.want);
        assert_eq!(said(&reply), expected(who, &case.want), "{about}\n{}", reply.text());
        if !who.is_operator() {
            let text = reply.text();
            assert!(!text.contains(&case.word), "{about}\n{text}");
        }
        if case.number.is_multiple_of(100) {
            assert_eq!(hooks_loaded(&doors.server.engine), 0, "{about}");
        }
    });
    let engine = &doors.server.engine;
    assert_eq!(hooks_loaded(engine), 0);
    let config = spl::record::ThreadId::config();
    let last = engine.store().read(|reader| reader.last_of_thread(config.as_str()));
    assert_eq!(last.expect("read").get(), 0, "all of a blueprint or nothing of it");
}
