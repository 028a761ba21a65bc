//! Who is authenticated on a request; not the same as the actor of a record.

use std::sync::Arc;

use super::actors::Actors;
use super::scope::{Scope, Scopes, Way};
use crate::record::{ActorId, Namespace, ThreadId};
use crate::store::{AccountId, Sight, TokenId};

/// Who is authenticated on a request.
///
/// *Operator-class* (contract §3.4) is whoever owns the instance: a process of the same user that
/// opened the store or reached the socket, and a bearer with `admin`. It is decided on the
/// authenticated caller, never on the actor that a record names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    class: Class,
    /// Whom it says it acts for.
    claimed: Option<ActorId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Class {
    Operator,
    /// A local process inside a run, or inside the session of a harness.
    Agent,
    Bearer(Arc<Bearer>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bearer {
    account: Option<Holder>,
    scopes: Scopes,
    actors: Actors,
}

/// Whose token it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    account: AccountId,
    /// Its own name among actors.
    did: ActorId,
    token: TokenId,
}

impl Caller {
    /// Returns the owner of the instance.
    pub const fn operator() -> Self {
        Self { class: Class::Operator, claimed: None }
    }

    /// Returns a local process inside a run or inside the session of a harness: it reads and writes
    /// records, and is not the operator, whoever's user it runs as.
    pub const fn agent() -> Self {
        Self { class: Class::Agent, claimed: None }
    }

    /// Returns what is left of this caller in the shell of an agent: reading and writing records, where
    /// it could. Nobody may more than before.
    #[must_use]
    pub fn lowered(self) -> Self {
        let class = match self.class {
            Class::Operator | Class::Agent => Class::Agent,
            Class::Bearer(bearer) => {
                let Bearer { account, scopes, actors } = (*bearer).clone();
                // Whoever is not held to a list is not locked out by one that names nobody.
                let is_free = scopes.is_admin() && actors.is_empty();
                let actors = if is_free { Actors::every() } else { actors };
                Class::Bearer(Arc::new(Bearer { account, scopes: scopes.lowered(), actors }))
            }
        };
        Self { class, ..self }
    }

    /// Returns somebody without an account who has these scopes, and who may speak as every actor
    /// but those of the system.
    pub fn bearer(scopes: Scopes) -> Self {
        let bearer = Bearer { account: None, scopes, actors: Actors::every() };
        Self { class: Class::Bearer(Arc::new(bearer)), claimed: None }
    }

    /// Returns the holder of a token of an account.
    pub(super) fn holder(
        account: AccountId,
        token: TokenId,
        scopes: Scopes,
        actors: Actors,
    ) -> Self {
        let did = account.did();
        let account = Some(Holder { account, did, token });
        Self { class: Class::Bearer(Arc::new(Bearer { account, scopes, actors })), claimed: None }
    }

    /// Returns this caller as it says whom it acts for; `None` if it may not speak as that actor.
    #[must_use]
    pub fn claiming(self, actor: ActorId) -> Option<Self> {
        self.may_speak_as(&actor).then_some(Self { claimed: Some(actor), ..self })
    }

    /// Returns whether this caller is operator-class: whether it may write gated configuration.
    pub fn is_operator(&self) -> bool {
        match &self.class {
            Class::Operator => true,
            Class::Agent => false,
            Class::Bearer(bearer) => bearer.scopes.is_admin(),
        }
    }

    /// Returns whether this caller may do what `scope` allows, somewhere.
    pub fn may(&self, scope: Scope) -> bool {
        match &self.class {
            Class::Operator => true,
            Class::Agent => matches!(scope, Scope::RecordsRead | Scope::RecordsWrite),
            Class::Bearer(bearer) => bearer.scopes.allow(scope),
        }
    }

    /// Returns the account that it has, if it came with a token of one.
    pub fn account(&self) -> Option<&AccountId> {
        self.held().map(|held| &held.account)
    }

    /// Returns the token that it came with.
    pub fn token(&self) -> Option<&TokenId> {
        self.held().map(|held| &held.token)
    }

    /// Returns what it may do, in words.
    pub fn scope_words(&self) -> Vec<String> {
        match &self.class {
            Class::Operator => vec![Scope::Admin.to_string()],
            Class::Agent => {
                [Scope::RecordsRead, Scope::RecordsWrite].map(|it| it.to_string()).into()
            }
            Class::Bearer(bearer) => bearer.scopes.words(),
        }
    }

    /// Returns the actor that it says it acts for, if it says so.
    pub const fn claimed(&self) -> Option<&ActorId> {
        self.claimed.as_ref()
    }

    /// Returns whom it acts for: the actor that it claims, else the one that its account is.
    pub fn acting(&self) -> Option<&ActorId> {
        self.claimed.as_ref().or_else(|| self.held().map(|held| &held.did))
    }

    /// Returns whether it may state something in the name of this actor. Only the operator speaks as
    /// a part of the instance itself (decision 14), and an account as itself.
    pub fn may_speak_as(&self, actor: &ActorId) -> bool {
        let Class::Bearer(bearer) = &self.class else {
            return self.is_operator() || !actor.is_system();
        };
        let actors = &bearer.actors;
        if bearer.scopes.is_admin() {
            // Whoever owns the instance is held to a list only where there is one.
            return actors.is_empty() || actors.is_every() || actors.names(actor);
        }
        if bearer.account.as_ref().is_some_and(|held| held.did == *actor) {
            return actors.is_empty() || actors.is_every() || actors.names(actor);
        }
        !actor.is_system() && (actors.is_every() || actors.names(actor))
    }

    /// Returns whether it may read what stands on this thread, in this namespace.
    pub fn reads(&self, thread: &ThreadId, namespace: &Namespace) -> bool {
        self.may(Scope::RecordsRead) && self.bounds(Way::Read).shows(thread, namespace)
    }

    /// Returns whether it may write records on this thread, in this namespace. The scopes of the
    /// configuration are asked for beside it.
    pub fn writes(&self, thread: &ThreadId, namespace: &Namespace) -> bool {
        self.may(Scope::RecordsWrite) && self.bounds(Way::Write).shows(thread, namespace)
    }

    /// Returns where it may read or write, if it may at all.
    pub fn bounds(&self, way: Way) -> Sight {
        match &self.class {
            Class::Operator | Class::Agent => Sight::everything(),
            Class::Bearer(bearer) => bearer.scopes.bounds(way),
        }
    }

    /// Returns what of the store there is for this caller. Whoever reads nothing sees where it
    /// writes: no route that reads lets it pass, and one that writes has to find what is written to.
    pub fn sight(&self) -> Sight {
        if self.may(Scope::RecordsRead) {
            self.bounds(Way::Read)
        } else if self.may(Scope::RecordsWrite) {
            self.bounds(Way::Write)
        } else {
            Sight::nothing()
        }
    }

    /// Returns a short text for whoever looks later who it was.
    pub fn name(&self) -> &str {
        match &self.class {
            Class::Operator => "operator",
            Class::Agent => "agent",
            Class::Bearer(bearer) => {
                bearer.account.as_ref().map_or("bearer", |held| held.account.as_str())
            }
        }
    }

    fn held(&self) -> Option<&Holder> {
        match &self.class {
            Class::Bearer(bearer) => bearer.account.as_ref(),
            Class::Operator | Class::Agent => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(name: &str) -> ActorId {
        ActorId::parse(name).expect("a name")
    }

    fn holder(scopes: &str, actors: &str) -> Caller {
        Caller::holder(
            AccountId::parse("sa-ci").expect("an id"),
            TokenId::of_secret("s"),
            Scopes::parse(scopes).expect("scopes"),
            Actors::parse(actors).expect("actors"),
        )
    }

    #[test]
    fn an_account_speaks_as_whom_its_list_names() {
        const OWN: &str = "did:sync:system:sa-ci";
        const VERA: &str = "did:sync:user:vera";
        const ENGINE: &str = "did:sync:system:engine";
        for (scopes, actors, speaks) in [
            ("records:write", "", [true, false, false]),
            ("records:write", "*", [true, true, false]),
            ("records:write", VERA, [false, true, false]),
            ("records:write", "did:sync:user:vera,did:sync:system:sa-ci", [true, true, false]),
            // No list makes anybody the operator.
            ("records:write", ENGINE, [false, false, false]),
            ("admin", "", [true, true, true]),
            ("admin", "*", [true, true, true]),
            ("admin", VERA, [false, true, false]),
        ] {
            let caller = holder(scopes, actors);
            let got = [OWN, VERA, ENGINE].map(|name| caller.may_speak_as(&actor(name)));
            assert_eq!(got, speaks, "{scopes} with `{actors}`");
        }
        assert!(Caller::operator().may_speak_as(&actor(ENGINE)));
        assert!(!Caller::agent().may_speak_as(&actor(ENGINE)));
        assert!(Caller::agent().may_speak_as(&actor(VERA)));
    }

    #[test]
    fn a_caller_acts_for_whom_it_may_claim() {
        let vera = actor("did:sync:user:vera");
        assert_eq!(holder("admin", "").acting(), Some(&actor("did:sync:system:sa-ci")));
        assert_eq!(Caller::operator().acting(), None);
        let claimed = holder("records:write", "*").claiming(vera.clone()).expect("allowed");
        assert_eq!(claimed.acting(), Some(&vera));
        assert_eq!(holder("records:write", "").claiming(vera), None);
    }

    #[test]
    fn an_agent_reads_and_writes_records_and_is_nobody_else() {
        let agent = Caller::agent();
        let (thread, root) = (ThreadId::parse("a").expect("a name"), Namespace::root());
        assert!(agent.reads(&thread, &root) && agent.writes(&thread, &root));
        assert!(!agent.is_operator() && !agent.may(Scope::ConfigRead));
        assert!(!agent.may(Scope::ConfigWrite) && !agent.may(Scope::Admin));
    }

    #[test]
    fn whoever_only_writes_sees_where() {
        let (a, b) = (ThreadId::parse("a").expect("a"), ThreadId::parse("b").expect("b"));
        let root = Namespace::root();
        let caller = holder("thread:a:write", "");
        assert!(caller.writes(&a, &root) && !caller.writes(&b, &root));
        assert!(!caller.reads(&a, &root));
        assert!(caller.sight().shows(&a, &root) && !caller.sight().shows(&b, &root));
        assert_eq!(holder("config:read", "").sight(), Sight::nothing());
    }
}
