//! A record that is about to be written, and the clock that is found for it.

use spl::canon::{Object, Value};
use spl::code::Code;
use spl::object;
use spl::record::{Act, ActorId, CONFIG_THREAD, RecordId};
use spl::secret::mask_value;

use crate::client::{Client, Reply, Target};
use crate::failure::{Exit, Failure};
use crate::output::{self, printable};
use crate::session;

/// How often a clock is looked for that nobody else has taken.
const TRIES: usize = 500;

/// What is stated, by whom and where. Its clock is found when it is written.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// The thread.
    pub(crate) thread: String,
    /// Who states it.
    pub(crate) actor: String,
    /// What kind of statement it is.
    pub(crate) act: Act,
    /// What is stated.
    pub(crate) body: Object,
    /// What it builds on.
    pub(crate) parents: Vec<RecordId>,
}

impl Statement {
    /// Returns configuration, which is stated where configuration is, as the instance unless somebody
    /// is named.
    pub(crate) fn of_configuration(actor: Option<&str>, body: Object) -> Self {
        Self {
            thread: CONFIG_THREAD.to_owned(),
            actor: session::named_actor(actor).unwrap_or_else(|| ActorId::engine().to_string()),
            act: Act::Learn,
            body,
            parents: Vec::new(),
        }
    }

    /// Writes the record at the actor's next clock on the thread.
    ///
    /// Others may write as the same actor meanwhile; then the clock is found once more. It is
    /// another record then, so nothing is written twice. Each time somebody else has written, so
    /// of many who begin together every one comes to its turn.
    pub(crate) fn write(&self, client: &Client) -> Result<Reply, Failure> {
        self.refuse_agent(client)?;
        self.warn_of_secrets();
        for _ in 1..TRIES {
            let written = self.write_at(client, self.next_clock(client)?);
            if !is_taken(&written, client) {
                return written;
            }
        }
        self.write_at(client, self.next_clock(client)?)
    }

    /// Configuration that is stated by the instance itself is the operator's. In the shell of an agent
    /// that is said here: a door would speak of the name first, which nobody has chosen.
    fn refuse_agent(&self, client: &Client) -> Result<(), Failure> {
        let as_instance = ActorId::parse(&self.actor).is_ok_and(|actor| actor.is_system());
        if client.is_an_agents() && as_instance && self.thread == CONFIG_THREAD {
            let message = "this configuration takes the operator";
            return Err(Failure::new(Exit::Auth, Code::ConfigWriteDenied.as_str(), message));
        }
        Ok(())
    }

    /// A record is stored as it is sent, and taking its words out is no small thing (decision 15).
    fn warn_of_secrets(&self) {
        let body = Value::from(self.body.clone());
        let mut places = Vec::new();
        differing(&body, &mask_value(&body), "body", &mut places);
        for place in places {
            output::warn(&format!(
                "`{place}` looks like a secret; only `spl erase --purge` takes a record's words out",
                place = printable(&place)
            ));
        }
    }

    fn write_at(&self, client: &Client, clock: i64) -> Result<Reply, Failure> {
        let envelope = object! {
            "act": self.act.as_str(),
            "actor": self.actor.as_str(),
            "body": self.body.clone(),
            "clock": clock,
            "data_type": "SCALAR",
            "parents": self.parents.clone(),
            "thread": self.thread.as_str(),
        };
        client.post(&Target::of(&["v1", "records"]), envelope)
    }

    fn next_clock(&self, client: &Client) -> Result<i64, Failure> {
        let state = client.get(&Target::of(&["v1", "threads", &self.thread, "state"]))?;
        let highest = state
            .get("actor_clocks")
            .and_then(|clocks| clocks.get(&self.actor))
            .and_then(Value::as_i64);
        match highest {
            None => Ok(0),
            Some(highest) => highest.checked_add(1).ok_or_else(|| {
                Failure::usage(format!("`{}` has no clock left on this thread", self.actor))
                    .with_hint("Use another thread or another actor.")
            }),
        }
    }
}

/// Tells whether somebody else has taken the clock, with another record or with the same words.
///
/// A record that was there already may also be this very one: stored by a server that went away
/// before it could say so.
fn is_taken(written: &Result<Reply, Failure>, client: &Client) -> bool {
    match written {
        Ok(reply) => reply.status == 200 && !client.has_asked_twice(),
        Err(failure) => failure.is_duplicate_clock(),
    }
}

/// Finds where a masked value differs from what it was.
fn differing(value: &Value, masked: &Value, place: &str, places: &mut Vec<String>) {
    match (value, masked) {
        (Value::Object(members), Value::Object(masked)) => {
            for (key, value) in members {
                let masked = masked.get(key).unwrap_or(&Value::Null);
                differing(value, masked, &format!("{place}.{key}"), places);
            }
        }
        (Value::Array(elements), Value::Array(masked)) => {
            for (at, (value, masked)) in elements.iter().zip(masked).enumerate() {
                differing(value, masked, &format!("{place}[{at}]"), places);
            }
        }
        (value, masked) if value != masked => places.push(place.to_owned()),
        _ => {}
    }
}
