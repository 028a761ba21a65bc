//! Packs of policy hooks: a whole one, or findings that name a place and repeat no secret.

use std::collections::BTreeSet;
use std::sync::Arc;

use spl::canon::Value;
use spl::policy::polpo::{
    Assigned, Event, GateLimits, HandlerSpec, Invocation, Mode, Pack, PackName, Scope, Surface,
    read_assignment, read_pack, read_pack_value, select,
};
use spl::secret::find;

/// Checks a file that means to be a pack, or the one that assigns packs to an agent.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let native = ["web_search".to_owned()];
    let name = PackName::parse("quality").expect("a name");
    let reading = read_pack(&name, bytes, &native);
    let refused = reading.findings.iter().any(|finding| finding.is_error());
    assert_eq!(reading.pack.is_none(), refused);
    for finding in &reading.findings {
        assert!(finding.path.starts_with('$'), "{finding}");
        let said = finding.to_string();
        assert!(said.chars().count() < 10_000, "{said}");
        assert!(find(&finding.message).next().is_none(), "{said}");
        assert!(find(&finding.path).next().is_none(), "{said}");
    }
    assigned(bytes);
    let Some(pack) = reading.pack else { return false };
    let value = Value::from(pack.written.clone());
    let again = read_pack_value(&name, &value, &native);
    assert_eq!(again.pack.as_ref(), Some(&pack));
    assert_eq!(again.findings, reading.findings);
    let text = read_pack(&name, value.to_string().as_bytes(), &native);
    assert_eq!(text.pack.map(|pack| pack.sha256), Some(pack.sha256));
    strict(&pack);
    selected(pack);
    true
}

fn assigned(bytes: &[u8]) {
    let (names, findings) = read_assignment(bytes, &|name| name == "quality");
    let distinct: BTreeSet<&PackName> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    for finding in &findings {
        assert!(find(&finding.to_string()).next().is_none(), "{finding}");
    }
}

fn strict(pack: &Pack) {
    assert!((1..=64).contains(&pack.hooks.len()));
    let ids: BTreeSet<&str> = pack.hooks.iter().map(|hook| hook.id.as_str()).collect();
    assert_eq!(ids.len(), pack.hooks.len());
    for hook in &pack.hooks {
        assert!((-1000..=1000).contains(&hook.priority));
        assert!((1..=600_000).contains(&hook.timeout(true).as_millis()));
        assert!(hook.event.is_of_a_tool() || hook.matcher.tools.is_empty());
        if let Some(gate) = hook.gate {
            assert_eq!((hook.event, hook.mode), (Event::TurnStop, Mode::Control));
            assert!(hook.handler.kind().is_deterministic());
            assert_eq!(gate.tighter(GateLimits::MOST), gate);
            assert!(gate.max_cycles > 0 && gate.max_duration_ms > 0 && gate.max_tokens > 0);
        }
        if let HandlerSpec::Http(http) = &hook.handler {
            assert!(http.url.starts_with("https://"), "{}", http.url);
            for host in ["localhost", "127.", "10.", "[::1]", "169.254."] {
                assert!(!http.url[8..].starts_with(host), "{}", http.url);
            }
            assert!(!http.headers.contains_key("authorization"));
        }
    }
}

/// Each hook that an event is for is asked once, in order.
fn selected(pack: Pack) {
    let pack = Arc::new(pack);
    let twice =
        [Scope::Agent, Scope::Project].map(|scope| Assigned { scope, pack: Arc::clone(&pack) });
    for surface in Surface::ALL {
        let invocation =
            Invocation { step_key: Some("implement".into()), ..Invocation::of(surface, "coder") };
        for event in Event::ALL {
            let tool = event.is_of_a_tool().then_some("bash");
            let selection = select(&twice, &invocation, event, tool);
            let all = [&selection.control, &selection.observe, &selection.disabled];
            let meant = pack.hooks.iter().filter(|hook| {
                hook.event == event && hook.matcher.matches(&invocation, event, tool)
            });
            assert_eq!(all.iter().map(|list| list.len()).sum::<usize>(), meant.count());
            for list in all {
                assert!(list.iter().all(|it| it.scope == Scope::Project));
                assert!(list.is_sorted_by_key(|it| it.hook.priority));
            }
        }
    }
}
