//! What a run may call: names, schemas, answers, and the workspace they work in.
//!
//! Comes in: a name and arguments that a model made up. Goes out: an [`Answer`], always. A name
//! that is not there, arguments that do not fit, a file that is missing, a command that fails are
//! answers too, with words from which the model can do better.
//!
//! **Invariants:** an answer is bounded however much a tool has to say, and so is the memory that
//! gathers it. File tools reach what is inside of their [`Workspace`] and nothing else. A command
//! sees the variables that [`allowed_environment`] lets through, and which run it is of, and no
//! others; an MCP server those and its own; a [`Script`] what it is handed: this module does not read
//! the environment of its process. Texts are as they came; masking is for who stores them.

mod answer;
mod arguments;
mod bash;
mod clip;
mod environment;
mod grant;
mod leader;
mod list_dir;
#[cfg(feature = "mcp")]
mod mcp;
mod process;
mod read_file;
mod records;
mod script;
mod search;
mod surroundings;
mod text_file;
mod toolbox;
mod watcher;
mod workspace;
mod write_file;

pub use answer::{Answer, Status};
pub use bash::BashTool;
pub use clip::{Clip, SHOWN_BYTES};
pub use environment::allowed_environment;
pub use grant::{Grants, NoSuchTool};
pub use list_dir::ListDirTool;
#[cfg(feature = "mcp")]
pub use mcp::{McpReport, McpServers, McpState, RefusedTool};
pub use read_file::ReadFileTool;
pub use records::{RecordSeat, record_tool_specs, record_tools};
pub use script::{Ending, Script, ScriptEnd};
pub use search::SearchTool;
pub use surroundings::{RUN_VARIABLE, Surroundings};
pub use text_file::NoText;
pub use toolbox::{NameTaken, Toolbox, WORKSPACE_TOOLS};
pub use workspace::{Workspace, WorkspaceError};
pub use write_file::WriteFileTool;

pub use crate::cancel::Cancel;
use crate::canon::{Object, Value};

/// How a tool introduces itself to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name to call it by.
    pub name: String,
    /// What it does, in the words a model reads.
    pub description: String,
    /// The arguments it takes, as a JSON Schema of an object.
    pub parameters: Value,
}

impl ToolSpec {
    /// Returns the introduction of a tool that takes the arguments `properties`, of which those in
    /// `required` must be there, and no others.
    pub fn new(name: &str, description: &str, properties: Object, required: &[&str]) -> Self {
        let parameters = crate::object! {
            "type": "object",
            "properties": properties,
            "required": required.to_vec(),
            "additionalProperties": false,
        };
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: Value::Object(parameters),
        }
    }
}

/// Something that a run may call.
pub trait Tool: Send + Sync {
    /// Returns how it introduces itself. Its name never changes.
    fn spec(&self) -> &ToolSpec;

    /// Checks arguments before it is called, and says what is wrong with the first that does not
    /// fit.
    fn check(&self, arguments: &Object) -> Result<(), String> {
        arguments::check(self.spec(), arguments)
    }

    /// Does it. Ends soon after `cancel` is raised.
    fn call(&self, arguments: &Object, cancel: &Cancel) -> Answer;
}
