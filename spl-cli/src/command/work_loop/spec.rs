//! What a run is asked to do, from the command line.

use clap::Args;
use spl::canon::{Object, Value};
use spl::config::parse_usd;
use spl::identity::random_bytes;
use spl::object;
use spl::record::{ActorId, NameError, Namespace, ThreadId};
use spl::run::{Limits, RunSpec};

use crate::failure::Failure;

/// What a run is asked to do beside its goal.
#[derive(Args, Debug)]
pub(crate) struct SpecArgs {
    /// The most turns
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT_MAX_TURNS,
          value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,
    /// The most tokens, read and written
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    token_budget: Option<u64>,
    /// The most seconds that the model and the tools may take
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..))]
    wall_clock: Option<u64>,
    /// The most money, in US dollars such as 0.25; needs a model whose price is known
    #[arg(long, value_name = "USD", value_parser = dollars)]
    usd_budget: Option<u64>,
    /// Where the run stands; it hears the hooks of this namespace and of those above it
    #[arg(long, value_name = "NS", default_value = "default")]
    namespace: String,
    /// Who runs
    #[arg(long, value_name = "DID", default_value = "did:sync:agent:spl")]
    actor: String,
    /// What the work is trusted under
    #[arg(long, value_name = "D", default_value = "general")]
    domain: String,
}

impl SpecArgs {
    /// Returns a new run for `goal`, played by `model`.
    pub(crate) fn of(&self, goal: &str, model: &str) -> Result<RunSpec, Failure> {
        let actor = ActorId::parse(&self.actor).map_err(|error| misnamed("--actor", &error))?;
        let namespace =
            Namespace::parse(&self.namespace).map_err(|error| misnamed("--namespace", &error))?;
        let thread = mint(&actor, goal)?;
        Ok(RunSpec {
            namespace,
            domain: self.domain.clone(),
            limits: Limits {
                max_turns: Some(self.max_turns),
                token_budget: self.token_budget,
                wall_clock_secs: self.wall_clock,
                usd_budget: self.usd_budget,
            },
            ..RunSpec::new(thread, actor, goal, model)
        })
    }
}

impl SpecArgs {
    /// Returns the request that starts such a run on a server.
    pub(super) fn to_request(&self, goal: &str) -> Object {
        let mut request = object! {
            "actor": self.actor.as_str(),
            "domain": self.domain.as_str(),
            "goal": goal,
            "max_turns": self.max_turns,
            "namespace": self.namespace.as_str(),
        };
        let limits = [
            ("budget_usd", self.usd_budget.map(spl::config::usd_value)),
            ("token_budget", self.token_budget.map(Value::from)),
            ("wall_clock_secs", self.wall_clock.map(Value::from)),
        ];
        for (name, limit) in limits {
            if let Some(limit) = limit {
                request.insert(name.into(), limit);
            }
        }
        request
    }
}

/// Names a new run.
pub(crate) fn mint(actor: &ActorId, goal: &str) -> Result<ThreadId, Failure> {
    let nonce = random_bytes::<32>()
        .map_err(|error| Failure::local("the run could not be named", &error))?;
    RunSpec::mint_thread(actor, goal, &nonce).map_err(|error| misnamed("the run", &error))
}

fn misnamed(what: &str, error: &NameError) -> Failure {
    Failure::usage(format!("{what} {error}"))
}

fn dollars(text: &str) -> Result<u64, String> {
    match parse_usd(text) {
        Ok(0) => Err("must be above 0".to_owned()),
        Ok(micros) => Ok(micros),
        Err(error) => Err(error.to_string()),
    }
}
