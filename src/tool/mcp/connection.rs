//! One live connection to a server: begun, asked, closed.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    JsonObject, PaginatedRequestParams, Tool,
};
use rmcp::service::{NotificationContext, RunningService, ServiceError, serve_client};
use rmcp::{ClientHandler, RoleClient};
use tokio::time::timeout;

use super::process::{Program, ServerProcess};
use super::transport::Credentials;
use crate::engine::{McpServer, McpTransport};

/// The most tools that a server may have.
const TOOLS: usize = 512;

/// The most pages that its list of them may come in.
const PAGES: usize = 64;

/// A live connection.
pub(super) struct Connection {
    service: RunningService<RoleClient, Listener>,
    process: Option<ServerProcess>,
    changed: Arc<AtomicBool>,
}

/// What a server may tell us unasked: that its tools have changed.
struct Listener(Arc<AtomicBool>);

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn get_info(&self) -> ClientConfig {
        let we = Implementation::new("spl", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), we)
    }
}

impl Connection {
    /// Begins one, and lists the tools of the server.
    pub(super) async fn open(
        server: &McpServer,
        environment: &[(String, String)],
        credentials: &Credentials,
    ) -> Result<(Self, Vec<Tool>), String> {
        let secs = server.start_timeout.as_secs();
        let late = || format!("it did not answer within {secs} s");
        let changed = Arc::new(AtomicBool::new(false));
        let listener = Listener(Arc::clone(&changed));
        let (begun, mut process) = match &server.transport {
            McpTransport::Stdio { command, args, env, cwd } => {
                let cwd = cwd.as_ref();
                let program = Program { command, args, environment, env, cwd };
                let (process, stdout, stdin) = ServerProcess::start(&program)?;
                let begun = timeout(server.start_timeout, serve_client(listener, (stdout, stdin)));
                (begun.await.map_err(|_| late()), Some(process))
            }
            McpTransport::Http { url, .. } => {
                let way = credentials.http(url, server)?;
                let begun = timeout(server.start_timeout, serve_client(listener, way));
                (begun.await.map_err(|_| late()), None)
            }
        };
        let begun = begun.and_then(|begun| begun.map_err(|error| reason(&error)));
        let service = match begun {
            Ok(service) => service,
            Err(why) => return Err(last_words(why, process.as_mut()).await),
        };
        let connection = Self { service, process, changed };
        match timeout(server.start_timeout, connection.tools()).await.map_err(|_| late()) {
            Ok(Ok(tools)) => Ok((connection, tools)),
            Ok(Err(why)) | Err(why) => {
                let why = format!("its tools cannot be listed: {why}");
                Err(connection.close_for(why).await)
            }
        }
    }

    /// Lists the tools of the server.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        self.changed.store(false, Ordering::Relaxed);
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = self.service.peer().list_tools(Some(page)).await;
            let listed = listed.map_err(|error| reason(&error))?;
            tools.extend(listed.tools);
            if tools.len() > TOOLS {
                return Err(format!("there are more than {TOOLS}"));
            }
            cursor = listed.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(format!("the list comes in more than {PAGES} pages"))
    }

    /// Tells whether the server has said that its tools are not what they were.
    pub(super) fn tools_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Calls a tool. To drop this before its end tells the server that nobody waits any more.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, ServiceError> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.service.call_tool(request).await
    }

    /// Tells whether the server can still be asked.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Closes it; a process is ended.
    pub(super) async fn close(self) {
        let Self { mut service, process, .. } = self;
        // To close is to close a process's standard input, which asks it to end.
        let _ = service.close_with_timeout(std::time::Duration::from_millis(500)).await;
        drop(service);
        if let Some(process) = process {
            process.end().await;
        }
    }

    /// Closes it, and adds to `why` how its process ended.
    pub(super) async fn close_for(mut self, why: String) -> String {
        let why = last_words(why, self.process.as_mut()).await;
        self.close().await;
        why
    }
}

async fn last_words(why: String, process: Option<&mut ServerProcess>) -> String {
    match process {
        Some(process) => format!("{why} ({})", process.last_words().await),
        None => why,
    }
}

/// Says an error with what caused it.
pub(super) fn reason(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !said.contains(&text) {
            said.push_str(&format!(": {text}"));
        }
        cause = error.source();
    }
    said
}
