//! `spl model`: who can play a model, and whether one does.

mod test;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::engine::Home;
use spl::identity::random_bytes;
use spl::model::{KeySource, Keys, Price, Prices, ProviderRow, Providers};
use spl::object;

use crate::failure::Failure;
use crate::home;
use crate::output::{NAME, Table, WARN, printable};
use crate::session::Session;

/// See which models can be played, and try one
#[derive(Subcommand, Debug)]
pub(crate) enum ModelCommand {
    /// List the providers, where their keys come from, and the models that have a price
    #[command(after_help = "\
A key is looked for in a variable of the environment, then in `secrets/<provider>.key` of the home,
which nobody else may read. It is never shown. Prices are in US dollars per million tokens, read
and written; `prices.toml` in the home stands before those that are built in.

Any server that speaks one of the formats is a provider of config.toml:

  [model.providers.local]
  base_url = \"http://127.0.0.1:11434/v1\"
  format = \"openai\"

and its models are `local/<model>`. `format` is openai (the default), anthropic or gemini;
`key_env` names the variable of its key, if it wants one. A provider that is built in may be given
another base URL in the same way.")]
    List,
    Test(TestArgs),
}

/// Take one tiny turn, in which the model is to call a tool
#[derive(Args, Debug)]
#[command(after_help = "\
It costs a few hundred tokens. Without a name, a cheap model of the first provider that there is a
key for is tried.

Examples:
  spl model test
  spl model test claude-sonnet-4-6
  spl model test local/llama3.1:8b

Exit status: 0 it called the tool, 1 it answered without, or is not available; 4 there is no
provider for it, or the provider refused; 5 it was silent for too long.")]
pub(crate) struct TestArgs {
    /// The model
    model: Option<String>,
}

/// Lists providers, or tries a model.
pub(crate) fn model(session: &mut Session, command: &ModelCommand) -> Result<u8, Failure> {
    session.refuse_server("spl model")?;
    let providers = providers(&home::find()?)?;
    match command {
        ModelCommand::List => list(session, &providers).map(|()| super::WELL),
        ModelCommand::Test(args) => test::test(session, &providers, args.model.as_deref()),
    }
}

/// Returns the providers of a home, with the keys of this environment.
pub(crate) fn providers(home: &Home) -> Result<Providers, Failure> {
    let settings = home.settings().map_err(|error| Failure::coded(&error))?;
    let keys = Keys::new(home.secrets_path(), home::set);
    let seed = random_bytes::<8>().map_err(|error| Failure::local("no seed", &error))?;
    let providers = Providers::open(&settings.model, keys, prices(home)?);
    Ok(providers.with_seed(u64::from_le_bytes(seed)))
}

fn prices(home: &Home) -> Result<Prices, Failure> {
    let path = home.prices_path();
    match std::fs::read_to_string(&path) {
        Ok(table) => Prices::built_in().with(&table).map_err(|error| Failure::coded(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Prices::built_in()),
        Err(error) => Err(Failure::local(format!("`{}` cannot be read", path.display()), &error)),
    }
}

fn list(session: &mut Session, providers: &Providers) -> Result<(), Failure> {
    let rows = providers.rows();
    let data: Vec<Value> = rows.iter().map(|row| as_object(row).into()).collect();
    let envelope = object! { "data": data, "object": "list" };
    session.out.list(&envelope, |out, _| {
        let mut table = Table::new(["PROVIDER", "FORMAT", "KEY", "BASE URL"]);
        for row in &rows {
            table.row([
                row.name.clone(),
                row.format.as_str().to_owned(),
                key_in_short(&row.key).to_owned(),
                row.base_url.clone(),
            ]);
        }
        table.print(out)?;
        for row in &rows {
            tell_of_key(out, row)?;
        }
        writeln!(out)?;
        let mut table = Table::new(["MODEL", "PROVIDER", "$ READ", "$ WRITTEN"]);
        for row in &rows {
            for (model, price) in &row.models {
                let (name, provider) = (model.clone(), row.name.clone());
                table.row([name, provider, dollars(price.input), dollars(price.output)]);
            }
        }
        table.print(out)
    })
}

/// Says what is to be done about a key, where it is not only there or not.
fn tell_of_key(out: &mut dyn Write, row: &ProviderRow) -> io::Result<()> {
    let name = printable(&row.name);
    match &row.key {
        KeySource::Refused { reason } => {
            writeln!(out, "{WARN}! {name}: {}{WARN:#}", printable(reason))
        }
        KeySource::File(path) => {
            writeln!(out, "{NAME}{name}{NAME:#}: the key is in {}", path.display())
        }
        KeySource::Variable(variable) => {
            writeln!(out, "{NAME}{name}{NAME:#}: the key is in ${variable}")
        }
        KeySource::Missing | KeySource::NotNeeded => Ok(()),
    }
}

const fn key_in_short(key: &KeySource) -> &'static str {
    match key {
        KeySource::Variable(_) | KeySource::File(_) => "found",
        KeySource::Refused { .. } => "refused",
        KeySource::Missing => "missing",
        KeySource::NotNeeded => "not needed",
    }
}

fn as_object(row: &ProviderRow) -> Object {
    let from = match &row.key {
        KeySource::Variable(variable) => Value::from(variable.as_str()),
        KeySource::File(path) => Value::from(path.display().to_string()),
        KeySource::Refused { reason } => Value::from(reason.as_str()),
        KeySource::Missing | KeySource::NotNeeded => Value::Null,
    };
    let models = row.models.iter().map(|(name, Price { input, output })| {
        let price = object! { "input": *input, "output": *output };
        object! { "model": name.as_str(), "price_micros_per_million": price }.into()
    });
    object! {
        "base_url": row.base_url.as_str(),
        "format": row.format.as_str(),
        "key": key_in_short(&row.key),
        "key_from": from,
        "models": models.collect::<Vec<Value>>(),
        "name": row.name.as_str(),
        "object": "model_provider",
    }
}

/// Returns micro-dollars as dollars.
pub(super) fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let kept = text.trim_end_matches('0').len().max(text.len() - 4);
    text.get(..kept).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_have_two_digits_or_as_many_as_they_need() {
        for (micros, wanted) in [
            (3_000_000, "3.00"),
            (250_000, "0.25"),
            (75_000, "0.075"),
            (0, "0.00"),
            (1, "0.000001"),
        ] {
            assert_eq!(dollars(micros), wanted);
        }
    }
}
