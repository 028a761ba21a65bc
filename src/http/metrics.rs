//! `GET /metrics`: counters in the text format of Prometheus.

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use crate::canon::Object;
use crate::record::Sequence;
use crate::store::HookCounters;

/// The format, as scrapers want it declared.
const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `GET /metrics`
pub(super) fn scrape(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    let health = state.engine().health()?;
    let (hooks, calls) = state.engine().store().read(|reader| {
        let mut calls = 0;
        for namespace in reader.seam_namespaces()? {
            calls += reader.seam_calls(&namespace, Sequence::default())?;
        }
        Ok((reader.hook_counters()?, calls))
    })?;
    let sum = |of: fn(&HookCounters) -> u64| hooks.values().map(of).sum::<u64>();
    let watchers = u64::try_from(state.news().watchers()).unwrap_or(u64::MAX);
    let at = |path: &[&str]| number(&health, path);
    let lines = [
        counter("ingested_total", "Records that this process has taken.", at(&["ingested_total"])),
        gauge("records", "Records in the store.", at(&["store", "records_total"])),
        gauge("store_bytes", "Bytes of the store.", at(&["store", "total_bytes"])),
        gauge("hooks_loaded", "Hooks in force.", at(&["work_loop", "hooks_loaded"])),
        counter("tool_calls_total", "Calls that hooks were asked about.", calls),
        counter("hook_matched_total", "Times a predicate held.", sum(|it| it.matched)),
        counter("hook_fires_total", "Times a hook spoke.", sum(|it| it.fires)),
        counter("hook_errors_total", "Times a predicate failed.", sum(|it| it.failed.total())),
        counter("hook_overruns_total", "Of those, over a budget.", sum(|it| it.failed.overruns())),
        counter("hook_samples_total", "Evaluations that were timed.", sum(|it| it.samples)),
        counter("hook_sampled_nanoseconds_total", "What those took.", sum(|it| it.nanos)),
        gauge("watchers", "Streams that are open.", watchers),
        gauge("uptime_seconds", "Seconds since the start.", at(&["uptime_secs"])),
    ];
    Ok(Answer::text(MEDIA, lines.concat()))
}

/// Returns what the health of the engine says at a path.
fn number(health: &Object, path: &[&str]) -> u64 {
    let mut value = None;
    let mut inside = Some(health);
    for key in path {
        value = inside.and_then(|object| object.get(*key));
        inside = value.and_then(|value| value.as_object());
    }
    value.and_then(crate::canon::Value::as_u64).unwrap_or_default()
}

fn counter(name: &str, help: &str, value: u64) -> String {
    line(name, "counter", help, value)
}

fn gauge(name: &str, help: &str, value: u64) -> String {
    line(name, "gauge", help, value)
}

fn line(name: &str, kind: &str, help: &str, value: u64) -> String {
    format!("# HELP spl_{name} {help}\n# TYPE spl_{name} {kind}\nspl_{name} {value}\n")
}
