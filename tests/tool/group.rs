//! Who is left of a process group.

use std::fs;
use std::time::Duration;

use spl::time::Stopwatch;

/// Far less than the minute for which the processes of these tests sleep, and far more than a busy
/// machine takes to do without them.
pub(crate) const NOT_WAITED: Duration = Duration::from_secs(30);

/// Holds that somebody has not waited since `watch`.
#[track_caller]
pub(crate) fn not_waited(watch: Stopwatch) {
    assert!(watch.elapsed() < NOT_WAITED, "{:?}", watch.elapsed());
}

/// Returns the processes of a group that have not ended.
pub(crate) fn members(group: &str) -> Vec<String> {
    let stats = fs::read_dir("/proc").expect("/proc").filter_map(|entry| {
        // A process may end while it is looked at.
        fs::read_to_string(entry.ok()?.path().join("stat")).ok()
    });
    stats
        .filter(|stat| {
            let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            let fields: Vec<&str> = after_name.split(' ').collect();
            fields.get(2) == Some(&group) && !matches!(fields.first(), Some(&"Z" | &"X"))
        })
        .collect()
}
