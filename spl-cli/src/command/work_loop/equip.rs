//! What a run works with: its model and its tools.

use std::path::PathBuf;

use clap::Args;
use spl::engine::Engine;
use spl::model::{Echo, Model, Scripted};
use spl::run::RunSpec;
use spl::tool::{RecordSeat, Toolbox, Workspace, allowed_environment, record_tools};

use crate::failure::Failure;

/// Who takes the turns.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// Play the turns of this file
    #[arg(long, value_name = "FILE", required_unless_present = "echo", conflicts_with = "echo")]
    script: Option<PathBuf>,
    /// Play the model that says what it was told
    #[arg(long)]
    echo: bool,
}

impl ModelArgs {
    /// Opens the model of a run that works in `workspace`.
    pub(crate) fn open(&self, workspace: &Workspace) -> Result<Box<dyn Model>, Failure> {
        let Some(path) = &self.script else { return Ok(Box::new(Echo)) };
        let script = std::fs::read(path).map_err(|error| {
            Failure::usage(format!("`{}` could not be read: {error}", path.display()))
        })?;
        let scripted = Scripted::parse(&script, workspace.path());
        Ok(Box::new(scripted.map_err(|error| Failure::coded(&error))?))
    }

    /// Returns the flags that choose the same model again, with a space behind them.
    pub(crate) fn as_flags(&self) -> String {
        match &self.script {
            Some(path) => format!("--script {} ", path.display()),
            None if self.echo => "--echo ".to_owned(),
            None => String::new(),
        }
    }
}

/// Returns the tools of a run: those of its workspace, and those over the store.
pub(crate) fn tools_of(
    engine: &Engine,
    spec: &RunSpec,
    workspace: &Workspace,
) -> Result<Toolbox, Failure> {
    // A variable that is no text cannot be among those that are passed on.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let environment = allowed_environment(variables);
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
