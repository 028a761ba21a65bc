//! `spl doctor`: look for what is wrong with the instance.

mod check;

use std::path::Path;

use spl::canon::{Object, Value};
use spl::code::Coded;
use spl::engine::{Engine, EngineOptions, Home};
use spl::object;
use spl::sandbox::Probe;

use super::serve::Holder;
use super::worker::stager;
use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::home;
use crate::output::plural;
use crate::session::{Session, Socket, too_long};
pub(super) use check::{Check, worst};

/// Looks for what is wrong with the instance.
pub(crate) fn doctor(session: &mut Session) -> Result<u8, Failure> {
    session.refuse_server("spl doctor")?;
    let home = home::find()?;
    let checks = if home.is_initialised() {
        look(&home)?
    } else {
        let message = format!("there is no instance at {}", home.path().display());
        vec![Check::warn("home", message).hint("Run `spl init`, or write a record.")]
    };
    let worst = worst(&checks);
    let answer = object! {
        "checks": checks.iter().map(Check::to_object).collect::<Vec<_>>(),
        "object": "doctor",
        "outcome": worst.as_str(),
    };
    session.out.answer(&answer, |out| checks.iter().try_for_each(|check| check.show(out)))?;
    Ok(worst.status())
}

fn look(home: &Home) -> Result<Vec<Check>, Failure> {
    let mut checks = vec![home_is_private(home), settings_read(home), keys_read(home)];
    match Engine::open(home, EngineOptions::default()) {
        Err(error) => checks.push(Check::failed("store", &error)),
        Ok(engine) => {
            checks.push(store_ends_well(&engine));
            checks.push(token_is_known(home, &engine));
            checks.push(hooks_are_loaded(&engine));
            checks.extend(rules_leave_the_owner_in(&engine));
        }
    }
    checks.push(sandbox_is_there()?);
    checks.push(server_answers(home)?);
    Ok(checks)
}

/// Rules that are not in force are no matter.
fn rules_leave_the_owner_in(engine: &Engine) -> Option<Check> {
    const NAME: &str = "rules";
    let in_force = engine.permissions_in_force();
    match in_force.and_then(|on| on.then(|| engine.preflight()).transpose()) {
        Ok(None) => None,
        Ok(Some(preflight)) if preflight.passes() => {
            Some(Check::pass(NAME, "permission rules are in force, and leave the owner the switch"))
        }
        Ok(Some(_)) => Some(
            Check::fail(NAME, "the permission rules in force lock the owner out")
                .hint("Run `spl config permissions-unlock`."),
        ),
        Err(error) => Some(Check::failed(NAME, &error)),
    }
}

fn home_is_private(home: &Home) -> Check {
    let exposed = home.exposed();
    let place = home.path().display();
    if exposed.is_empty() {
        return Check::pass("home", format!("{place} is yours alone"));
    }
    let names: Vec<String> = exposed.iter().map(|path| path.display().to_string()).collect();
    Check::fail("home", format!("others can reach {}", names.join(", ")))
        .hint(format!("Run `chmod -R go-rwx {place}`."))
}

fn settings_read(home: &Home) -> Check {
    match home.settings() {
        Ok(settings) => Check::pass("settings", format!("owned by {}", settings.identity.actor)),
        Err(error) => Check::failed("settings", &error),
    }
}

fn keys_read(home: &Home) -> Check {
    match home.keyring() {
        Ok(_) if !home.has_operator_key() => {
            Check::warn("keys", "the owner's key is missing, so the instance signs for the owner")
                .hint("Put it back from a copy of the home, or run `spl init` to make another.")
        }
        Ok(keyring) => Check::pass("keys", format!("signing as {}", keyring.instance().did())),
        Err(error) => Check::failed("keys", &error),
    }
}

fn store_ends_well(engine: &Engine) -> Check {
    const NAME: &str = "store";
    let ends = engine.store().verify_head();
    let counted = engine.store().read(|reader| Ok((reader.last()?, reader.unscrubbed()?)));
    match (ends, counted) {
        (Ok(None), Ok((_, unscrubbed))) if unscrubbed > 0 => {
            let records = plural(unscrubbed, "record");
            Check::warn(NAME, format!("the words of {records} that were purged may be in the file"))
                .hint("Run `spl erase ID --purge` once more for one of them, when nobody reads.")
        }
        (Ok(None), Ok((last, _))) => {
            let records = plural(u64::try_from(last.get()).unwrap_or(0), "record");
            Check::pass(NAME, format!("{records}, and the signed head is the newest"))
        }
        (Ok(Some(fault)), _) => {
            Check::fail(NAME, format!("sequence {}: {}", fault.sequence, fault.what))
                .hint("Run `spl verify`; put a backup in its place if rows are gone.")
        }
        (Err(error), _) | (_, Err(error)) => Check::failed(NAME, &error),
    }
}

fn token_is_known(home: &Home, engine: &Engine) -> Check {
    const NAME: &str = "token";
    let token = match home.token() {
        Ok(Some(token)) => token,
        Ok(None) => {
            return Check::warn(NAME, "the home has no admin token")
                .hint("Run `spl init`; it makes what is missing.");
        }
        Err(error) => return Check::failed(NAME, &error),
    };
    match engine.authenticate(&token) {
        Ok(Some(caller)) if caller.is_operator() => {
            Check::pass(NAME, "the home's token opens the server's port")
        }
        Ok(Some(_)) => Check::warn(NAME, "the home's token is not an admin's")
            .hint("Move the file `token` away and run `spl init`."),
        Ok(None) => Check::warn(NAME, "the home's token is revoked, or it is no token")
            .hint("Move the file `token` away and run `spl init`."),
        Err(error) => Check::failed(NAME, &error),
    }
}

fn hooks_are_loaded(engine: &Engine) -> Check {
    const NAME: &str = "hooks";
    let rows = match engine.hook_rows() {
        Ok(rows) => rows,
        Err(error) => return Check::failed(NAME, &error),
    };
    let text = |row: &Object, key| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let refused: Vec<String> = rows
        .iter()
        .filter(|row| row.get("refused").is_some_and(|refused| *refused != Value::Null))
        .filter_map(|row| text(row, "name"))
        .collect();
    if !refused.is_empty() {
        return Check::warn(NAME, format!("refused: {}", refused.join(", ")))
            .hint("Run `spl hook list` to see why.");
    }
    let in_force = |source: &str| {
        let is = |row: &&Object| {
            row.get("loaded").and_then(Value::as_bool) == Some(true)
                && text(row, "source").as_deref() == Some(source)
        };
        rows.iter().filter(is).count()
    };
    let (written, builtin) = (in_force("record"), in_force("builtin"));
    Check::pass(NAME, format!("{written} in force, and {builtin} built in"))
}

fn server_answers(home: &Home) -> Result<Check, Failure> {
    const NAME: &str = "server";
    let socket = home.socket_path();
    let holder = Holder::of(home)?;
    let running = holder.as_ref().map(Holder::in_words);
    Ok(match (Socket::at(&socket), running) {
        (Socket::TooLong, _) => Check::warn(NAME, too_long(&socket))
            .hint("Use a home with a shorter path; until then the store is opened directly."),
        (Socket::Answers, Some(running)) => greet(&socket, running),
        (Socket::Answers, None) => {
            Check::fail(NAME, format!("something else answers at {}", socket.display()))
                .hint("Find out what it is; it is not a server of this home.")
        }
        (Socket::Silent, Some(running)) => {
            Check::fail(NAME, format!("{running}, and its socket does not answer"))
                .hint("Run `spl serve --restart`.")
        }
        (Socket::Silent, None) if socket.exists() || home.pid_path().exists() => {
            Check::warn(NAME, "not running; a server that was killed has left its pid or socket")
                .hint("Nothing to do: the next start removes them.")
        }
        (Socket::Silent, None) => Check::pass(NAME, "not running; commands open the store"),
        (Socket::Failed(error), _) => {
            Check::fail(NAME, format!("{} cannot be used: {error}", socket.display()))
        }
    })
}

/// A machine without a sandbox is well, as long as nobody wants one.
fn sandbox_is_there() -> Result<Check, Failure> {
    const NAME: &str = "sandbox";
    let probe = match Probe::look(&stager()?) {
        Ok(probe) => probe,
        Err(error) => return Ok(Check::failed(NAME, &error)),
    };
    Ok(match probe.best() {
        Ok(enforced) => Check::pass(NAME, enforced.to_string()),
        Err(error) => {
            let check = Check::pass(NAME, format!("none: {error}"));
            error.hint().into_iter().fold(check, Check::hint)
        }
    })
}

fn greet(socket: &Path, running: String) -> Check {
    let asked = Client::over_socket(socket.to_owned())
        .and_then(|client| client.get(&Target::of(&["health"])));
    match asked {
        Ok(_) => Check::pass("server", running),
        Err(failure) => Check::fail("server", format!("{running}: {}", failure.message()))
            .hint("See `spl serve --logs`."),
    }
}
