//! MCP servers that go wrong, over standard input and output and over HTTP. Needs `python3`.

mod http;
mod stdio;

use std::collections::BTreeMap;
use std::path::Path;

use spl::canon::Object;
use spl::engine::Settings;
use spl::tool::{Answer, Cancel, McpReport, McpServers, McpState, Status, Toolbox};

/// What this test program's own environment would be.
const VARIABLES: &[(&str, &str)] = &[
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("SPL_TOKEN", "s3cret-spl"),
    ("ANTHROPIC_API_KEY", "s3cret-key"),
    ("BEARER", "s3cret-bearer"),
];

/// The path of the server that goes wrong.
fn faulty() -> String {
    format!("{}/tests/mcp/faulty.py", env!("CARGO_MANIFEST_DIR"))
}

/// The table of a server that goes wrong in these ways.
fn table(name: &str, modes: &[&str], notes: &Path, more: &str) -> String {
    let args: Vec<String> = modes.iter().map(|mode| format!(", \"{mode}\"")).collect();
    format!(
        "[mcp.{name}]\ncommand = \"python3\"\nargs = [\"{}\"{}]\n\
         env = {{ NOTES = \"{}\", API_KEY = \"s3cret-own\" }}\n{more}\n",
        faulty(),
        args.join(""),
        notes.display()
    )
}

struct Started {
    tools: Toolbox,
    reports: Vec<McpReport>,
}

impl Started {
    fn of(settings: &str) -> Self {
        let settings = Settings::parse(settings).expect("settings");
        let variables: Vec<(String, String)> =
            VARIABLES.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Self::with(settings.mcp, &variables)
    }

    fn with(
        servers: BTreeMap<String, spl::engine::McpServer>,
        variables: &[(String, String)],
    ) -> Self {
        let McpServers { tools: started, reports } =
            McpServers::start(servers, variables, None).expect("a thread");
        let mut tools = Toolbox::new();
        for tool in started {
            tools.add(tool).expect("a name of its own");
        }
        Self { tools, reports }
    }

    fn call(&self, tool: &str, arguments: &Object) -> Answer {
        self.tools.call(tool, arguments, &Cancel::new())
    }

    fn bare(&self, tool: &str) -> Answer {
        self.call(tool, &Object::new())
    }

    #[track_caller]
    fn failed(&self) -> &str {
        match &self.reports.first().expect("a report").state {
            McpState::Failed { why } => why,
            McpState::Ready => panic!("it is ready: {:?}", self.reports),
        }
    }
}

#[track_caller]
fn ok(answer: &Answer, shown: &str) {
    assert_eq!((answer.status, answer.shown.as_str()), (Status::Ok, shown));
}

#[track_caller]
fn error_with(answer: &Answer, part: &str) {
    assert_eq!(answer.status, Status::Error, "{}", answer.shown);
    assert!(answer.shown.contains(part), "{}", answer.shown);
}
