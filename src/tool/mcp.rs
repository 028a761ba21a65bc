//! Tools of MCP servers, over standard input and output or over HTTP.
//!
//! What a server says is foreign: its names, schemas and texts are bounded and checked, its failures
//! are answers, and it is waited for no longer than its settings say. A run keeps the tools that it
//! began with: one that a server no longer has answers so, and one that it has since then is not
//! added. A server that ends is started again by the next call, a few times.
//!
//! - [`runtime`] a thread that drives what waits, so that the loop need not
//! - [`process`] a server that is a process: its group, its environment, its last words
//! - [`connection`] one live connection: begun, asked, closed
//! - [`server`] a server across its connections
//! - [`result`] what a server answers, as an answer of ours
//! - [`servers`] all servers of a run, and what their tools are called

mod connection;
mod process;
mod result;
mod runtime;
mod server;
mod servers;
mod transport;

pub use servers::{McpReport, McpServers, McpState, RefusedTool};
