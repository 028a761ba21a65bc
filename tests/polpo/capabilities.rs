//! What a host says that it can do.

use serde_json::Value;
use spl::engine::Settings;
use spl::policy::polpo::Runtime;

use crate::cases::{Host, cases};

fn said(config: &str, kill_switch: Option<&str>) -> Value {
    let settings = Settings::parse(config).expect(config);
    let runtime = Runtime::new(&settings.runtime, kill_switch);
    let text = spl::canon::Value::from(runtime.capabilities()).to_string();
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn every_case_says_what_it_says() {
    let mut seen = 0;
    for case in cases() {
        for Host { config, kill_switch, expect } in case.capabilities {
            let said = said(&config, kill_switch.as_deref());
            for (pointer, wanted) in expect {
                seen += 1;
                assert_eq!(said.pointer(&pointer), Some(&wanted), "{} {pointer}", case.id);
            }
        }
    }
    assert!(seen > 5);
}

#[test]
fn the_whole_object_is_the_one_of_the_contract() {
    let config = "[runtime]\nmanaged = true";
    insta::assert_snapshot!(serde_json::to_string_pretty(&said(config, None)).expect("text"));
}
