//! `@marcbachmann/cel-js`, in a process of its own, where there is node.

use std::io::Write as _;
use std::process::{Command, Stdio};

use spl::canon::{Limits, Value, parse};
use spl::object;

use super::calls::Call;
use super::measure::BATCHES;

const PACKAGE: &str = "@marcbachmann/cel-js@8";

/// A folder in which the package is installed.
pub struct Node(tempfile::TempDir);

/// What the engine answered.
pub struct Answer {
    /// The hooks that hold of each call.
    pub hits: Vec<Vec<usize>>,
    /// What a call takes at its best.
    pub nanos: f64,
}

impl Node {
    /// Installs the package, or says why not.
    pub fn install() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let script = folder.path().join("cel.mjs");
        std::fs::write(script, include_str!("cel.mjs")).map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]);
        let installed = npm.current_dir(folder.path()).stdout(Stdio::null()).status();
        match installed {
            Ok(status) if status.success() => Ok(Self(folder)),
            Ok(status) => Err(format!("npm ended with {status}")),
            Err(error) => Err(format!("npm: {error}")),
        }
    }

    /// Asks hooks, numbered as they come, about calls.
    pub fn ask(&self, hooks: &[String], calls: &[Call]) -> Result<Answer, String> {
        let calls: Vec<Value> = calls.iter().map(call).collect();
        let hooks: Vec<Value> = hooks.iter().map(|hook| hook.as_str().into()).collect();
        let request = object! { "batches": BATCHES, "hooks": hooks, "calls": calls };
        let mut node = Command::new("node")
            .arg("cel.mjs")
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node: {error}"))?;
        let mut stdin = node.stdin.take().expect("a pipe");
        stdin.write_all(Value::Object(request).to_string().as_bytes()).expect("node reads it");
        drop(stdin);
        let output = node.wait_with_output().map_err(|error| format!("node: {error}"))?;
        if !output.status.success() {
            return Err(format!("node ended with {}", output.status));
        }
        Ok(read(&output.stdout))
    }
}

fn call(call: &Call) -> Value {
    let body = object! {
        "tool": call.tool.as_str(),
        "args": call.args.clone(),
        "status": call.status,
        "content": call.content.as_str(),
    };
    Value::Object(object! { "trust": Value::from_float(call.trust), "body": body })
}

fn read(text: &[u8]) -> Answer {
    let limits = Limits { bytes: usize::MAX, ..Limits::DOOR };
    let answer = parse(text.trim_ascii(), limits).expect("JSON");
    let list = |value: &Value| value.as_array().expect("a list").to_vec();
    let number = |value: Value| value.as_u64().expect("a number") as usize;
    let hits = list(answer.get("hits").expect("hits"));
    Answer {
        hits: hits.iter().map(|hits| list(hits).into_iter().map(number).collect()).collect(),
        nanos: answer.get("nanos").expect("nanos").to_string().parse().expect("a number"),
    }
}
