//! What one command has to work with: the home, whoever answers, and where to print.

use std::io;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;

use rustix::fs::{Access, access};
use spl::code::Code;
use spl::engine::Home;
use spl::tool::RUN_VARIABLE;

use crate::cli::Options;
use crate::client::Client;
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::{self, Output};
use crate::policy;
use crate::shell::AgentShell;

/// What one command has to work with.
pub(crate) struct Session {
    /// Where to print.
    pub(crate) out: Output,
    options: Options,
    /// The shell, where it is an agent's and nobody at a terminal has said otherwise.
    agent: Option<AgentShell>,
}

impl Session {
    /// Returns the session of a command line.
    pub(crate) fn new(options: Options) -> Self {
        Self { out: Output::new(options.form()), options, agent: AgentShell::look() }
    }

    /// Asks at the terminal, where the command line wants to act as the operator in the shell of an
    /// agent.
    pub(crate) fn settle_who_asks(&mut self) -> Result<(), Failure> {
        match self.agent.filter(|_| self.options.as_operator) {
            None => Ok(()),
            Some(shell) => {
                shell.confirm_operator()?;
                self.agent = None;
                Ok(())
            }
        }
    }

    /// Refuses a command that acts as the operator past every door, in the shell of an agent.
    pub(crate) fn refuse_agent(&self, command: &str) -> Result<(), Failure> {
        if self.agent.is_none() {
            return Ok(());
        }
        let message = format!("`{command}` is the operator's");
        // Why this is not the operator's shell is said with every such refusal.
        Err(Failure::new(Exit::Auth, Code::ConfigWriteDenied.as_str(), message))
    }

    /// Tells whether this is the shell of an agent, which does not act as the operator.
    pub(crate) const fn is_an_agents(&self) -> bool {
        self.agent.is_some()
    }

    /// Adds to a refusal what an agent's shell has to do with it.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let refusals = [Code::ConfigWriteDenied, Code::ScopeForbidden, Code::DidClaimDenied];
        let refusals = refusals.map(Code::as_str);
        match self.agent {
            Some(shell) if refusals.contains(&failure.code()) => failure.with_hint(shell.hint()),
            _ => failure,
        }
    }

    /// Returns the URL of the server that is asked instead of this machine's instance.
    pub(crate) fn server(&self) -> Option<String> {
        self.options.server.clone().or_else(|| home::set("SPL_SERVE_URL"))
    }

    /// Refuses a command that works on the files of this machine while a server elsewhere is
    /// named: whoever names one does not mean these files.
    pub(crate) fn refuse_server(&self, command: &str) -> Result<(), Failure> {
        match self.server() {
            None => Ok(()),
            Some(url) => {
                let message = format!("`{command}` works on this machine's instance, not on {url}");
                Err(Failure::usage(message).with_hint("Leave out --server and SPL_SERVE_URL."))
            }
        }
    }

    /// Returns whoever answers questions.
    pub(crate) fn reader(&self) -> Result<Client, Failure> {
        match self.server() {
            Some(url) => self.remote(&url),
            None => self.local(&self.seen(home::find()?)?, false),
        }
    }

    /// Returns whoever answers questions about captured sessions. Where this process opens the store,
    /// it reports those that have gone silent first, as a server does.
    pub(crate) fn reporter(&self) -> Result<Client, Failure> {
        match self.server() {
            Some(url) => self.remote(&url),
            None => self.local(&self.seen(home::find()?)?, true),
        }
    }

    /// Returns whoever takes records, making the instance if there is none yet.
    pub(crate) fn writer(&self) -> Result<Client, Failure> {
        if let Some(url) = self.server() {
            self.remote(&url)
        } else {
            let home = self.seen(home::find()?)?;
            home::make(&home)?;
            self.local(&home, true)
        }
    }

    /// Returns a home, unless it is hidden: what would be made in its place nobody else would see.
    fn seen(&self, home: Home) -> Result<Home, Failure> {
        let in_a_run = self.agent.is_some_and(|shell| shell.mark == RUN_VARIABLE);
        let is_there = home.path().is_dir() && !home.is_initialised();
        if in_a_run && is_there && access(home.path(), Access::WRITE_OK).is_err() {
            let place = home.path().display();
            let message = format!("the instance at {place} is hidden from the commands of a run");
            let hint = "The tools `query_thread` and `record_note` of a run reach it.";
            return Err(Failure::unreachable(message).with_hint(hint));
        }
        Ok(home)
    }

    fn local(&self, home: &Home, reports: bool) -> Result<Client, Failure> {
        Ok(local(home, reports)?.in_shell_of(self.agent))
    }

    fn remote(&self, url: &str) -> Result<Client, Failure> {
        let bearer = self.bearer()?.map(|(_, bearer)| bearer);
        Ok(Client::over_tcp(url, bearer.as_deref())?.in_shell_of(self.agent))
    }

    /// Returns the bearer that a server elsewhere is sent, and where it comes from.
    pub(crate) fn bearer(&self) -> Result<Option<(Source, String)>, Failure> {
        let given = self.options.token.clone().filter(|token| !token.is_empty());
        if let Some(bearer) = given {
            return Ok(Some((Source::CommandLine, bearer)));
        }
        if let Some(bearer) = home::set("SPL_TOKEN") {
            return Ok(Some((Source::Environment, bearer)));
        }
        // Whoever has no home needs none to ask a server.
        let Ok(home) = home::find() else { return Ok(None) };
        let coded = |error| Failure::coded(&error);
        if let Some(bearer) = home.saved_bearer().map_err(coded)? {
            return Ok(Some((Source::Saved, bearer)));
        }
        Ok(home.token().ok().flatten().map(|bearer| (Source::Home, bearer)))
    }
}

/// Where a bearer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `--token`.
    CommandLine,
    /// `SPL_TOKEN`.
    Environment,
    /// What was saved.
    Saved,
    /// The admin token of this machine's instance.
    Home,
    /// There is none.
    Nowhere,
}

impl Source {
    /// Returns the word for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::CommandLine => "command_line",
            Self::Environment => "environment",
            Self::Saved => "saved",
            Self::Home => "home",
            Self::Nowhere => "none",
        }
    }

    /// Returns it in words.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::CommandLine => "the one that --token gives",
            Self::Environment => "the one in SPL_TOKEN",
            Self::Saved => "the one that was saved with `spl token save`",
            Self::Home => "the admin token of this machine's instance",
            Self::Nowhere => "none",
        }
    }
}

/// Returns who writes: `--actor`, else `SPL_ACTOR`, else the owner of the instance.
pub(crate) fn actor(given: Option<&str>) -> Result<String, Failure> {
    if let Some(actor) = named_actor(given) {
        return Ok(actor);
    }
    let home = home::find()?;
    if !home.is_initialised() {
        return Err(Failure::usage("nobody is named as the writer")
            .with_hint("Use --actor, or set SPL_ACTOR to a DID such as did:sync:user:vera."));
    }
    let settings = home.settings().map_err(|error| Failure::coded(&error))?;
    Ok(settings.identity.actor)
}

/// Returns who writes, if the command line or the environment names somebody.
pub(crate) fn named_actor(given: Option<&str>) -> Option<String> {
    given.map(str::to_owned).or_else(|| home::set("SPL_ACTOR"))
}

/// Asks the server of a home over its socket; where none answers, opens the store, and reports the
/// sessions that have gone silent if it is to.
fn local(home: &Home, reports: bool) -> Result<Client, Failure> {
    let socket = home.socket_path();
    match Socket::at(&socket) {
        Socket::Answers => return Ok(Client::over_socket(socket)?.or_open(home.clone())),
        Socket::Silent => {}
        Socket::TooLong => {
            output::warn(&format!("{}; the store is opened directly", too_long(&socket)));
        }
        Socket::Failed(error) => {
            return Err(Failure::unreachable(format!(
                "the server's socket `{}` cannot be used: {error}",
                socket.display()
            )));
        }
    }
    let engine = home::open(home)?;
    if reports && let Err(error) = spl::session::report_silent(&engine) {
        // Whatever was asked for can be done without.
        tracing::warn!(%error, "silent sessions could not be reported");
    }
    Client::here(engine, policy::runtime_of(Some(home))?)
}

/// What is behind the path of a socket.
pub(crate) enum Socket {
    /// A server.
    Answers,
    /// Nobody: there is no file, or one that a server left when it was killed.
    Silent,
    /// The path is longer than the system can connect to.
    TooLong,
    /// Something that this user cannot connect to.
    Failed(io::Error),
}

impl Socket {
    /// Looks who is behind `path`.
    pub(crate) fn at(path: &Path) -> Self {
        if SocketAddr::from_pathname(path).is_err() {
            return Self::TooLong;
        }
        match UnixStream::connect(path) {
            Ok(_) => Self::Answers,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound
                | io::ErrorKind::ConnectionRefused
                // The home is a file, or has one in its way.
                | io::ErrorKind::NotADirectory => Self::Silent,
                _ => Self::Failed(error),
            },
        }
    }
}

/// Says that a path is too long to be a socket's.
pub(crate) fn too_long(path: &Path) -> String {
    let len = path.as_os_str().len();
    format!(
        "the socket path has {len} bytes, more than this system connects to (`{}`)",
        path.display()
    )
}
