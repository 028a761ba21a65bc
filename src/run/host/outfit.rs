//! What the runs of a server are equipped with: somebody else's business.

use std::path::{Path, PathBuf};

use crate::code::{Code, Coded};
use crate::engine::Engine;
use crate::model::{Model, ModelError, Price};
use crate::policy::{Policy, SettingsError};
use crate::run::RunSpec;
use crate::run::worker::Confined;
use crate::tool::Toolbox;

/// What the runs of a server are equipped with.
pub trait Outfit: Send + Sync {
    /// Returns the model that plays a run for which somebody asks this one, or none by name.
    fn choose(&self, asked: Option<&str>) -> Result<Chosen, ModelError>;

    /// Returns the model of a run.
    fn model(&self, spec: &RunSpec) -> Result<Box<dyn Model>, ModelError>;

    /// Returns the tools of a run. What its tier forbids is taken out later.
    fn tools(&self, engine: &Engine, spec: &RunSpec) -> Result<Toolbox, Unfit>;

    /// Returns the folder in which the tools work where nobody asks for another, if there is one.
    fn workspace(&self) -> Option<&Path>;

    /// Returns the folders below which a run may be asked to work.
    fn workspace_roots(&self) -> Vec<PathBuf> {
        self.workspace().map(Path::to_owned).into_iter().collect()
    }

    /// Returns the place in which the tools of a confined run work that was asked to work in this
    /// folder, or in none. Without one there are no tools for it but those over the store, which the
    /// engine executes itself.
    fn confined(&self, _workspace: Option<&str>) -> Option<Confined> {
        None
    }

    /// Returns the policy hooks of a run, and what else is set up about it. Those of the folder where
    /// it works are somebody else's word, and asked in the operator's runs alone.
    fn policy(&self, _spec: &RunSpec, _operator: bool) -> Result<Policy, SettingsError> {
        Ok(Policy::none())
    }
}

/// A model that plays a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// What it costs, where that is known.
    pub price: Option<Price>,
}

/// Why a run cannot be equipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tools of the run are not to be had: {why}")]
pub struct Unfit {
    /// Why.
    pub why: String,
}

impl Coded for Unfit {
    fn code(&self) -> Code {
        Code::Internal
    }
}
