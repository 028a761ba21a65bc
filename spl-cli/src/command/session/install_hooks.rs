//! `spl session install-hooks`: write our hooks into the settings of a harness, or take them out.

mod change;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;

use spl::engine::Home;
use spl::record::Namespace;

use super::command_line::{self, CommandLine, HOME, Program, not_text};
use super::file::SettingsFile;
use super::harness::{self, Harness};
use super::installed::Kept;
use super::plugin;
use super::policy;
use super::settings::{Document, Syntax, entries};
use crate::failure::Failure;
use crate::home;
use crate::output;
use crate::session::Session;
use change::Change;

/// Let a harness tell of its sessions, and hear the lessons
#[derive(Args, Debug)]
#[command(after_help = "\
Only our own entries are written, into the file that the harness reads; all else in it stays as it
is. Written twice, the file is the same. What was there before is kept in the home, and --uninstall
puts it back if nobody has changed the file since; else it takes out our entries alone.

With --with-policy the policy hooks of ~/.polyglot/settings.json decide as well: a call is refused
before it is made, a prompt before it is heard. They can refuse, and never allow: what the harness
itself asks or forbids, it still does. They go on deciding when hooks are installed again;
--uninstall --with-policy ends that alone, and `spl policy off` for a while.

Examples:
  spl session install-hooks
  spl session install-hooks --harness codex --dry-run
  spl session install-hooks --harness gemini --namespace default/shop
  spl session install-hooks --harness codex --with-policy
  spl session install-hooks --env SYNCROPEL_HOME=/srv/team
  spl session install-hooks --harness qwen --uninstall

Files: ~/.claude/settings.json (CLAUDE_CONFIG_DIR), ~/.codex/hooks.json (CODEX_HOME),
~/.gemini/settings.json, ~/.qwen/settings.json (QWEN_HOME), ~/.config/opencode/plugins/spl.js
(XDG_CONFIG_HOME).")]
pub(crate) struct InstallHooksArgs {
    /// Whose settings to change: claude, codex, gemini, qwen or opencode
    #[arg(
        long,
        value_enum,
        value_name = "HARNESS",
        default_value = "claude",
        hide_possible_values = true
    )]
    harness: Harness,
    /// The settings file [default: the user's own]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// A variable for the hook, such as `SYNCROPEL_HOME`; may be given again
    #[arg(long, value_name = "KEY=VALUE", value_parser = command_line::variable)]
    env: Vec<(String, String)>,
    /// The namespace of the sessions [default: the root]
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    namespace: Option<Namespace>,
    /// Let policy hooks decide about prompts and about calls before they are made
    #[arg(long)]
    with_policy: bool,
    /// Print what would change, as a diff, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take our hooks out again; with --with-policy, only what lets policy hooks decide
    #[arg(long, conflicts_with = "namespace")]
    uninstall: bool,
}

fn namespace(name: &str) -> Result<Namespace, String> {
    Namespace::parse(name).map_err(|error| format!("a namespace {error}"))
}

/// Writes our hooks into the settings of a harness, or takes them out.
pub(crate) fn install_hooks(session: &mut Session, args: &InstallHooksArgs) -> Result<(), Failure> {
    session.refuse_server("spl session install-hooks")?;
    let path = settings_path(args.harness, args.settings.as_deref())?;
    let file = SettingsFile::read(&path)?;
    let (home, variables) = home_of(&args.env)?;
    // The hooks that are there may be of another instance, which then has what was there before.
    let of_the_hooks = commands(args.harness, &file)
        .first()
        .and_then(|line| command_line::home_of(line))
        .map(|home| Kept::of(&Home::at(home), args.harness, &file));
    let named = args.env.iter().any(|(key, _)| key == HOME);
    let own = Kept::of(&home, args.harness, &file);
    let (kept, other) = match of_the_hooks {
        Some(theirs) if args.uninstall && !named => (theirs, None),
        theirs => (own, theirs),
    };
    let known = kept.read().or_else(|| other.as_ref()?.read());
    let change = if args.uninstall && args.with_policy {
        Change::undeciding(args.harness, &file, known.as_ref())?
    } else if args.uninstall {
        Change::uninstalling(args.harness, &file, known.as_ref())?
    } else {
        if let Some(namespace) = &args.namespace {
            check_namespace(&home, namespace)?;
        }
        let program = Program::find()?;
        let place = home.path().to_str().ok_or_else(|| not_text("the home", home.path()))?;
        let command = CommandLine {
            program: &program.path,
            harness: args.harness,
            home: place,
            namespace: args.namespace.as_ref(),
            variables: &variables,
        };
        let (lines, deciding) = (command.write(), args.with_policy);
        let change = Change::installing(args.harness, &file, lines, deciding, known.as_ref())?;
        for warning in program.note.into_iter().chain(policy::warnings(args.harness, &file)) {
            output::warn(&warning);
        }
        change
    };
    if change.writes() {
        file.check_writable()?;
    }
    if args.dry_run {
        return report::would(session, args.harness, &file, &change);
    }
    if !args.uninstall {
        home::make(&home)?;
    }
    change.perform(&file, &kept)?;
    report::done(session, args.harness, &file, &change)
}

/// Refuses a namespace that takes no sessions: a hook that is refused at each event is told of in a
/// log that nobody reads.
fn check_namespace(home: &Home, namespace: &Namespace) -> Result<(), Failure> {
    if namespace.is_root() {
        return Ok(());
    }
    if !home.is_initialised() {
        let message = format!("there is no namespace `{namespace}`, nor an instance yet");
        return Err(
            Failure::missing(message).with_hint(format!("Run `spl namespace create {namespace}`."))
        );
    }
    let entered = home::open(home)?.enter_namespace(namespace);
    entered.map_err(|error| Failure::coded(&error))
}

/// Returns the commands of ours that stand in a file, as far as it reads.
pub(super) fn commands(harness: Harness, file: &SettingsFile) -> Vec<String> {
    let text = file.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    if harness == Harness::Opencode {
        return plugin::command(text).into_iter().filter(|_| plugin::is_ours(text)).collect();
    }
    let found = Document::parse(text, Syntax::ANY).and_then(|document| entries(&document));
    found.unwrap_or_default().into_iter().map(|entry| entry.command).collect()
}

/// Returns the settings file: the one that is named, else the user's own.
pub(super) fn settings_path(harness: Harness, given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    match harness.folder() {
        Some(folder) => Ok(folder.join(harness.file())),
        None => Err(Failure::usage("there is no home folder with settings in it")
            .with_hint("Set HOME, or name the file with --settings.")),
    }
}

/// Returns the instance that the hooks write to, and the other variables. One that is named for the
/// hook is the one that is meant.
fn home_of(given: &[(String, String)]) -> Result<(Home, Vec<(String, String)>), Failure> {
    let is_home = |(key, _): &&(String, String)| key == HOME;
    let home = match given.iter().rfind(is_home).filter(|(_, path)| !path.is_empty()) {
        Some((_, path)) => Home::at(
            std::path::absolute(path)
                .map_err(|error| Failure::local(format!("`{path}` is not a path"), &error))?,
        ),
        None => home::find()?,
    };
    let absolute = std::path::absolute(home.path())
        .map_err(|error| Failure::local("the home is not a path", &error))?;
    let others = given.iter().filter(|pair| !is_home(pair)).cloned().collect();
    Ok((Home::at(absolute), others))
}

/// Returns whether Claude Code would take the user's file for the project's as well: in the user's
/// own folder they are one file, and then some versions run its hooks for neither.
pub(super) fn is_also_the_projects(harness: Harness, file: &Path) -> bool {
    let here = std::env::current_dir().ok();
    let project = here.map(|here| here.join(".claude/settings.json"));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    harness == Harness::Claude
        && harness::user().is_some()
        && project.is_some_and(|project| {
            project == file || real(&project).is_some_and(|project| Some(project) == real(file))
        })
}
