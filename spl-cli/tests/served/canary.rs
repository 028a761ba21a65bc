//! Secrets planted wherever one can come in, and a search through everything that the engine wrote
//! by itself (decision 15).
//!
//! What a client states in a record is stored as it was sent, since its id is its content. Such
//! secrets are planted apart from the others, and may stand in that record and in what shows it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use mock_provider::{Fault, MockProvider, Script, Turn};

use crate::house::{Connection, House, unix};

/// A secret and where it was planted.
struct Planted {
    place: &'static str,
    secret: String,
    /// Whether a client states it in a record.
    is_stated: bool,
}

#[derive(Default)]
struct Garden(Vec<Planted>);

impl Garden {
    /// Makes a secret for a place, in one of the shapes that secrets have.
    fn plant(&mut self, place: &'static str) -> String {
        self.add(place, false)
    }

    fn stated(&mut self, place: &'static str) -> String {
        self.add(place, true)
    }

    fn add(&mut self, place: &'static str, is_stated: bool) -> String {
        // In pieces, so that this file holds none itself.
        const SHAPES: [(&str, &str, usize); 5] = [
            ("gh", "p_", 36),
            ("sk-", "ant-api03-", 40),
            ("glp", "at-", 20),
            ("np", "m_", 36),
            ("sk_", "live_", 24),
        ];
        let number = self.0.len();
        let (first, second, length) = SHAPES[number % SHAPES.len()];
        let mut state = 0x5eed_0000_u64 + u64::try_from(number).expect("small");
        let alphabet = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
        let letter = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[usize::try_from(state >> 40).expect("small") % alphabet.len()])
        };
        let rest: String = (0..length).map(letter).collect();
        let secret = format!("{first}{second}{rest}");
        self.0.push(Planted { place, secret: secret.clone(), is_stated });
        secret
    }

    /// Returns the places whose secrets stand in `bytes`; those that clients stated only if asked.
    fn found(&self, bytes: &[u8], with_stated: bool) -> Vec<&'static str> {
        let stands =
            |secret: &str| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        let looked_for = self.0.iter().filter(|it| with_stated || !it.is_stated);
        // A part of a secret is a secret as well.
        looked_for
            .filter(|it| stands(&it.secret[..it.secret.len() - 6]))
            .map(|it| it.place)
            .collect()
    }
}

/// Everything that was said by a process.
#[derive(Default)]
struct Said(Vec<(String, Vec<u8>)>);

impl Said {
    fn keep(&mut self, what: &str, output: Output) {
        self.0.push((format!("{what}, stdout"), output.stdout));
        self.0.push((format!("{what}, stderr"), output.stderr));
    }
}

/// A turn that makes these calls.
fn turn(calls: &[(&str, serde_json::Value)]) -> serde_json::Value {
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, args)| serde_json::json!({ "name": name, "args": args }))
        .collect();
    serde_json::json!({ "tool_calls": calls })
}

/// A run whose calls have secrets in what they take and in what they return.
fn script(garden: &mut Garden, house: &House) -> String {
    let file = format!(
        "GITHUB_TOKEN={}\n[db]\npassword = {}\nurl = postgres://me:{}@db.example.com/app\n",
        garden.plant("a file that is read"),
        garden.plant("an assignment in a file"),
        garden.plant("an address in a file"),
    );
    fs::create_dir_all(house.path("ground")).expect("a folder");
    fs::write(house.path("ground/settings.txt"), file).expect("written");
    let command = |text: String| serde_json::json!({ "command": text });
    let path = |text: String| serde_json::json!({ "path": text });
    let turns = [
        turn(&[
            ("bash", command("cat settings.txt".into())),
            ("bash", command("env; cat /proc/$PPID/environ 2>/dev/null; true".into())),
            ("read_file", path("settings.txt".into())),
            ("search", serde_json::json!({ "pattern": "password" })),
        ]),
        turn(&[
            (
                "bash",
                command(format!("echo 'Authorization: Bearer {}'", garden.plant("a command"))),
            ),
            ("bash", command(format!("echo {} >&2; false", garden.plant("a command that fails")))),
            ("read_file", path(format!("{}.txt", garden.plant("a path that is not there")))),
            ("read_file", path(format!("../{}", garden.plant("a path outside")))),
            (
                "write_file",
                serde_json::json!({
                    "path": "out.txt", "content": garden.plant("what is written to a file"),
                }),
            ),
            ("no_such_tool", serde_json::json!({ "api_key": garden.plant("an unknown tool's") })),
            ("bash", serde_json::json!({ "nonsense": garden.plant("arguments of no use") })),
        ]),
        serde_json::json!({ "text": format!("done with {}", garden.plant("the model's own words")) }),
    ];
    serde_json::json!({ "turns": turns }).to_string()
}

/// What Claude Code sends, with secrets in each of its fields.
fn payloads(garden: &mut Garden) -> Vec<String> {
    let event = |name: &str, rest: serde_json::Value| {
        let mut payload = serde_json::json!({
            "session_id": "7b0e2c9a", "cwd": "/home/dev/shop", "hook_event_name": name,
        });
        let members = payload.as_object_mut().expect("an object");
        members.extend(rest.as_object().expect("an object").clone());
        payload.to_string()
    };
    vec![
        event("SessionStart", serde_json::json!({ "source": "startup" })),
        event(
            "UserPromptSubmit",
            serde_json::json!({
                "prompt": format!("use {} for it", garden.plant("a prompt")),
            }),
        ),
        event(
            "PostToolUse",
            serde_json::json!({
                "tool_name": "Bash",
                "tool_use_id": "toolu_1",
                "tool_input": { "command": format!("curl -H 'x: {}'", garden.plant("a payload's command")) },
                "tool_response": {
                    "stdout": format!("got {}", garden.plant("a payload's output")),
                    "stderr": format!("token={}", garden.plant("a payload's errors")),
                },
                garden.plant("a field that nobody knows"): garden.plant("its value"),
            }),
        ),
        event(
            "PostToolUseFailure",
            serde_json::json!({
                "tool_name": "mcp__notes__save",
                "tool_use_id": "toolu_2",
                "tool_input": { "api_key": garden.plant("a payload's key") },
                "error": format!("refused {}", garden.plant("a payload's failure")),
            }),
        ),
        event(
            "Stop",
            serde_json::json!({
                "last_assistant_message": format!("I used {}", garden.plant("closing words")),
            }),
        ),
        event("SessionEnd", serde_json::json!({ "reason": garden.plant("a reason") })),
        // And what is no payload.
        format!(
            "{{\"session_id\":\"7b0e2c9a\",\"broken\":\"{}\"",
            garden.plant("a broken payload")
        ),
        garden.plant("no payload at all"),
    ]
}

/// Requests with secrets where none should be; each with what was answered.
fn requests(garden: &mut Garden, tcp: &mut Connection, socket: &mut Connection, said: &mut Said) {
    let bearer = |secret: String| format!("authorization: Bearer {secret}\r\n");
    let json = "content-type: application/json\r\n";
    let ours = |garden: &mut Garden, place| format!("spl_prod_{}", garden.plant(place));
    let mut make =
        |tcp: &mut Connection, what: &str, method: &str, path: String, head: String, body: &str| {
            let (status, answer) = tcp.say(method, &path, &head, body);
            said.0.push((format!("the answer to {what} ({status})"), answer.into_bytes()));
        };
    let wrong = bearer(ours(garden, "a wrong bearer"));
    make(tcp, "a wrong bearer", "GET", "/v1/threads".into(), wrong, "");
    let key = format!("x-api-key: {}\r\n", ours(garden, "a wrong key"));
    make(tcp, "a wrong key", "GET", "/v1/threads".into(), key, "");
    let basic = format!("authorization: Basic {}\r\n", garden.plant("another scheme"));
    make(tcp, "another scheme", "GET", "/v1/threads".into(), basic, "");
    let cookie = format!("cookie: sid={}\r\n", garden.plant("a cookie"));
    make(tcp, "a cookie", "GET", "/health".into(), cookie, "");
    let origin = format!("origin: http://{}\r\n", garden.plant("an origin"));
    make(tcp, "an origin", "GET", "/health".into(), origin, "");
    let query = format!("/v1/threads?access_token={}", ours(garden, "a bearer in a query"));
    make(tcp, "a bearer in a query", "GET", query, String::new(), "");
    let path = format!("/v1/{}", garden.plant("a path"));
    make(tcp, "a path", "GET", path, String::new(), "");
    let query = format!("/v1/threads?token={}", garden.plant("the operator's query"));
    make(socket, "the operator's query", "GET", query, String::new(), "");
    let path = format!("/v1/records/{}", garden.plant("the id of a record"));
    make(socket, "the id of a record", "GET", path, String::new(), "");
    let path = format!("/v1/runs/{}", garden.plant("the name of a run"));
    make(socket, "the name of a run", "GET", path, String::new(), "");
    let path = format!("/v1/threads/th_x/watch?since_clock={}", garden.plant("a clock"));
    make(socket, "a clock", "GET", path, String::new(), "");
    for (what, path, place) in [
        ("a record that is none", "/v1/records", "a record that is none"),
        ("a query that is none", "/v1/records/query", "a query that is none"),
        ("a run that is none", "/v1/work/loop", "a run that is none"),
        ("a session that is none", "/v1/sessions/start", "a session that is none"),
        ("a token that is none", "/v1/tokens", "a token that is none"),
    ] {
        let body = format!("{{\"nonsense\":\"{}\"}}", garden.plant(place));
        make(socket, what, "POST", path.into(), json.into(), &body);
        make(socket, what, "POST", path.into(), json.into(), &body[..body.len() - 1]);
    }
    let expression = format!(
        r#"{{"context":"permission","expression":"record.body == \"{}"}}"#,
        garden.plant("an expression")
    );
    make(socket, "an expression", "POST", "/v1/expr/eval".into(), json.into(), &expression);
    let actor = format!("x-syncropel-actor: did:sync:user:{}\r\n", garden.plant("a claim"));
    make(socket, "a claim", "GET", "/v1/threads".into(), actor, "");
}

/// Returns every file under `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a type");
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

/// The files of a home that are there to keep a secret, and what only a person writes.
fn keeps_secrets(home: &Path, path: &Path) -> bool {
    let inside = path.strip_prefix(home).expect("inside");
    inside.starts_with("secrets")
        || inside == Path::new("token")
        || inside == Path::new("config.toml")
}

/// Returns what each record says and where it comes from.
fn records(house: &House) -> Vec<(String, String)> {
    let store = rusqlite::Connection::open(house.home().join("hub.db")).expect("a store");
    let sql = "SELECT origin, canonical FROM records ORDER BY seq";
    let mut query = store.prepare(sql).expect("a query");
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one instance, and all that happens to it")]
fn no_secret_is_in_anything_that_the_engine_wrote() {
    let (mut garden, mut said, mut house) = (Garden::default(), Said::default(), House::new());
    house.set("RUST_LOG", "trace");
    house.set("GITHUB_TOKEN", &garden.plant("the environment"));
    house.set("DEPLOY_PASSWORD", &garden.plant("a password in the environment"));
    let key = garden.plant("a provider's key");
    house.set("ANTHROPIC_API_KEY", &key);
    house.set("SPL_BOOTSTRAP_TOKEN", &garden.plant("the token of the bootstrap door"));
    let echoed = format!("the key {key} is not one");
    let fault = Fault::Status { status: 401, retry_after: None, message: Some(echoed) };
    let provider = MockProvider::start(Script::new([Turn::text("x").always(fault)]));
    let settings = format!(
        "[model.providers.anthropic]\nbase_url = \"{}/v1\"\n\n[mcp.broken]\ncommand = \"/bin/sh\"\n\
         args = [\"-c\", \"echo $NOTES_KEY >&2; echo $NOTES_KEY; exit 3\"]\n\n[mcp.broken.env]\n\
         NOTES_KEY = \"{}\"\n",
        provider.url(),
        garden.plant("the variable of a server of tools"),
    );
    fs::write(house.home().join("config.toml"), settings).expect("written");

    // A lesson with a secret in it: its record is as it was written, what it says is not.
    let lesson = format!("${{tool}} failed; try {}", garden.stated("the text of a hook"));
    said.keep(
        "a lesson",
        house.run(&["hook", "add", "it-failed", "--when", "true", "--text", &lesson]),
    );

    // A run in this process, then a model that refuses and says the key.
    let script = script(&mut garden, &house);
    fs::write(house.path("script.json"), script).expect("written");
    let goal = format!("deploy with {}", garden.plant("a goal"));
    let run = ["work-loop", goal.as_str(), "--script", "script.json", "--workspace", "ground"];
    said.keep("a run", house.run(&run));
    said.keep("a run as JSON", house.run(&[run.as_slice(), &["-o", "stream-json"]].concat()));
    said.keep("a model that refuses", house.run(&["model", "test", "claude-x"]));
    let refused = ["work-loop", "x", "--model", "claude-x", "--workspace", "ground"];
    said.keep("a run without a model", house.run(&refused));
    said.keep("a server of tools that ends", house.run(&["tool", "list"]));

    // The same on a server, and whatever else comes to its doors.
    let server = house.serve(&["--script", "script.json", "--workspace", "ground"]);
    said.keep("a run on a server", house.run(&["work-loop", &goal, "--remote"]));
    for payload in payloads(&mut garden) {
        let mut hook = house.spl(&["session", "hook"]);
        let hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = hook.spawn().expect("spl");
        child.stdin.take().expect("piped").write_all(payload.as_bytes()).expect("read to its end");
        said.keep("a hook process", child.wait_with_output().expect("its end"));
    }
    let mut socket = Connection::over(unix(&server.socket));
    let mut tcp = server.connect();
    requests(&mut garden, &mut tcp, &mut socket, &mut said);
    for path in
        ["/metrics", "/v1/health", "/v1/engine/health", "/v1/runs", "/v1/sessions", "/v1/tokens"]
    {
        let (status, body) = socket.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        said.0.push((path.to_owned(), body.into_bytes()));
    }
    let made = house.well(&["token", "create", "--name", "ci", "--scopes", "records:read"]);
    let bearer = made.split_whitespace().find(|word| word.starts_with("spl_")).expect("a bearer");
    let secret = bearer.to_owned();
    garden.0.push(Planted { place: "a bearer that was made", secret, is_stated: false });
    let admin = server.token.clone();
    garden.0.push(Planted { place: "the operator's bearer", secret: admin, is_stated: false });
    assert_eq!(tcp.ask("GET", "/v1/threads", "").0, 200);
    server.stop();

    let mut leaks = Vec::new();
    let mut look = |what: &str, bytes: &[u8], with_stated: bool| {
        let found = garden.found(bytes, with_stated);
        leaks.extend(found.into_iter().map(|place| format!("{place}: in {what}")));
    };
    for (what, bytes) in &said.0 {
        look(what, bytes, false);
    }
    look("the log of the server", &fs::read(house.path("server.log")).expect("a log"), true);
    for path in files(&house.home()).iter().filter(|path| !keeps_secrets(&house.home(), path)) {
        let bytes = fs::read(path).expect("a file");
        // The store holds what clients state as well.
        let is_store =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hub.db"));
        look(
            &path.strip_prefix(house.home()).expect("inside").display().to_string(),
            &bytes,
            !is_store,
        );
    }
    let records = records(&house);
    let own = records.iter().filter(|(origin, _)| origin == "engine");
    let mut count = 0;
    for (_, text) in own {
        count += 1;
        let kind = text.split("\"kind\":\"").nth(1).and_then(|rest| rest.split('"').next());
        look(&format!("a record of kind {}", kind.unwrap_or("none")), text.as_bytes(), true);
    }
    leaks.sort();
    leaks.dedup();
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));

    // It was there to be found: calls, results, words, sessions, and the log of all that.
    assert!(count > 60, "only {count} records of the engine's own");
    let all: String = records.iter().map(|(_, text)| text.as_str()).collect();
    assert!(all.matches("[masked:").count() > 20, "what was masked is marked");
    for kind in ["core.work.tool_result.v1", "core.work.observation.v1", "core.session.tool.v1"] {
        assert!(all.contains(kind), "no {kind}");
    }
    let log = fs::read_to_string(house.path("server.log")).expect("a log");
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is whole");
    assert_eq!(
        garden.found(&fs::read(house.home().join("hub.db")).expect("a store"), true).len(),
        1
    );
}
