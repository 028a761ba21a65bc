//! Many who read, write and watch one server at once, some of them too slowly.
//!
//! A few seconds as it stands. `SPL_LOAD_WATCHERS=500 SPL_LOAD_WRITES=20000 cargo test --release -p
//! spl-cli --test served load -- --nocapture` is the long one. Times and memory are printed; of them
//! only that memory is bounded is held.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use spl::time::Stopwatch;
use tokio::sync::watch;

use crate::house::{Connection, House, Server, unix};
use crate::watcher::{Heard, Signals, Watcher, Way};

const WRITERS: usize = 6;
const READERS: usize = 3;

/// One in so many watchers reads nothing until the writers are done.
const SLOW: usize = 10;

/// So many watchers share a thread.
const A_THREAD: usize = 15;

/// The bytes of what is written.
const TEXT: usize = 4096;

/// So long a slow watcher reads nothing at least: longer than a server waits for one that is behind.
const ABSENCE: Duration = Duration::from_secs(11);

/// So long at most: less than the minute after which a server drops whoever reads nothing, so that
/// it can still be told. Where writing takes longer, the slow come back while it goes on.
const LONGEST_ABSENCE: Duration = Duration::from_secs(45);

/// After so long everything is over, or the test fails.
const BOUND: Duration = Duration::from_mins(8);

/// A watcher holds a page of records at most, read and as text, beside the buffers of its
/// connection; the store, its caches and the requests that are going on have the rest.
const KIB_A_WATCHER: u64 = 2048;
const KIB_BESIDE: u64 = 192 * 1024;

fn asked(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn thread(number: usize) -> String {
    format!("th_load_{number}")
}

/// What was acknowledged: the position and the id of each record, by thread.
type Acknowledged = BTreeMap<String, BTreeSet<(i64, String)>>;

/// How long engine health took, in microseconds, sorted.
struct Latencies(Vec<u128>);

impl Latencies {
    fn at(&self, percent: usize) -> u128 {
        let index = (self.0.len() * percent / 100).min(self.0.len() - 1);
        self.0[index]
    }
}

impl std::fmt::Display for Latencies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (half, most) = (self.at(50), self.at(99));
        write!(f, "p50 {half} µs, p99 {most} µs of {}", self.0.len())
    }
}

/// Asks for engine health again and again, `at_least` times and until `goes_on` is false, and looks
/// at the server's memory meanwhile.
fn probe(server: &Server, at_least: usize, goes_on: &AtomicBool) -> (Latencies, u64) {
    let mut connection = server.connect();
    let (mut times, mut most) = (Vec::new(), 0);
    while times.len() < at_least || goes_on.load(Ordering::Relaxed) {
        let took = Stopwatch::start();
        let (status, body) = connection.ask("GET", "/v1/engine/health", "");
        times.push(took.elapsed().as_micros());
        assert_eq!(status, 200, "{body}");
        most = most.max(server.resident());
    }
    times.sort_unstable();
    (Latencies(times), most)
}

/// Returns the text of a member of an answer, which has it once on its outermost level.
fn member<'t>(json: &'t str, key: &str) -> &'t str {
    let (_, rest) = json.split_once(&format!("\"{key}\":")).expect("a member");
    rest.trim_start_matches('"').split(['"', ',', '}']).next().expect("a value")
}

/// Writes its share, one record after another, and notes what was acknowledged.
fn write(server: &Server, writer: usize, share: usize, threads: usize, done: &Mutex<Acknowledged>) {
    // Half of them are where bearers are asked for.
    let mut connection = if writer.is_multiple_of(2) {
        server.connect()
    } else {
        Connection::over(unix(&server.socket))
    };
    let text = "x".repeat(TEXT);
    for number in 0..share {
        let thread = thread((writer + number) % threads);
        let record = format!(
            r#"{{"act":"KNOW","actor":"did:sync:user:w{writer}","body":{{"number":{number},"text":"{text}"}},"clock":{number},"thread":"{thread}"}}"#
        );
        let (status, body) = connection.ask("POST", "/v1/records", &record);
        assert_eq!(status, 201, "{body}");
        let position = member(&body, "sequence").parse().expect("a sequence");
        let id = member(&body, "id").to_owned();
        done.lock().expect("a lock").entry(thread).or_default().insert((position, id));
    }
}

/// Reads pages and asks queries until the writers are done.
fn read(server: &Server, reader: usize, threads: usize, goes_on: &AtomicBool) -> usize {
    let mut connection = server.connect();
    let mut answers = 0;
    while goes_on.load(Ordering::Relaxed) {
        let thread = thread((reader + answers) % threads);
        let (status, body) = match answers % 3 {
            0 => connection.ask("GET", &format!("/v1/threads/{thread}/records?limit=20"), ""),
            1 => connection.ask("GET", &format!("/v1/threads/{thread}/state"), ""),
            _ => {
                let query = format!(r#"{{"filter":{{"thread":"{thread}"}},"limit":20}}"#);
                connection.ask("POST", "/v1/records/query", &query)
            }
        };
        assert!(status == 200 || status == 404, "{status} {body}");
        answers += 1;
    }
    answers
}

/// Reads all of a thread back, page by page.
fn stored(server: &Server, thread: &str) -> BTreeSet<(i64, String)> {
    let mut connection = server.connect();
    let mut found = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/threads/{thread}/records?limit=200{cursor}");
        let (status, body) = connection.ask("GET", &path, "");
        assert_eq!(status, 200, "{body}");
        let page: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        for record in page["data"].as_array().expect("a list") {
            let id = record["id"].as_str().expect("an id").to_owned();
            found.insert((record["sequence"].as_i64().expect("a sequence"), id));
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

/// Holds what a watcher heard against what was acknowledged: all of it, once, in order.
fn check(heard: &Heard, acknowledged: &BTreeSet<(i64, String)>, about: &str) {
    assert!(heard.records.is_sorted_by(|a, b| a.0 < b.0), "{about}: out of order or twice");
    let told: BTreeSet<(i64, String)> = heard.records.iter().cloned().collect();
    assert!(told == *acknowledged, "{about}: {} of {}", told.len(), acknowledged.len());
}

struct Crowd {
    threads: usize,
    listening: Vec<(usize, bool, tokio::task::JoinHandle<std::io::Result<Heard>>)>,
    wanted: Vec<watch::Sender<Option<usize>>>,
    read: watch::Sender<bool>,
}

impl Crowd {
    /// Starts all watchers, and returns when each has heard its first event.
    async fn gather(server: &Server, watchers: usize) -> Self {
        let threads = watchers.div_ceil(A_THREAD);
        let wanted: Vec<_> = (0..threads).map(|_| watch::Sender::new(None)).collect();
        let (read, ready) = (watch::Sender::new(false), watch::Sender::new(0));
        let mut listening = Vec::new();
        for number in 0..watchers {
            let (at, is_slow) = (number % threads, number.is_multiple_of(SLOW));
            let way = if is_slow {
                Way::Unix(server.socket.clone())
            } else {
                Way::Tcp { port: server.port, bearer: server.token.clone() }
            };
            let signals = Signals { read: read.subscribe(), wanted: wanted[at].subscribe() };
            let ready = ready.clone();
            let watcher = Watcher { way, thread: thread(at), is_slow, signals, ready };
            listening.push((at, is_slow, tokio::spawn(watcher.listen())));
        }
        let mut gathered = ready.subscribe();
        gathered.wait_for(|ready| *ready == watchers).await.expect("the sender is here");
        Self { threads, listening, wanted, read }
    }

    /// Waits until each has heard all there is, and holds it against what was acknowledged. Returns
    /// how often somebody was told that it lagged, and how many of the slow were.
    async fn hear(self, acknowledged: &Acknowledged) -> (usize, usize) {
        for (number, wanted) in self.wanted.iter().enumerate() {
            let count = acknowledged.get(&thread(number)).map_or(0, BTreeSet::len);
            wanted.send_replace(Some(count));
        }
        let (mut lagged, mut slow_and_told) = (0, 0);
        for (at, is_slow, listening) in self.listening {
            let heard = listening.await.expect("joined").expect("a stream");
            let about = format!("a watcher of {}, slow: {is_slow}", thread(at));
            check(&heard, &acknowledged[&thread(at)], &about);
            assert!(heard.ended >= heard.lagged, "{about}: it is sent away with that");
            lagged += heard.lagged;
            slow_and_told += usize::from(is_slow && heard.lagged > 0);
        }
        (lagged, slow_and_told)
    }
}

#[test]
fn under_load_nothing_that_was_acknowledged_is_lost() {
    let watchers = asked("SPL_LOAD_WATCHERS", 60);
    let a_writer = asked("SPL_LOAD_WRITES", 2400).div_ceil(WRITERS);
    let house = House::new();
    let server = house.serve(&[]);
    let never = AtomicBool::new(false);
    let (idle, before) = probe(&server, 300, &never);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let began = Stopwatch::start();
    let crowd = runtime.block_on(async {
        let gathered = tokio::time::timeout(BOUND, Crowd::gather(&server, watchers));
        gathered.await.expect("all are there in time")
    });
    let threads = crowd.threads;
    let (acknowledged, writing) = (Mutex::new(Acknowledged::new()), AtomicBool::new(true));
    let (busy, peak, reads, took) = std::thread::scope(|scope| {
        let probing = scope.spawn(|| probe(&server, 300, &writing));
        let reading: Vec<_> = (0..READERS)
            .map(|reader| {
                let (server, writing) = (&server, &writing);
                scope.spawn(move || read(server, reader, threads, writing))
            })
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (server, done) = (&server, &acknowledged);
                scope.spawn(move || write(server, writer, a_writer, threads, done))
            })
            .collect();
        let (all_written, end) = mpsc::channel::<()>();
        let read = crowd.read.clone();
        scope.spawn(move || {
            let _ = end.recv_timeout(LONGEST_ABSENCE);
            read.send_replace(true);
        });
        let took = Stopwatch::start();
        for writer in writers {
            writer.join().expect("all was acknowledged");
        }
        let took = took.elapsed();
        // The slow are away for longer than a server waits for them, counted from when all has been
        // written; nobody says anything here meanwhile.
        let (_silent, silence) = mpsc::channel::<()>();
        let _ = silence.recv_timeout(ABSENCE);
        drop(all_written);
        writing.store(false, Ordering::Relaxed);
        let reads: usize = reading.into_iter().map(|it| it.join().expect("joined")).sum();
        let (busy, peak) = probing.join().expect("joined");
        (busy, peak, reads, took)
    });
    let acknowledged = acknowledged.into_inner().expect("a lock");
    let (lagged, slow_and_told) = runtime.block_on(async {
        tokio::time::timeout(BOUND, crowd.hear(&acknowledged)).await.expect("all of it in time")
    });
    let after = server.resident();
    let peak = peak.max(after);
    let writes = a_writer * WRITERS;
    let rate = writes as u128 * 1000 / took.as_millis().max(1);
    println!(
        "{watchers} watchers of {threads} threads, {writes} writes in {took:?} ({rate}/s), {reads} \
         reads; told `lagged`: {lagged}\nengine health idle: {idle}\nengine health busy: {busy}\nKiB \
         resident: {before} idle, {peak} at most, {after} at the end; all in {:?}",
        began.elapsed()
    );
    assert_eq!(acknowledged.values().map(BTreeSet::len).sum::<usize>(), writes);
    for (thread, records) in &acknowledged {
        assert!(stored(&server, thread) == *records, "{thread} has something else");
    }
    assert_eq!(slow_and_told, watchers.div_ceil(SLOW), "each that did not read was told so");
    let bound = before + KIB_BESIDE + KIB_A_WATCHER * u64::try_from(watchers).expect("small");
    assert!(peak <= bound, "{peak} KiB of {bound}");
    assert!(began.elapsed() < BOUND);
    server.stop();
    house.well(&["verify"]);
}
