//! What a run works with: its model and its tools.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use spl::engine::{Engine, Home, Hooks};
use spl::model::{Echo, Model, Price, Scripted};
use spl::run::worker::Confined;
use spl::run::{RunSpec, Transport};
use spl::sandbox::{Hidden, Hiding, Place};
use spl::tool::{RecordSeat, Surroundings, Toolbox, Workspace, allowed_environment, record_tools};

use crate::command::model::providers;
use crate::command::worker::stager;
use crate::failure::Failure;
use crate::home::{self, variables};
use crate::output::{self, printable, quote};

/// Who takes the turns where nobody is named (contract §7.5).
const DEFAULT_MODEL: &str = "claude-sonnet-4-6";

/// What the records of a run have that plays a script.
const SCRIPTED: &str = "scripted";

/// Who takes the turns.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct ModelArgs {
    /// Ask this model; `spl model list` says which there are [default: claude-sonnet-4-6, or of a run
    /// that is taken up its own]
    #[arg(long = "model", value_name = "NAME")]
    name: Option<String>,
    /// Play the turns of this file
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Play the model that says what it was told
    #[arg(long)]
    echo: bool,
}

impl ModelArgs {
    /// Opens the model of a run that works in `workspace`. `recorded` is the one that a run had which
    /// is taken up.
    pub(crate) fn open(
        &self,
        workspace: &Workspace,
        recorded: Option<&str>,
    ) -> Result<Box<dyn Model>, Failure> {
        let Some(path) = &self.script else {
            let name = self.name(recorded);
            if name == Echo.name() {
                return Ok(Box::new(Echo));
            }
            if self.name.is_none() && name == SCRIPTED {
                return Err(Failure::usage("this run plays a script")
                    .with_hint("Say which, with --script."));
            }
            let model = providers(&home::find()?)?.model(name);
            return model.map_err(|error| Failure::coded(&error));
        };
        let script = std::fs::read(path).map_err(|error| {
            Failure::usage(format!("`{}` could not be read: {error}", path.display()))
        })?;
        let scripted = Scripted::parse(&script, workspace.path());
        Ok(Box::new(scripted.map_err(|error| Failure::coded(&error))?))
    }

    fn name<'a>(&'a self, recorded: Option<&'a str>) -> &'a str {
        if self.echo {
            return Echo.name();
        }
        self.name.as_deref().or(recorded).unwrap_or(DEFAULT_MODEL)
    }

    /// Returns the name of the model, if the line has one.
    pub(crate) fn named(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns what a model costs, if that is known.
    pub(crate) fn price(&self, model: &str) -> Result<Option<Price>, Failure> {
        if self.script.is_some() || self.echo {
            return Ok(None);
        }
        Ok(providers(&home::find()?)?.price(model))
    }

    /// Returns the flags that choose the same model again, with a space behind them.
    pub(crate) fn as_flags(&self) -> String {
        match (&self.name, &self.script) {
            (Some(name), _) => format!("--model {} ", quote(name)),
            (None, Some(path)) => format!("--script {} ", quote(&path.to_string_lossy())),
            (None, None) if self.echo => "--echo ".to_owned(),
            (None, None) => String::new(),
        }
    }
}

/// Where the tools of a workspace work.
#[derive(Args, Debug)]
pub(crate) struct PlaceArgs {
    /// Confine the tools: no network, no home, and of all files the workspace alone to write
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Show this folder to a confined run, to be read
    #[arg(long, value_name = "DIR", requires = "sandbox")]
    sandbox_read: Vec<PathBuf>,
    /// Let a confined run hear the hooks that are written while it goes on
    #[arg(long, requires = "sandbox")]
    live_hooks: bool,
}

impl PlaceArgs {
    /// Returns the place in which the tools are confined.
    pub(crate) fn confined(&self, workspace: &Workspace, home: &Home) -> Result<Confined, Failure> {
        place(workspace, Some(home), &self.sandbox_read)
    }

    /// Returns which hooks are asked: of a confined run those that were there at its start.
    pub(crate) fn hooks(&self, engine: &Engine, confined: bool) -> Result<Hooks, Failure> {
        if !confined || self.live_hooks {
            return Ok(Hooks::Live);
        }
        engine.frozen_hooks().map_err(|error| Failure::coded(&error))
    }
}

/// Returns the place of confined tools: a workspace, and what else they may read.
pub(crate) fn place(
    workspace: &Workspace,
    home: Option<&Home>,
    readable: &[PathBuf],
) -> Result<Confined, Failure> {
    let user = crate::home::folder();
    let hidden = Hidden { home: user.as_deref(), instance: home.map(Home::path) };
    let mut place = Place::of_workspace(workspace.path(), hidden);
    for folder in readable {
        place = place.and_then(|place| place.with_readable(folder, hidden));
    }
    let place = place.map_err(|error| Failure::coded(&error))?;
    let place = place.with_environment(allowed_environment(variables()));
    Ok(Confined::new(stager()?, place))
}

/// Returns what starts a command so that it does not see the home of the instance; nothing where that
/// cannot be done, which is said.
fn hiding(engine: &Engine, workspace: &Workspace) -> Result<Vec<OsString>, Failure> {
    let home = engine.home().cloned().or_else(|| home::find().ok());
    let Some(home) = home.filter(|home| home.path().is_dir()) else { return Ok(Vec::new()) };
    match Hiding::find(&stager()?, home.path(), workspace.path()) {
        Ok(hiding) => Ok(hiding.words()),
        Err(error) => {
            let place = home.path().display();
            output::warn(&printable(&format!(
                "commands of this run can reach the instance at {place}, which cannot be hidden \
                 from them: {error}"
            )));
            Ok(Vec::new())
        }
    }
}

/// Returns the tools of a run: those of its workspace, if it has one, and those over the store. Of a
/// run that is confined those of the workspace are described here and work elsewhere.
pub(crate) fn tools_of(
    engine: &Engine,
    spec: &RunSpec,
    workspace: Option<&Workspace>,
    confined: bool,
) -> Result<Toolbox, Failure> {
    let mut tools = match workspace {
        Some(workspace) => {
            let mut surroundings = Surroundings::of(variables()).in_run(&spec.thread);
            if !confined && spec.transport != Transport::Sandboxed {
                surroundings = surroundings.through(hiding(engine, workspace)?);
            }
            Toolbox::of_workspace(workspace, surroundings)
        }
        None => Toolbox::new(),
    };
    let seat = RecordSeat {
        engine: engine.clone(),
        thread: spec.thread.clone(),
        actor: spec.actor.clone(),
        namespace: spec.namespace.clone(),
    };
    for tool in record_tools(&seat) {
        tools.add(tool).map_err(|error| Failure::coded(&error))?;
    }
    Ok(tools)
}
