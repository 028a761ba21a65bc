//! Tools over the store: what others have said, and a note for them.
//!
//! A look-up that finds nothing says so and is marked as empty: that there is no record is not
//! proof that there is no fact.
//!
//! A run in a namespace finds what stands in it and below, and on its own thread; a run in the root
//! finds everything.

use super::{Answer, Cancel, Clip, Status, Tool, ToolSpec};
use crate::canon::{Object, Value};
use crate::code::Coded;
use crate::engine::Engine;
use crate::object;
use crate::record::{Act, ActorId, Clock, Draft, Namespace, RecordId, ThreadId};
use crate::secret::mask;
use crate::store::{Query, Sight, Stored};

/// How many records are shown when nothing else is asked for.
const DEFAULT_LIMIT: u64 = 20;

/// The most records that are shown at once.
const MAX_LIMIT: u64 = 100;

/// The most characters of a body in a list.
const BODY_CHARS: usize = 400;

/// Whose run the tools are for.
#[derive(Clone)]
pub struct RecordSeat {
    /// The instance.
    pub engine: Engine,
    /// The loop thread, where notes go.
    pub thread: ThreadId,
    /// Who runs.
    pub actor: ActorId,
    /// Where it runs.
    pub namespace: Namespace,
}

/// Returns the tools over the store: `search_records`, `query_thread`, `read_record` and
/// `record_note`.
pub fn record_tools(seat: &RecordSeat) -> Vec<Box<dyn Tool>> {
    let mut sight = Sight::nothing();
    sight.add_thread(&seat.thread);
    sight.add_namespace(&seat.namespace);
    let seat = RecordSeat { engine: seat.engine.seeing(sight), ..seat.clone() };
    let tools: [(ToolSpec, Deed); 4] = [
        (search_records_spec(), search_records),
        (query_thread_spec(), query_thread),
        (read_record_spec(), read_record),
        (record_note_spec(), record_note),
    ];
    let boxed =
        |(spec, deed)| -> Box<dyn Tool> { Box::new(RecordTool { spec, deed, seat: seat.clone() }) };
    tools.into_iter().map(boxed).collect()
}

/// Returns how the tools over the store introduce themselves; for that, no store is needed.
pub fn record_tool_specs() -> [ToolSpec; 4] {
    [search_records_spec(), query_thread_spec(), read_record_spec(), record_note_spec()]
}

/// What a tool does, or the answer that it cannot.
type Deed = fn(&RecordSeat, &Object) -> Result<Answer, Answer>;

struct RecordTool {
    spec: ToolSpec,
    deed: Deed,
    seat: RecordSeat,
}

impl Tool for RecordTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: &Object, _: &Cancel) -> Answer {
        (self.deed)(&self.seat, arguments).unwrap_or_else(|failed| failed)
    }
}

fn string(description: &str) -> Object {
    object! { "type": "string", "description": description }
}

fn search_records_spec() -> ToolSpec {
    ToolSpec::new(
        "search_records",
        "Find records whose text holds some words, newest first.",
        object! {
            "query": string("The words, as they stand in the record"),
            "thread": string("Only records of this thread"),
            "limit": object! {
                "type": "integer", "minimum": 1, "maximum": MAX_LIMIT,
                "description": "The most records to show",
            },
        },
        &["query"],
    )
}

fn search_records(seat: &RecordSeat, arguments: &Object) -> Result<Answer, Answer> {
    let query = text(arguments, "query").unwrap_or_default();
    if query.trim().is_empty() {
        return Err(Answer::error("`query` is blank: give some words to look for"));
    }
    let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(DEFAULT_LIMIT);
    let limit = usize::try_from(limit.clamp(1, MAX_LIMIT)).unwrap_or(1);
    let thread = text(arguments, "thread");
    let found = seat.engine.store().read(|reader| reader.containing(query, thread, limit));
    Ok(listed(&found.map_err(|error| failed(&error))?, "no record holds these words"))
}

fn query_thread_spec() -> ToolSpec {
    ToolSpec::new(
        "query_thread",
        "Read the records of a thread, newest first, or count them.",
        object! {
            "thread": string("The thread"),
            "filter": object! {
                "type": "object",
                "description": "Conditions on fields, such as {\"act\":\"KNOW\"} or \
                                {\"body.kind\":\"core.work.note.v1\",\"clock\":{\"$gt\":3}}",
            },
            "count_only": object! {
                "type": "boolean",
                "description": "Say only how many there are",
            },
        },
        &["thread"],
    )
}

fn query_thread(seat: &RecordSeat, arguments: &Object) -> Result<Answer, Answer> {
    let count_only = arguments.get("count_only").and_then(Value::as_bool).unwrap_or(false);
    let request = object! {
        "filter": arguments.get("filter").cloned().unwrap_or_else(|| Object::new().into()),
        "limit": MAX_LIMIT,
        "sort": object! { "created_at": -1 },
        "thread": text(arguments, "thread").unwrap_or_default(),
    };
    let query = Query::parse(&request.into()).map_err(|error| Answer::error(error.to_string()))?;
    let query = query.without_erased();
    let store = seat.engine.store();
    if count_only {
        let count = store.read(|reader| reader.count(&query)).map_err(|error| failed(&error))?;
        let answer = Answer::ok(format!("{count} records")).with_data(object! { "count": count });
        return Ok(answer.with_empty(count == 0));
    }
    let page = store.read(|reader| reader.query(&query)).map_err(|error| failed(&error))?;
    Ok(listed(&page.records, "no such record on this thread"))
}

fn read_record_spec() -> ToolSpec {
    ToolSpec::new(
        "read_record",
        "Read one record in full, by its id or by its thread and clock.",
        object! {
            "id": string("The id, or the first digits of it"),
            "thread": string("The thread, together with `clock`"),
            "clock": object! {
                "type": "integer", "minimum": 0,
                "description": "The clock, together with `thread`",
            },
        },
        &[],
    )
}

fn read_record(seat: &RecordSeat, arguments: &Object) -> Result<Answer, Answer> {
    let store = seat.engine.store();
    let clock = arguments.get("clock").and_then(Value::as_i64).and_then(Clock::new);
    let found = match (text(arguments, "id"), text(arguments, "thread"), clock) {
        (Some(id), None, None) => store.read(|reader| match RecordId::parse(id) {
            Some(id) => Ok(reader.record(id)?.into_iter().collect()),
            None => reader.by_prefix(id),
        }),
        (None, Some(thread), Some(clock)) => {
            let thread = ThreadId::parse(thread)
                .map_err(|error| Answer::error(format!("`thread` {error}")))?;
            store.read(|reader| reader.at_clock(&thread, clock))
        }
        _ => return Err(Answer::error("give either `id`, or `thread` and `clock`")),
    };
    let mut found = found.map_err(|error| failed(&error))?;
    found.retain(|stored| stored.erased.is_none());
    if found.is_empty() {
        return Ok(Answer::ok("no such record").with_empty(true));
    }
    let mut clip = Clip::new();
    for stored in &found {
        clip.push(&format!("{}\n", Value::from(stored.to_object())));
    }
    let data: Vec<Object> = found.iter().map(Stored::to_object).collect();
    Ok(clip.into_answer(Status::Ok).with_data(data))
}

fn record_note_spec() -> ToolSpec {
    ToolSpec::new(
        "record_note",
        "Leave a note on the record of this run, for whoever reads it later.",
        object! { "text": string("The note") },
        &["text"],
    )
}

fn record_note(seat: &RecordSeat, arguments: &Object) -> Result<Answer, Answer> {
    let text = text(arguments, "text").unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Answer::error("`text` is blank: there is nothing to note"));
    }
    let body = object! {
        "kind": "core.work.note.v1",
        "namespace": &seat.namespace,
        "text": &*mask(text),
    };
    let draft = Draft::new(seat.thread.clone(), seat.actor.clone(), Act::Know, body);
    let written = seat.engine.author(move |author| author.write(draft));
    let record = written.map_err(|error| failed(&error))?;
    let id = record.id().to_string();
    Ok(Answer::ok(format!("noted as {id}")).with_data(object! { "id": id }))
}

fn text<'a>(arguments: &'a Object, name: &str) -> Option<&'a str> {
    arguments.get(name)?.as_str()
}

fn failed(error: &dyn Coded) -> Answer {
    Answer::error(format!("{error} [{}]", error.code()))
}

/// One line a record, or the words for none.
fn listed(records: &[Stored], none: &str) -> Answer {
    if records.is_empty() {
        return Answer::ok(none).with_empty(true);
    }
    let mut clip = Clip::new();
    for stored in records {
        let record = &stored.record;
        let body = Value::from(record.body.clone()).to_string();
        let short: String = body.chars().take(BODY_CHARS).collect();
        let more = if short.len() < body.len() { "…" } else { "" };
        clip.push(&format!(
            "{} {} {} clock {} {}{more}\n",
            record.id(),
            record.act,
            record.actor,
            record.clock,
            short
        ));
    }
    clip.into_answer(Status::Ok)
}
