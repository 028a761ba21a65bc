//! The variables that a command may see (decision 17).

const ALLOWED: [&str; 9] =
    ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ"];

/// Returns those of `variables` that a command may see: what programs need to find their way and to
/// speak the right language. Keys of providers and what this engine itself is told by the
/// environment are not among them.
pub fn allowed_environment(
    variables: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let allowed = |name: &str| ALLOWED.contains(&name) || name.starts_with("LC_");
    variables.into_iter().filter(|(name, _)| allowed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_passes() {
        let names = "PATH HOME LANG LC_ALL LC_CTYPE TERM TMPDIR USER LOGNAME SHELL TZ \
            SPL_TOKEN SYNCROPEL_HOME ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY AWS_PROFILE \
            BASH_ENV ENV LD_PRELOAD path PATHS GITHUB_TOKEN SSH_AUTH_SOCK";
        let variables = names.split_whitespace().map(|name| (name.to_owned(), "x".to_owned()));
        let passed = allowed_environment(variables).into_iter().map(|(name, _)| name);
        assert_eq!(
            passed.collect::<Vec<_>>().join(" "),
            "PATH HOME LANG LC_ALL LC_CTYPE TERM TMPDIR USER LOGNAME SHELL TZ"
        );
    }
}
