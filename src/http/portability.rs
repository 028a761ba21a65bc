//! Records that move between stores, and those that go.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tokio::task::spawn_blocking;

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, flag, members, text};
use super::problem::Problem;
use super::records::{objects, written};
use crate::canon::{Object, Value};
use crate::code::Coded as _;
use crate::engine::{ErasureRequest, RefusedLine};
use crate::object;
use crate::record::{ActorId, RecordId, Sequence, ShapeError};
use crate::store::ExportRange;

/// The header that says which sequence an export ends with.
const THROUGH: &str = "spl-through-sequence";

/// The header that says how many records an export leaves out, since they were erased.
const ERASED: &str = "spl-erased-records";

/// `GET /v1/portability/export`
pub(super) async fn export(state: ApiState, call: Call) -> Result<Response, Problem> {
    let threads = call.query.get("thread").unwrap_or_default();
    let threads = threads.split('\n').filter(|name| !name.is_empty()).map(str::to_owned);
    let after = Sequence::new(call.query.number("since")?.unwrap_or_default());
    let mut range = ExportRange { threads: threads.collect(), after, ..ExportRange::default() };
    let (own, engine) = (range.clone(), state.engine().clone());
    let (through, erased) = blocking(move || {
        Ok(engine
            .store()
            .read(|reader| Ok((reader.last()?, reader.erased_count(&own.names(), own.after)?)))?)
    })
    .await?;
    range.through = through;
    let lines = Lines { state, range };
    let stream = futures_util::stream::try_unfold(lines, |mut lines| async move {
        let chunk = lines.next().await?;
        Ok::<_, std::io::Error>(chunk.map(|chunk| (chunk, lines)))
    });
    let mut response = Response::new(Body::from_stream(stream));
    let headers = response.headers_mut();
    let media = HeaderValue::from_static("application/x-ndjson");
    headers.insert(header::CONTENT_TYPE, media);
    headers.insert(THROUGH, through.get().into());
    headers.insert(ERASED, erased.into());
    Ok(response)
}

/// The lines of an export that are still to be sent.
struct Lines {
    state: ApiState,
    range: ExportRange,
}

impl Lines {
    /// Returns the next of them, a page: the memory of an export. `None` after the last one. Whoever
    /// listens is told by a broken stream that it is not whole.
    async fn next(&mut self) -> std::io::Result<Option<Bytes>> {
        let (engine, range) = (self.state.engine().clone(), self.range.clone());
        let page = blocking(move || {
            let page = engine.store().read(|reader| reader.export_page(&range))?;
            let mut lines = String::new();
            for stored in &page {
                lines.push_str(&Value::from(stored.to_export()).to_string());
                lines.push('\n');
            }
            Ok((lines, page.last().map(|stored| stored.sequence)))
        });
        let (lines, last) = page.await.map_err(|problem| {
            tracing::error!(?problem, "an export broke off");
            std::io::Error::other("the export broke off")
        })?;
        self.range.after = last.unwrap_or(self.range.through);
        Ok(last.map(|_| lines.into()))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    spawn_blocking(work).await.unwrap_or_else(|failure| Err(Problem::internal(failure.to_string())))
}

/// `POST /v1/portability/import`
pub(super) fn import(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let strict = match call.query.get("strict") {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(_) => return Err(Problem::invalid("strict", "`strict` is `true` or `false`")),
    };
    let imported = state.engine().import(&call.caller, &call.body, strict)?;
    let refused: Vec<Object> = imported.refused.iter().map(refused_line).collect();
    Ok(Answer::ok(object! {
        "known": imported.known,
        "new": imported.new,
        "object": "imported",
        "refused": refused,
    }))
}

fn refused_line(refused: &RefusedLine) -> Object {
    object! {
        "code": refused.error.code().as_str(),
        "field": refused.error.field.as_deref(),
        "line": refused.line,
        "message": refused.error.message.as_str(),
    }
}

/// `POST /v1/portability/adopt`
pub(super) fn adopt(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let request = members(&request, &["actor", "id"])?;
    let id = text(request, "id")?.ok_or_else(|| ShapeError::missing("id"))?;
    let actor = actor(request, "actor")?.ok_or_else(|| ShapeError::missing("actor"))?;
    let adopted = match RecordId::parse(id) {
        Some(id) => state.engine().adopt(&call.caller, id, &actor)?,
        None => None,
    };
    let adopted = adopted.ok_or_else(|| Problem::missing("there is no record with this id"))?;
    Ok(Answer::created(written(state, &adopted)?))
}

/// `POST /v1/erasure`
pub(super) fn erase(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 5] = ["actor", "authorized_by", "erases", "purge", "reason"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let reason = text(request, "reason")?.filter(|reason| !reason.trim().is_empty());
    let erasure = ErasureRequest {
        erases: erases(request)?,
        reason: reason.ok_or_else(|| ShapeError::missing("reason"))?.to_owned(),
        authorized_by: actor(request, "authorized_by")?,
        actor: actor(request, "actor")?.ok_or_else(|| ShapeError::missing("actor"))?,
        purge: flag(request, "purge")?,
    };
    let erased = state.engine().erase(&call.caller, &erasure)?;
    let remains: Vec<String> =
        erased.remains.iter().map(|path| path.display().to_string()).collect();
    Ok(Answer::ok(object! {
        "data": objects(state, &erased.records)?,
        "object": "erasure",
        "remains": remains,
        "scrubbed": erased.scrubbed,
    }))
}

fn actor(request: &Object, field: &str) -> Result<Option<ActorId>, Problem> {
    let actor = text(request, field)?.map(ActorId::parse).transpose();
    actor.map_err(|error| Problem::not_a_name(field, &error))
}

fn erases(request: &Object) -> Result<Vec<RecordId>, Problem> {
    let wrong = || Problem::invalid("erases", "`erases` is a list of 1 to 1000 record ids");
    let listed = request.get("erases").and_then(Value::as_array).ok_or_else(wrong)?;
    let ids: Option<Vec<RecordId>> =
        listed.iter().map(|id| id.as_str().and_then(RecordId::parse)).collect();
    ids.filter(|ids| (1..=1000).contains(&ids.len())).ok_or_else(wrong)
}
