//! Blueprints: a whole one or a refusal that names a field; signed or not; and what nobody vouches for
//! brings content alone.

use std::sync::LazyLock;

use spl::blueprint::{Blueprint, BlueprintError, BlueprintSet, Sort, Vouched, plan};
use spl::canon::Value;
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, Scopes};
use spl::identity::KeyPair;
use spl::record::{Act, ActorId};
use spl::time::Timestamp;

/// Where plans are made. Nothing is ever written there.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::in_memory().expect("an engine"));

/// Checks a file that means to be a blueprint.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let blueprint = match Blueprint::parse(bytes) {
        Ok(blueprint) => blueprint,
        Err(error) => {
            named(&error);
            return false;
        }
    };
    read_back(&blueprint);
    // A signature that is not one over it refuses it.
    let unsigned = {
        let mut object = blueprint.to_object();
        object.remove("signature");
        Blueprint::read(object.into()).expect("it is whole without its signature")
    };
    assert_eq!(unsigned.hash(), blueprint.hash());
    let signed = unsigned.clone().sign(&KeyPair::from_seed(&[7; 32]), Timestamp::from_millis(0));
    read_back(&signed);
    match BlueprintSet::assemble(unsigned, Vec::new()) {
        Ok(set) => {
            let other = BlueprintSet::assemble(signed, Vec::new()).expect("it is signed");
            assert_eq!(set.plan_hash(), other.plan_hash());
            planned(&set);
        }
        Err(error) => named(&error),
    }
    true
}

fn read_back(blueprint: &Blueprint) {
    let text = Value::from(blueprint.to_object()).to_string();
    let again = Blueprint::parse(text.as_bytes()).expect("what was read is read back");
    assert_eq!(again, *blueprint);
}

fn planned(set: &BlueprintSet) {
    let by = ActorId::parse("did:sync:agent:clerk").expect("an actor");
    let bearer = Caller::bearer(Scopes::parse("records:write,config:write").expect("scopes"));
    let configures =
        set.seeds().iter().any(|it| it.seed.thread.is_config() || it.seed.sort() != Sort::Content);
    for caller in [Caller::operator(), bearer] {
        let plan = plan(&ENGINE, &caller, &by, set).expect("a plan");
        assert_eq!(plan.hash, set.plan_hash());
        if let Some(error) = &plan.refused {
            if error.code() != Code::ConfigWriteDenied {
                named(error);
            }
            continue;
        }
        let by_somebody = matches!(plan.vouched, Vouched::By(_));
        assert!(!configures || (caller.is_operator() && by_somebody));
        if matches!(plan.vouched, Vouched::Nobody(_)) {
            for planned in &plan.seeds {
                let seed = &planned.placed.seed;
                assert!(matches!(seed.act, Act::Know | Act::Put), "{seed:?}");
                assert!(!seed.thread.is_reserved(), "{seed:?}");
                assert!(seed.text("kind").is_none_or(|it| !it.starts_with("core.")), "{seed:?}");
                for field in ["topic", "verdict", "fulfills", "cancels", "judged_by"] {
                    assert!(!seed.body.contains_key(field), "{seed:?}");
                }
                assert!(seed.actor.as_ref().is_none_or(|it| !it.is_system()), "{seed:?}");
            }
        }
    }
    assert_eq!(ENGINE.store().read(|reader| reader.last()).expect("read").get(), 0);
}

fn named(error: &BlueprintError) {
    assert!(!error.to_string().is_empty());
    assert!(error.to_string().chars().count() < 2000, "{error}");
    if error.code() == Code::BlueprintRefused {
        assert!(error.field().is_some(), "{error}");
    }
}
