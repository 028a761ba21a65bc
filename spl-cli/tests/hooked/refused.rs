//! What a hook process does not touch, and what it keeps of its complaints.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use crate::house::{House, failed, open_to_others};

#[test]
fn a_home_that_others_can_write_is_not_used() {
    let house = House::taught();
    open_to_others(&house.home());
    let long = failed("toolu_1").replace("cargo test", &"x".repeat(2 * 1024 * 1024));
    let complaint = house.hook(&[], long).complaint();
    assert!(complaint.contains("others can write to it"), "{complaint}");
    assert_eq!((house.recorded(), house.log().as_str()), (0, ""));
}

#[test]
fn a_home_of_another_user_is_not_used() {
    let house = House::taught();
    // Only the superuser can give something away.
    if std::os::unix::fs::chown(house.home(), Some(65_534), None).is_err() {
        return;
    }
    let complaint = house.hook(&[], failed("toolu_1")).complaint();
    assert!(complaint.contains("belongs to another user"), "{complaint}");
    assert_eq!((house.recorded(), house.log().as_str()), (0, ""));
}

#[test]
fn a_socket_that_others_can_write_is_not_asked() {
    let house = House::taught();
    let _server = house.serve();
    open_to_others(&house.home().join("run/spl.sock"));
    let ended = house.hook(&[], failed("toolu_1"));
    assert!(ended.stderr.contains("others can write to it"), "{}", ended.stderr);
    assert!(ended.stdout.contains("it-failed"), "the store is here too");
}

#[test]
fn more_than_is_taken_is_read_and_let_go() {
    let house = House::taught();
    let long = failed("toolu_1").replace("cargo test", &"x".repeat(32 * 1024 * 1024));
    let complaint = house.hook(&[], long).complaint();
    assert_eq!(complaint, "spl session hook: -: the payload has more than 32 MiB\n");
    assert_eq!(house.recorded(), 0);
}

#[test]
fn complaints_are_kept_for_whoever_looks_later() {
    let house = House::taught();
    let complaint = house.hook(&[], "{}").complaint();
    assert_eq!(house.log(), complaint);
    let log = house.home().join("logs/session-hook.log");
    assert_eq!(fs::metadata(&log).expect("a log").mode() & 0o777, 0o600);
    // It does not grow without an end.
    fs::write(&log, "an old line\n".repeat(100_000)).expect("written");
    let complaint = house.hook(&[], "{}").complaint();
    assert_eq!(house.log(), complaint);
    // A link is not followed.
    let target = house.path("target");
    fs::remove_file(&log).expect("removed");
    fs::write(&target, "").expect("written");
    symlink(&target, &log).expect("linked");
    house.hook(&[], "{}").complaint();
    assert_eq!(fs::read_to_string(&target).expect("read"), "");
    // A folder that is not there is not made.
    fs::remove_dir_all(house.home().join("logs")).expect("removed");
    house.hook(&[], "{}").complaint();
    assert!(!house.home().join("logs").exists());
}

/// One line, whoever is asked, and nothing is recorded.
#[test]
fn a_namespace_that_takes_no_sessions_is_one_line() {
    let house = House::taught();
    let options = ["--namespace", "acme/web"];
    let line = |house: &House, id: &str| {
        let complaint = house.hook(&options, failed(id)).complaint();
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        complaint
    };
    let without = line(&house, "toolu_1");
    assert!(without.contains("`spl namespace create acme` makes it active"), "{without}");
    let server = house.serve();
    assert_eq!(line(&house, "toolu_2"), without);
    drop(server);
    assert_eq!(house.recorded(), 0);
    house.register("acme");
    assert!(line(&house, "toolu_3").contains("spl namespace create acme/web"));
    house.register("acme/web");
    house.hook(&options, failed("toolu_4")).well();
    assert!(house.recorded() > 0);
}
