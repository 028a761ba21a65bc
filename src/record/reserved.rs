//! Threads that mean something to the instance itself (contract §1.9).

use super::ThreadId;

/// Threads with a meaning of their own. Who may write on them is a door's business; content from
/// elsewhere has no business there.
pub const RESERVED_THREADS: [&str; 16] = [
    super::CONFIG_THREAD,
    "th_actor_registry",
    // What whoever comes back to a session is told.
    "th_attention",
    "th_blueprints",
    "th_consent",
    "th_federation_pairs",
    "th_fleet_control",
    "th_instance_registry",
    "th_invite_templates",
    "th_invites",
    "th_namespace_registry",
    "th_policy_packs",
    "th_queries",
    "th_secret_audit",
    "th_sync_control",
    "th_tasks",
];

/// How the names begin of threads of which there is one for each namespace, actor or matter.
pub const RESERVED_PREFIXES: [&str; 3] = ["api_tokens_", "th_audit_", "th_trust_"];

impl ThreadId {
    /// Returns whether the thread means something to the instance itself.
    pub fn is_reserved(&self) -> bool {
        let name = self.as_str();
        RESERVED_THREADS.contains(&name)
            || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_so_to_the_letter() {
        let reserved = |name: &str| ThreadId::parse(name).expect("a thread").is_reserved();
        for name in ["th_engine_config", "th_audit_", "th_audit_security", "api_tokens_acme/ci"] {
            assert!(reserved(name), "{name}");
        }
        for name in ["th_engine_configs", "TH_ENGINE_CONFIG", "th_audits", "th_notes", "tokens"] {
            assert!(!reserved(name), "{name}");
        }
    }
}
