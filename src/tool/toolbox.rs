//! The tools of one run.

use std::fmt;

use super::arguments::short;
use super::{
    Answer, BashTool, Cancel, Grants, ListDirTool, NoSuchTool, ReadFileTool, SearchTool,
    Surroundings, Tool, ToolSpec, Workspace, WriteFileTool,
};
use crate::canon::Object;
use crate::code::{Code, Coded};

/// The names of the tools that work in a directory.
pub const WORKSPACE_TOOLS: [&str; 5] = ["bash", "read_file", "write_file", "list_dir", "search"];

/// The tools that a run may call, in the order in which a model is told of them.
#[derive(Default)]
pub struct Toolbox {
    tools: Vec<Box<dyn Tool>>,
}

/// Two tools of one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is a tool `{name}` already")]
pub struct NameTaken {
    /// The name.
    pub name: String,
}

impl Coded for NameTaken {
    fn code(&self) -> Code {
        Code::InvalidRequest
    }
}

impl Toolbox {
    /// Returns a box without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the tools that work in a directory: `bash`, `read_file`, `write_file`, `list_dir`,
    /// `search`. Commands have these surroundings; variables alone are those of which they see the
    /// allowed part.
    pub fn of_workspace(workspace: &Workspace, surroundings: impl Into<Surroundings>) -> Self {
        Self {
            tools: vec![
                Box::new(BashTool::new(workspace.clone(), surroundings.into())),
                Box::new(ReadFileTool::new(workspace.clone())),
                Box::new(WriteFileTool::new(workspace.clone())),
                Box::new(ListDirTool::new(workspace.clone())),
                Box::new(SearchTool::new(workspace.clone())),
            ],
        }
    }

    /// Adds a tool. A second one of the same name is refused: it would speak in another's name.
    pub fn add(&mut self, tool: Box<dyn Tool>) -> Result<(), NameTaken> {
        let name = &tool.spec().name;
        if self.get(name).is_some() {
            return Err(NameTaken { name: name.clone() });
        }
        self.tools.push(tool);
        Ok(())
    }

    /// Takes out the tools whose names are not `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.tools.retain(|tool| wanted(&tool.spec().name));
    }

    /// Leaves the tools that were granted. A grant that covers none is refused, with the names that
    /// there are, and then the box stays as it was.
    pub fn grant(&mut self, grants: &Grants) -> Result<(), NoSuchTool> {
        let there: Vec<&str> = self.specs().map(|spec| spec.name.as_str()).collect();
        grants.check(&there)?;
        self.retain(|name| grants.cover(name));
        Ok(())
    }

    /// Returns the tool `name`.
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().find(|tool| tool.spec().name == name).map(Box::as_ref)
    }

    /// Returns how the tools introduce themselves, in order.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| tool.spec())
    }

    /// Calls the tool `name`. One that is not there, or arguments that do not fit, is an answer
    /// that says so.
    pub fn call(&self, name: &str, arguments: &Object, cancel: &Cancel) -> Answer {
        let Some(tool) = self.get(name) else {
            return Answer::error(self.unknown(name));
        };
        match tool.check(arguments) {
            Ok(()) => tool.call(arguments, cancel),
            Err(misfit) => Answer::error(misfit),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<String> = self.specs().map(|spec| format!("`{}`", spec.name)).collect();
        if names.is_empty() {
            return format!("there is no tool `{}`, nor any other", short(name));
        }
        format!("there is no tool `{}`; there are {}", short(name), names.join(", "))
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs().map(|spec| &spec.name)).finish()
    }
}
