//! What a run works with: its model and its tools.

use std::path::PathBuf;

use clap::Args;
use spl::engine::Engine;
use spl::model::{Echo, Model, Price, Scripted};
use spl::run::RunSpec;
use spl::tool::{RecordSeat, Toolbox, Workspace, allowed_environment, record_tools};

use super::super::model::providers;
use super::super::tool::variables;
use crate::failure::Failure;
use crate::home;

/// Who takes the turns.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ModelArgs {
    /// Ask this model; `spl model list` says which there are
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
    /// Opens the model of a run that works in `workspace`.
    pub(crate) fn open(&self, workspace: &Workspace) -> Result<Box<dyn Model>, Failure> {
        if let Some(name) = &self.name {
            let model = providers(&home::find()?)?.model(name);
            return model.map_err(|error| Failure::coded(&error));
        }
        let Some(path) = &self.script else { return Ok(Box::new(Echo)) };
        let script = std::fs::read(path).map_err(|error| {
            Failure::usage(format!("`{}` could not be read: {error}", path.display()))
        })?;
        let scripted = Scripted::parse(&script, workspace.path());
        Ok(Box::new(scripted.map_err(|error| Failure::coded(&error))?))
    }

    /// Returns what the model costs, if that is known.
    pub(crate) fn price(&self) -> Result<Option<Price>, Failure> {
        match &self.name {
            None => Ok(None),
            Some(name) => Ok(providers(&home::find()?)?.price(name)),
        }
    }

    /// Returns the flags that choose the same model again, with a space behind them.
    pub(crate) fn as_flags(&self) -> String {
        match (&self.name, &self.script) {
            (Some(name), _) => format!("--model {name} "),
            (None, Some(path)) => format!("--script {} ", path.display()),
            (None, None) if self.echo => "--echo ".to_owned(),
            (None, None) => String::new(),
        }
    }
}

/// Returns the tools of a run: those of its workspace, and those over the store.
pub(crate) fn tools_of(
    engine: &Engine,
    spec: &RunSpec,
    workspace: &Workspace,
) -> Result<Toolbox, Failure> {
    let environment = allowed_environment(variables());
    let mut tools = Toolbox::of_workspace(workspace, environment);
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
