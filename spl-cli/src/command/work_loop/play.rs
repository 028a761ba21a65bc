//! A run that is driven here, and shown.

use spl::cancel::Cancel;
use spl::engine::{Engine, Hooks};
use spl::model::Model;
use spl::policy::Policy;
use spl::run::{Approver, Decider, Hands, Moment, Report, RunError};
use spl::tool::Toolbox;

use super::Show;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::told_to_end;

/// What a run is driven with.
pub(crate) struct Players<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) model: &'a mut dyn Model,
    pub(crate) tools: &'a Toolbox,
    pub(crate) hooks: Hooks,
    pub(crate) policy: &'a Policy,
    pub(crate) decider: &'a mut dyn Decider,
    pub(crate) approver: &'a mut dyn Approver,
}

/// Why a run was not played to its end, or not shown.
pub(crate) enum Unplayed {
    /// The run itself.
    Run(RunError),
    /// Nobody could be told.
    Unsaid(Failure),
}

/// Drives a run and shows it. Whoever stops reading stops the run.
pub(crate) fn play(
    out: &mut Output,
    players: Players<'_>,
    driven: impl FnOnce(Hands<'_>) -> Result<Report, RunError>,
) -> Result<Report, Unplayed> {
    let cancel = Cancel::new();
    cancel_when_told(&cancel).map_err(Unplayed::Unsaid)?;
    let mut unsaid = None;
    let mut show = Show::default();
    let mut watch = |moment: Moment<'_>| {
        if unsaid.is_none()
            && let Err(failure) = show.moment(out, &moment)
        {
            unsaid = Some(failure);
            cancel.cancel();
        }
    };
    let Players { engine, model, tools, hooks, policy, decider, approver } = players;
    let (cancel, watch) = (&cancel, &mut watch);
    let hands = Hands { engine, model, tools, decider, approver, policy, hooks, cancel, watch };
    let report = driven(hands).map_err(Unplayed::Run)?;
    unsaid.map_or(Ok(report), |failure| Err(Unplayed::Unsaid(failure)))
}

/// Lets whoever tells this process to end, be it by a key, a signal or by closing the terminal, end
/// the run in order: what it has started is killed, and its outcome is recorded.
pub(crate) fn cancel_when_told(cancel: &Cancel) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::local("the runtime could not be started", &error))?;
    let within = runtime.enter();
    let told = told_to_end()?;
    drop(within);
    let cancel = cancel.clone();
    std::thread::spawn(move || {
        runtime.block_on(told);
        cancel.cancel();
    });
    Ok(())
}
