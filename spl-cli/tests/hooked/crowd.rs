//! Many hook processes of one session, twenty at a time: each call is recorded, and a lesson speaks
//! as often as it may.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::house::{House, Server, failed};

/// How many there are at once.
const AT_ONCE: usize = 20;

/// How many there are: `SPL_TEST_HOOK_PROCESSES`, else as many as a test run has the patience for.
fn processes() -> usize {
    let asked = std::env::var("SPL_TEST_HOOK_PROCESSES").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(100)
}

/// Starts them all; `before` is called before each with its number.
fn crowd(house: &House, before: &(impl Fn(usize) + Sync)) {
    let (next, spoken, count) = (AtomicUsize::new(0), AtomicUsize::new(0), processes());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    before(number);
                    let said =
                        house.hook(&["--harness", "claude"], failed(&format!("toolu_{number}")));
                    if said.well().contains("it-failed: Bash ended with error") {
                        spoken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(house.count("core.session.tool.v1"), count);
    assert_eq!(house.count("core.session.charter.v1"), 1);
    assert_eq!((house.count("core.work.observation.v1"), spoken.into_inner()), (2, 2));
    assert_eq!(house.log(), "");
    house.verify();
}

#[test]
fn without_a_server() {
    crowd(&House::taught(), &|_| {});
}

#[test]
fn with_a_server() {
    let house = House::taught();
    let _server = house.serve();
    crowd(&house, &|_| {});
}

/// Whoever has not heard the answer asks again, as the same one.
#[test]
fn with_a_server_that_is_killed_and_started_again() {
    let house = House::taught();
    let server: Mutex<Option<Server>> = Mutex::new(Some(house.serve()));
    let count = processes();
    crowd(&house, &|number| {
        if number == count / 3 {
            drop(server.lock().expect("a lock").take());
        } else if number == count * 2 / 3 {
            *server.lock().expect("a lock") = Some(house.serve());
        }
    });
}
