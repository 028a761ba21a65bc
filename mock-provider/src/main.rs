//! Plays a script file until it is killed: `mock-provider SCRIPT [--log FILE] [--port N]
//! [--in-order] [--loop]`. The first line of standard output is its URL.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;

use mock_provider::{MockProvider, Script};

const USAGE: &str = "\
usage: mock-provider SCRIPT [--log FILE] [--port N] [--in-order] [--loop]

Plays the turns of SCRIPT as a provider of models on loopback, in the formats of Anthropic
(<url>/v1/), OpenAI (<url>/v1/) and Gemini (<url>/v1beta/). Prints its URL and runs until killed.

  --log FILE   append each request as a line {\"path\":…,\"body\":…}
  --port N     listen there, not on any free port
  --in-order   answer the nth request with the nth turn; without it, the turn is found by the
               replies that the request holds, so a resumed run goes on where it was
  --loop       begin anew after the last turn; without it, what follows is `done`";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever has closed standard error hears nothing.
            let _ = writeln!(std::io::stderr(), "mock-provider: {error}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (mut script, mut log, mut port) = (None, None, "0".to_owned());
    let (mut in_order, mut again) = (false, false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--log" => log = Some(args.next().ok_or("--log needs a file")?),
            "--port" => port = args.next().ok_or("--port needs a number")?,
            "--in-order" => in_order = true,
            "--loop" => again = true,
            _ if script.is_none() && !arg.starts_with('-') => script = Some(arg),
            _ => return Err(format!("`{arg}` is not known").into()),
        }
    }
    let text = std::fs::read_to_string(script.ok_or("there is no script")?)?;
    let mut script = Script::parse(&text)?;
    if in_order {
        script = script.in_order();
    }
    if again {
        script = script.again();
    }
    let log =
        log.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
    let provider = MockProvider::start_on(&format!("127.0.0.1:{port}"), script, log)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", provider.url())?;
    out.flush()?;
    loop {
        std::thread::park();
    }
}
