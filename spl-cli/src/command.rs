//! The commands, one file each: its arguments, then the function that does it.
//!
//! A command returns the exit status of what it found, or the failure to find out.

pub(crate) mod backup;
pub(crate) mod blueprint;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod decisions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod expr;
pub(crate) mod health;
pub(crate) mod hook;
pub(crate) mod identity;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod model;
pub(crate) mod namespace;
pub(crate) mod policy;
pub(crate) mod polpo;
pub(crate) mod proof;
pub(crate) mod record;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod service_account;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod thread;
pub(crate) mod token;
pub(crate) mod tool;
pub(crate) mod trust;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod work_loop;
pub(crate) mod work_loop_review;
pub(crate) mod worker;
pub(crate) mod write;

use std::process::ExitCode;

use spl::record::Act;

use crate::bootstrap;
use crate::cli::{Command, Options};
use crate::failure::Failure;
use crate::logging;
use crate::session::Session;

/// The exit status of a command that has found everything well.
const WELL: u8 = 0;

/// Does what a command line asks for.
pub(crate) fn run(options: Options, command: Command) -> ExitCode {
    // What has a place to enter must have done nothing before.
    let command = match command {
        Command::Worker(args) => return worker::worker(&args),
        command => command,
    };
    if !matches!(command, Command::Serve(_)) {
        logging::to_stderr();
    }
    let mut session = Session::new(options);
    let done = bootstrap::shed(matches!(command, Command::Serve(_)))
        .and_then(|()| session.settle_who_asks())
        .and_then(|()| perform(&mut session, command));
    match done.map_err(|failure| session.explain(failure)) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            session.out.failure(&failure);
            ExitCode::from(failure.exit())
        }
    }
}

fn perform(session: &mut Session, command: Command) -> Result<u8, Failure> {
    match command {
        Command::Init(args) => init::init(session, &args),
        Command::Know(args) => write::write(session, Act::Know, &args),
        Command::Do(args) => write::write(session, Act::Do, &args),
        Command::Intend(args) => write::write(session, Act::Intend, &args),
        Command::Learn(args) => write::write(session, Act::Learn, &args),
        Command::Hook(command) => return hook::hook(session, command),
        Command::Blueprint(command) => return blueprint::blueprint(session, command),
        Command::Namespace(command) => namespace::namespace(session, command),
        Command::Thread(command) => thread::thread(session, command),
        Command::Record(command) => record::record(session, command),
        Command::Expr(command) => return expr::expr(session, command),
        Command::WorkLoop(args) => return work_loop::work_loop(session, &args),
        Command::WorkLoopReview(args) => work_loop_review::review(session, &args),
        Command::Resume(args) => resume::resume(session, &args),
        Command::Session(command) => return session::session(session, command),
        Command::Trust(args) => trust::trust(session, &args),
        Command::Runs(command) => return runs::runs(session, command),
        Command::Decisions(command) => decisions::decisions(session, command),
        Command::Demo(args) => return demo::demo(session, &args),
        Command::Serve(args) => return serve::serve(session, &args),
        Command::Status => status::status(session),
        Command::Health => health::health(session),
        Command::Doctor => return doctor::doctor(session),
        Command::Verify(args) => return verify::verify(session, &args),
        Command::Proof(args) => proof::proof(session, &args),
        Command::Identity(command) => return identity::identity(session, command),
        Command::Backup(args) => backup::backup(session, &args),
        Command::Export(args) => export::export(session, &args),
        Command::Import(args) => return import::import(session, &args),
        Command::Erase(args) => erase::erase(session, &args),
        Command::Policy(command) => return policy::policy(session, command),
        Command::Polpo(command) => return polpo::polpo(session, command),
        Command::Model(command) => return model::model(session, &command),
        Command::Tool(command) => tool::tool(session, command),
        Command::Config(command) => config::config(session, command),
        Command::ServiceAccount(command) => service_account::service_account(session, command),
        Command::Token(command) => token::token(session, command),
        Command::Completions(args) => completions::completions(session, &args),
        Command::Version => version::version(session),
        // It was done before there was a session.
        Command::Worker(_) => Ok(()),
    }
    .map(|()| WELL)
}
