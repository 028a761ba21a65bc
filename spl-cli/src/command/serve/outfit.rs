//! What the runs of a server are equipped with, as its operator says when it starts.

use std::path::{Path, PathBuf};

use clap::Args;
use spl::config::TierName;
use spl::engine::{Engine, Home};
use spl::model::{Echo, Model, ModelError, Providers, Scripted};
use spl::policy::polpo::{Runtime, refuse_unasked};
use spl::policy::polyglot::Project;
use spl::policy::{Policy, SettingsError};
use spl::run::worker::Confined;
use spl::run::{Chosen, Host, Outfit, RunSpec, Unfit, mark_orphans};
use spl::tool::{OutsideError, Toolbox, Workspace};

use crate::command::model::providers;
use crate::command::tool::grant;
use crate::command::work_loop::{place, tools_of};
use crate::failure::Failure;
use crate::policy;

/// Which runs the server drives, and with what.
#[derive(Args, Debug)]
#[command(next_help_heading = "Runs")]
pub(crate) struct RunArgs {
    /// Drive runs, played by this model where they name no other; `spl model list` says which
    #[arg(long, value_name = "NAME", conflicts_with_all = ["echo", "script"])]
    model: Option<String>,
    /// Drive runs, played by the model that says what it was told
    #[arg(long, conflicts_with = "script")]
    echo: bool,
    /// Drive runs that play the turns of this file
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The folder in which the tools of the operator's runs work, and below which a run may be asked
    /// to; `workspace_roots` of `[server]` in config.toml adds others [default: they have none]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// How many runs may go on at once
    #[arg(long, value_name = "N", default_value_t = Host::CAPACITY)]
    max_runs: usize,
}

impl RunArgs {
    /// Returns the runs of this server; `None` if it was given no model.
    pub(super) fn host(
        &self,
        engine: &Engine,
        home: Option<&Home>,
    ) -> Result<Option<Host>, Failure> {
        let Some(plays) = self.plays(home)? else {
            told(mark_orphans(engine).map_err(|error| Failure::coded(&error))?);
            return Ok(None);
        };
        let workspace = self.workspace.as_deref().map(Workspace::open).transpose();
        let workspace = workspace.map_err(|error| Failure::coded(&error))?;
        let folder = match &workspace {
            Some(workspace) => workspace.path().to_owned(),
            None => std::env::current_dir()
                .map_err(|error| Failure::local("this folder could not be found", &error))?,
        };
        let confined = workspace.as_ref().and_then(|workspace| {
            place(workspace, home, &[])
                .inspect_err(|failure| {
                    let why = failure.message();
                    tracing::warn!(why, "runs of members get no tools that work in the workspace");
                })
                .ok()
        });
        let mut roots: Vec<PathBuf> =
            workspace.iter().map(|workspace| workspace.path().to_owned()).collect();
        let settings = home.map(Home::settings).transpose();
        let settings = settings.map_err(|error| Failure::coded(&error))?.unwrap_or_default();
        roots.extend(settings.server.workspace_roots);
        let outfit = ServerOutfit {
            plays,
            workspace,
            roots,
            folder,
            confined,
            home: home.cloned(),
            packs: policy::switches(&settings.runtime),
        };
        let host = Host::new(engine.clone(), outfit, self.max_runs);
        told(host.attend().map_err(|error| Failure::coded(&error))?);
        Ok(Some(host))
    }

    fn plays(&self, home: Option<&Home>) -> Result<Option<Plays>, Failure> {
        if let Some(name) = &self.model {
            let home = home.ok_or_else(|| {
                Failure::usage("--model needs a home, where settings and keys are")
                    .with_hint("Leave out --memory.")
            })?;
            let providers = providers(home)?;
            // What is missing is said now and not to whoever starts a run.
            providers.model(name).map_err(|error| Failure::coded(&error))?;
            return Ok(Some(Plays::Model { providers, name: name.clone() }));
        }
        let Some(path) = &self.script else {
            return Ok(self.echo.then_some(Plays::Echo));
        };
        let script = std::fs::read(path).map_err(|error| {
            Failure::usage(format!("`{}` could not be read: {error}", path.display()))
        })?;
        // What is wrong with it is said now and not to whoever starts a run.
        Scripted::parse(&script, Path::new(".")).map_err(|error| Failure::coded(&error))?;
        Ok(Some(Plays::Script(script)))
    }

    /// Returns the arguments that the process in the background is given too. It works in another
    /// folder.
    pub(super) fn passed_on(&self) -> Result<Vec<String>, Failure> {
        let absolute = |path: &Path| {
            let absolute = std::path::absolute(path).map_err(|error| {
                Failure::local(format!("`{}` is not a path", path.display()), &error)
            })?;
            Ok::<_, Failure>(absolute.to_string_lossy().into_owned())
        };
        let mut passed = vec!["--max-runs".to_owned(), self.max_runs.to_string()];
        if let Some(model) = &self.model {
            passed.extend(["--model".into(), model.clone()]);
        }
        if self.echo {
            passed.push("--echo".into());
        }
        if let Some(script) = &self.script {
            passed.extend(["--script".into(), absolute(script)?]);
        }
        if let Some(workspace) = &self.workspace {
            passed.extend(["--workspace".into(), absolute(workspace)?]);
        }
        Ok(passed)
    }
}

fn told(orphans: usize) {
    if orphans > 0 {
        tracing::warn!(orphans, "runs were found that nobody drives; they can be taken up");
    }
}

enum Plays {
    /// A model of a provider: this one, where a run names no other.
    Model {
        providers: Providers,
        name: String,
    },
    Echo,
    Script(Vec<u8>),
}

struct ServerOutfit {
    plays: Plays,
    workspace: Option<Workspace>,
    /// Below which folders a run may be asked to work.
    roots: Vec<PathBuf>,
    /// Where the files are that a script waits for.
    folder: PathBuf,
    /// Where the tools of members work.
    confined: Option<Confined>,
    /// The switches for packs.
    packs: Runtime,
    /// Where the settings of MCP servers are.
    home: Option<Home>,
}

impl ServerOutfit {
    /// Returns where a run works. The roots may be others than when it began.
    fn place_of(&self, asked: Option<&str>) -> Result<Option<Workspace>, OutsideError> {
        match asked {
            None => Ok(self.workspace.clone()),
            Some(asked) => Workspace::open_below(Path::new(asked), &self.roots).map(Some),
        }
    }
}

impl Outfit for ServerOutfit {
    fn choose(&self, asked: Option<&str>) -> Result<Chosen, ModelError> {
        let own = match &self.plays {
            Plays::Model { providers, name } => {
                let name = asked.unwrap_or(name).to_owned();
                // Whoever asks for one that nobody plays is told before a run begins.
                providers.model(&name)?;
                let price = providers.price(&name);
                return Ok(Chosen { name, price });
            }
            Plays::Echo => Echo.name().to_owned(),
            Plays::Script(_) => "scripted".to_owned(),
        };
        match asked {
            Some(other) if other != own => Err(ModelError::NoProvider {
                model: other.to_owned(),
                reason: format!("this server plays `{own}`"),
                hint: "Leave the model out, or start the server with another.".to_owned(),
            }),
            _ => Ok(Chosen { name: own, price: None }),
        }
    }

    fn model(&self, spec: &RunSpec) -> Result<Box<dyn Model>, ModelError> {
        match &self.plays {
            Plays::Model { providers, .. } => providers.model(&spec.model),
            Plays::Echo => Ok(Box::new(Echo)),
            Plays::Script(script) => match Scripted::parse(script, &self.folder) {
                Ok(scripted) => Ok(Box::new(scripted)),
                Err(error) => Err(ModelError::Malformed {
                    model: "scripted".to_owned(),
                    message: error.to_string(),
                }),
            },
        }
    }

    fn tools(&self, engine: &Engine, spec: &RunSpec) -> Result<Toolbox, Unfit> {
        let unfit = |failure: Failure| Unfit { why: failure.message().to_owned() };
        let workspace = self.place_of(spec.workspace.as_deref());
        let workspace = workspace.map_err(|error| Unfit { why: error.to_string() })?;
        let mut tools = tools_of(engine, spec, workspace.as_ref(), false).map_err(unfit)?;
        // MCP servers act with the operator's rights, wherever the rest of a run is confined.
        if let Some(home) = self.home.as_ref().filter(|_| spec.tier == TierName::Operator.as_str())
        {
            grant(home, None, &spec.thread, &mut tools).map_err(unfit)?;
        }
        Ok(tools)
    }

    fn workspace(&self) -> Option<&Path> {
        self.workspace.as_ref().map(Workspace::path)
    }

    fn workspace_roots(&self) -> Vec<PathBuf> {
        self.roots.clone()
    }

    fn confined(&self, workspace: Option<&str>) -> Option<Confined> {
        let Some(asked) = workspace else { return self.confined.clone() };
        place(&self.place_of(Some(asked)).ok()??, self.home.as_ref(), &[]).ok()
    }

    fn policy(&self, spec: &RunSpec, operator: bool) -> Result<Policy, SettingsError> {
        let workspace = self.place_of(spec.workspace.as_deref()).ok().flatten();
        let folder = workspace.as_ref().map_or(self.folder.as_path(), Workspace::path);
        let project = match &workspace {
            Some(_) if operator => Project::Asked,
            Some(_) => Project::Ignored("the run was not asked for by the operator"),
            None => Project::Ignored("the run works in no folder"),
        };
        if workspace.is_some() {
            refuse_unasked(folder, &self.packs)?;
        }
        policy::resolve(folder, project)
    }
}
