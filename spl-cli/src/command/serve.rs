//! `spl serve`: run the server, in the foreground or in the background.

mod detach;
mod listen;
mod log;
mod outfit;
pub(super) mod seat;

use std::io;
use std::path::PathBuf;

use clap::Args;
use rustix::process::Signal;
use spl::canon::Value;
use spl::engine::{Engine, EngineOptions, Home, Scopes};
use spl::object;

use super::WELL;
use crate::bootstrap::{self, Secret};
use crate::failure::{Exit, Failure};
use crate::home;
use crate::logging;
use crate::output::{self, GOOD};
use crate::session::{Session, too_long};
use crate::signals::told_to_end;
use listen::{Listening, Place};
pub(super) use seat::{Holder, Seat};

/// Run the server, in the foreground or in the background
#[derive(Args, Debug)]
#[command(after_help = "\
Listens on a socket in the home, for the user who owns it, and on a port of this machine, for
whoever has a bearer. Commands find the socket by themselves, and do without it when no server
runs. One home has one server at most.

Examples:
  spl serve                        in the foreground, logs to standard error
  spl serve --daemon               in the background; prints its pid when it answers
  spl serve --logs -n 20           the last lines of its log, and what follows
  spl serve --script turns.json --workspace ~/project
                                   drives runs; start them with `spl work-loop --remote`
  spl serve --stop
  spl serve --memory --port 0      an instance that is gone when it ends

With SPL_BOOTSTRAP_TOKEN (16 to 256 printable characters) a new instance has no token of its own:
whoever presents that one to POST /v1/bootstrap/service-account makes the first account.

Exit status of --status: 0 running, 3 not running.")]
#[expect(clippy::struct_excessive_bools, reason = "one flag each on the command line")]
pub(crate) struct ServeArgs {
    /// The address to listen on [default: `SPL_SERVE_HOST`, else the settings, else 127.0.0.1]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The port to listen on; 0 takes any that is free [default: the settings, else 9100]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Keep everything in memory, without a home
    #[arg(long, conflicts_with_all = ["store", "daemon", "stop", "restart", "status", "logs"])]
    memory: bool,
    /// Another store than the home's own: a path, or `sqlite:///path`
    #[arg(long, value_name = "FILE")]
    store: Option<String>,
    /// Ask nobody on the port who they are, and listen on 127.0.0.1 only
    #[arg(long)]
    insecure_localhost: bool,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    runs: outfit::RunArgs,
    /// With --logs: how many lines to begin with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, requires = "logs")]
    lines: usize,
    /// With --logs: end there
    #[arg(long, requires = "logs")]
    no_follow: bool,
    /// Find the bootstrap token on the standard input
    #[arg(long, hide = true)]
    bootstrap_on_stdin: bool,
}

#[derive(Args, Debug)]
#[group(id = "mode", multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "one flag each on the command line")]
struct Mode {
    /// Stay in the foreground, which is the default
    #[arg(long)]
    foreground: bool,
    /// Go to the background, and return when the server answers
    #[arg(long)]
    daemon: bool,
    /// Stop the server in the background, and return when it has ended
    #[arg(long)]
    stop: bool,
    /// Stop it and start it again
    #[arg(long)]
    restart: bool,
    /// Say whether it runs
    #[arg(long)]
    status: bool,
    /// Show its log
    #[arg(long)]
    logs: bool,
    /// Be the process in the background
    #[arg(long, hide = true)]
    detached: bool,
}

/// Runs, starts, stops or shows the server.
pub(crate) fn serve(session: &mut Session, args: &ServeArgs) -> Result<u8, Failure> {
    let mode = &args.mode;
    let secret = args.bootstrap_on_stdin.then(bootstrap::taken).transpose()?;
    let secret = secret.as_ref();
    if mode.stop {
        stop(session)
    } else if mode.status {
        status(session)
    } else if mode.logs {
        log::show(session, args.lines, !args.no_follow)
    } else if mode.daemon {
        detach::start(session, args, secret)
    } else if mode.restart {
        let home = made(secret)?;
        end(&home)?;
        detach::start(session, args, secret)
    } else {
        run(session, args, secret)
    }
}

fn stop(session: &mut Session) -> Result<u8, Failure> {
    let stopped = end(&home::find()?)?;
    let answer = object! { "object": "server", "pid": stopped, "running": false };
    session.out.answer(&answer, |out| match stopped {
        Some(pid) => writeln!(out, "{GOOD}✓{GOOD:#} stopped (pid {pid})"),
        None => writeln!(out, "no server is running"),
    })?;
    Ok(WELL)
}

/// Asks the server of a home to end, waits until it has, and returns the pid it had.
fn end(home: &Home) -> Result<Option<i64>, Failure> {
    let Some(holder) = Holder::of(home)? else { return Ok(None) };
    let pid = holder.pid.ok_or_else(|| {
        Failure::new(Exit::Error, "NOT_STARTED", "the server has not started yet")
            .with_hint("Try again in a moment.")
    })?;
    rustix::process::kill_process(pid, Signal::TERM)
        .map_err(|error| Failure::local("the server could not be told to stop", &error))?;
    if !seat::is_freed(home)? {
        let message = format!("the server (pid {}) does not stop", pid.as_raw_nonzero());
        return Err(Failure::new(Exit::Error, "STILL_RUNNING", message)
            .with_hint("See `spl serve --logs`; `kill -9` ends it, and loses nothing."));
    }
    Ok(Some(pid.as_raw_nonzero().get().into()))
}

fn status(session: &mut Session) -> Result<u8, Failure> {
    let home = home::find()?;
    let holder = Holder::of(&home)?;
    let stopped = || object! { "object": "server", "running": false };
    let answer = holder.as_ref().map_or_else(stopped, |holder| holder.to_object(&home));
    session.out.answer(&answer, |out| match &holder {
        Some(holder) => writeln!(out, "{GOOD}✓{GOOD:#} {}", holder.in_words()),
        None => writeln!(out, "no server is running"),
    })?;
    Ok(if holder.is_some() { WELL } else { Exit::Missing as u8 })
}

/// Returns the home, making the instance if there is none yet. Where somebody else is to make the
/// first account, there is no token of its own.
fn made(secret: Option<&Secret>) -> Result<Home, Failure> {
    if secret.is_some() { home::made_without_token() } else { home::made() }
}

/// Runs the server until it is told to stop.
fn run(session: &mut Session, args: &ServeArgs, secret: Option<&Secret>) -> Result<u8, Failure> {
    // Whatever this process makes is its owner's alone, whatever the shell says.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    if args.mode.detached {
        detach::leave_terminal()?;
    }
    let Served { engine, seat, bearer } = open(args, secret)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::local("the runtime could not be started", &error))?;
    let host = args.runs.host(&engine, seat.as_ref().map(Seat::home))?;
    let served = runtime.block_on(async {
        let listening = Listening::at(Place::of(args, seat.as_ref())?, seat.as_ref()).await?;
        // Whoever is told to stop from here on stops in order.
        let told = told_to_end()?;
        announce(session, &listening, seat.as_ref(), bearer.as_deref(), args.mode.detached)?;
        if args.mode.detached {
            detach::let_go()?;
        }
        listening.serve(engine.clone(), host, secret, told).await;
        Ok(())
    });
    // In this order: tasks that hold the engine, then the engine, which folds the log into the
    // file; and only then may another server take the seat.
    drop(runtime);
    drop(engine);
    drop(seat);
    served.map(|()| WELL)
}

/// What a server serves.
struct Served {
    engine: Engine,
    /// The place as the one server of a home; none in memory.
    seat: Option<Seat>,
    /// How to reach an instance that has no home with a token in it.
    bearer: Option<String>,
}

fn open(args: &ServeArgs, secret: Option<&Secret>) -> Result<Served, Failure> {
    if args.memory {
        logging::as_json(io::stderr);
        let engine = Engine::in_memory().map_err(|error| Failure::coded(&error))?;
        if secret.is_some() {
            return Ok(Served { engine, seat: None, bearer: None });
        }
        let admin = Scopes::parse("admin")
            .map_err(|error| Failure::local("the scopes of the token do not read", &error))?;
        let minted = engine.mint_token("memory", &admin).map_err(|error| Failure::coded(&error))?;
        let bearer = (!args.insecure_localhost).then_some(minted.bearer);
        return Ok(Served { engine, seat: None, bearer });
    }
    let home = made(secret)?;
    let seat = Seat::take(&home)?;
    if args.mode.detached {
        logging::as_json(log::LogFile::open(home.log_path())?);
    } else {
        logging::as_json(io::stderr);
    }
    let options = EngineOptions {
        checkpoint_on_close: true,
        store_path: args.store.as_deref().map(path_of),
        ..EngineOptions::default()
    };
    let engine = Engine::open(&home, options).map_err(|error| Failure::coded(&error))?;
    Ok(Served { engine, seat: Some(seat), bearer: None })
}

/// Reads a path, or the URL of a file.
fn path_of(store: &str) -> PathBuf {
    PathBuf::from(store.strip_prefix("sqlite://").unwrap_or(store))
}

/// Says that the server answers, and where.
fn announce(
    session: &mut Session,
    listening: &Listening,
    seat: Option<&Seat>,
    bearer: Option<&str>,
    detached: bool,
) -> Result<(), Failure> {
    let url = listening.url();
    if let Some(seat) = seat {
        seat.tell_url(&url)?;
    }
    tracing::info!(url, pid = std::process::id(), "listening");
    let socket = listening.socket().map(|path| path.display().to_string());
    let mut answer = object! {
        "object": "server",
        "pid": std::process::id(),
        "running": true,
        "socket": socket.as_deref(),
        "url": url.as_str(),
    };
    if let Some(bearer) = bearer {
        answer.insert("bearer".into(), Value::from(bearer));
    }
    session.out.answer(&answer, |out| {
        let pid = std::process::id();
        writeln!(out, "{GOOD}✓{GOOD:#} listening at {url} (pid {pid})")?;
        bearer.into_iter().try_for_each(|bearer| writeln!(out, "bearer {bearer}"))
    })?;
    if let Some(seat) = seat.filter(|_| socket.is_none() && !detached) {
        warn_of_missing_socket(seat.home());
    }
    Ok(())
}

/// Says why there is no socket, and what follows.
fn warn_of_missing_socket(home: &Home) {
    let why = too_long(&home.socket_path());
    output::warn(&format!("{why}; commands will open the store directly"));
}
