//! A server across its connections.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Foreign};
use rmcp::service::ServiceError;
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;

use super::connection::{Connection, reason};
use super::result;
use super::runtime::SharedRuntime;
use super::transport::Credentials;
use crate::canon::{Object, Value};
use crate::engine::McpServer;
use crate::tool::arguments::Schema;
use crate::tool::{Answer, Cancel, Tool, ToolSpec};

/// How many times in a row a server is started again.
const RESTARTS: u32 = 3;

/// A server of tools.
pub(super) struct Server {
    name: String,
    settings: McpServer,
    environment: Vec<(String, String)>,
    credentials: Credentials,
    runtime: SharedRuntime,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Connection>,
    /// How often it was started again since it last answered.
    restarts: u32,
    /// What its tools are called now.
    tools: BTreeSet<String>,
}

impl Server {
    /// Starts the server, and returns it with the tools that it lists.
    pub(super) async fn start(
        name: String,
        settings: McpServer,
        variables: Vec<(String, String)>,
        environment: Vec<(String, String)>,
        runtime: SharedRuntime,
    ) -> Result<(Self, Vec<Foreign>), String> {
        let credentials = Credentials::of(&settings, &variables)?;
        let opened = Connection::open(&settings, &environment, &credentials).await;
        let (live, tools) = opened.map_err(|why| credentials.hide(&why))?;
        let state = State { live: Some(live), restarts: 0, tools: names(&tools) };
        let state = Mutex::new(state);
        Ok((Self { name, settings, environment, credentials, runtime, state }, tools))
    }

    /// Calls a tool of it, until `stop` is told.
    async fn call(&self, tool: &str, arguments: JsonObject, stop: &Notify) -> Answer {
        tokio::select! {
            biased;
            answer = self.answer(tool, arguments) => {
                answer.unwrap_or_else(|why| Answer::error(self.credentials.hide(&why)))
            }
            () = stop.notified() => Answer::error("[cancelled]"),
        }
    }

    async fn answer(&self, tool: &str, arguments: JsonObject) -> Result<Answer, String> {
        let mut state = self.state.lock().await;
        self.revive(&mut state).await?;
        self.look_for(tool, &mut state).await?;
        let Some(live) = &state.live else { return Err(self.gone("is not there")) };
        let called = timeout(self.settings.timeout, live.call(tool, arguments)).await;
        let secs = self.settings.timeout.as_secs();
        match called {
            Err(_) => Err(self.gone(&format!(
                "did not answer within {secs} s; whether the call had an effect is not known"
            ))),
            Ok(Ok(result)) => {
                state.restarts = 0;
                Ok(result::answer(&result))
            }
            Ok(Err(ServiceError::McpError(error))) => {
                state.restarts = 0;
                // Perhaps it has renamed its tools and told nobody.
                self.relist(&mut state).await?;
                self.has(tool, &state)?;
                Err(format!("`{}` refuses the call: {}", self.name, error.message))
            }
            Ok(Err(error)) if live.is_closed() || unsent(&error) => {
                let why = format!(
                    "ended before it answered: {}; whether the call had an effect is not known",
                    reason(&error)
                );
                Err(self.close(&mut state, &why).await)
            }
            Ok(Err(error)) => Err(self.gone(&format!("did not answer: {}", reason(&error)))),
        }
    }

    /// Starts the server again if it has ended, unless that was to no avail too often.
    async fn revive(&self, state: &mut State) -> Result<(), String> {
        if state.live.as_ref().is_some_and(|live| !live.is_closed()) {
            return Ok(());
        }
        if let Some(live) = state.live.take() {
            live.close().await;
        }
        if state.restarts >= RESTARTS {
            return Err(self
                .gone(&format!("has ended, and was started again {RESTARTS} times to no avail")));
        }
        state.restarts += 1;
        let opened = Connection::open(&self.settings, &self.environment, &self.credentials).await;
        let (live, tools) =
            opened.map_err(|why| self.gone(&format!("cannot be started again: {why}")))?;
        state.tools = names(&tools);
        state.live = Some(live);
        Ok(())
    }

    /// Makes sure that the server still has `tool`.
    async fn look_for(&self, tool: &str, state: &mut State) -> Result<(), String> {
        if state.live.as_ref().is_some_and(Connection::tools_changed) {
            self.relist(state).await?;
        }
        self.has(tool, state)
    }

    async fn relist(&self, state: &mut State) -> Result<(), String> {
        let Some(live) = &state.live else { return Ok(()) };
        let listed = timeout(self.settings.start_timeout, live.tools()).await;
        match listed.unwrap_or_else(|_| Err("it does not answer".into())) {
            Ok(tools) => state.tools = names(&tools),
            Err(why) => return Err(self.gone(&format!("cannot list its tools: {why}"))),
        }
        Ok(())
    }

    fn has(&self, tool: &str, state: &State) -> Result<(), String> {
        if state.tools.contains(tool) {
            return Ok(());
        }
        Err(format!("the server `{}` no longer has `{tool}`", self.name))
    }

    async fn close(&self, state: &mut State, why: &str) -> String {
        let why = self.gone(why);
        match state.live.take() {
            Some(live) => live.close_for(why).await,
            None => why,
        }
    }

    fn gone(&self, what: &str) -> String {
        format!("the MCP server `{}` {what}", self.name)
    }
}

/// Ends the server.
impl Drop for Server {
    fn drop(&mut self) {
        if let Some(live) = self.state.get_mut().live.take() {
            self.runtime.run(live.close());
        }
    }
}

fn unsent(error: &ServiceError) -> bool {
    matches!(error, ServiceError::TransportClosed | ServiceError::TransportSend(_))
}

fn names(tools: &[Foreign]) -> BTreeSet<String> {
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

/// A tool of a server.
pub(super) struct McpTool {
    server: Arc<Server>,
    /// What the server calls it.
    name: String,
    spec: ToolSpec,
    schema: Schema,
}

impl McpTool {
    /// Returns the tool that the server calls `name`, or says what is wrong with its schema.
    pub(super) fn new(server: Arc<Server>, name: String, spec: ToolSpec) -> Result<Self, String> {
        let schema = Schema::compile(&spec)?;
        Ok(Self { server, name, spec, schema })
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, arguments: &Object) -> Result<(), String> {
        self.schema.check(&self.spec, arguments)
    }

    fn call(&self, arguments: &Object, cancel: &Cancel) -> Answer {
        if cancel.is_cancelled() {
            return Answer::error("[cancelled]");
        }
        let text = Value::Object(arguments.clone()).to_string();
        let arguments: JsonObject = match serde_json::from_str(&text) {
            Ok(arguments) => arguments,
            Err(error) => return Answer::error(format!("the arguments cannot be sent: {error}")),
        };
        let (server, tool, stop) = (Arc::clone(&self.server), self.name.clone(), Arc::default());
        let work = {
            let stop = Arc::clone(&stop);
            async move { server.call(&tool, arguments, &stop).await }
        };
        let answer = self.server.runtime.run_until(work, cancel, &stop);
        answer.unwrap_or_else(|| Answer::error("the call broke off"))
    }
}
