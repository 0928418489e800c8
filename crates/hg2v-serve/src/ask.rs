//! What is asked of the model: vectors and neighbours.

use std::slice;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::prepare::Notes;
use hg2v_search::Neighbor;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::{Instant as Deadline, timeout_at};

use crate::answer::{Refusal, answer};
use crate::body::{Held, next, parsed};
use crate::pulse::{Phase, Pulse};
use crate::queue::{Size, Ticket};
use crate::request::{self, Question};
use crate::routes::App;
use crate::state::State as Answers;
use crate::stream;
use crate::words::Client;
use crate::work::{Done, Row, Work};

/// Most neighbours that are answered.
const MOST_NEIGHBORS: usize = 1000;

pub(crate) async fn embed(
    State(app): State<Arc<App>>,
    Extension(pulse): Extension<Arc<Pulse>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if matches!(&*kind, "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines") {
        // Its lines are answered while it goes on.
        pulse.enter(Phase::Answer);
        return stream::embed(app, body).unwrap_or_else(Refusal::into_response);
    }
    embed_one(app, &pulse, headers, body).await.unwrap_or_else(Refusal::into_response)
}

async fn embed_one(
    app: Arc<App>,
    pulse: &Pulse,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let deadline = Deadline::now() + app.options.timeout;
    let body = read(&app, pulse, &headers, body, app.options.max_request_bytes).await?;
    let limits = app.options.request_limits();
    let parse = move |bytes: &[u8]| request::graph(bytes, 1, &limits);
    let (record, size, ticket) = admit(&app, body, parse, slice::from_ref).await?;
    let key = Key::of(&record);
    match app.queue.ask(size, Work::Embed(vec![record], vec![0]), ticket, deadline).await? {
        Done::Vectors(mut vectors) => match vectors.pop() {
            Some(Ok(row)) => Ok(answer(StatusCode::OK, "application/json", key.line(&row))),
            Some(Err(refused)) => Err(Refusal(StatusCode::UNPROCESSABLE_ENTITY, refused)),
            None => Err(Refusal::broken()),
        },
        _ => Err(Refusal::broken()),
    }
}

/// What a body that is there says, and a place among those who wait. Long bodies have their
/// place before they are parsed, which takes a while, too.
async fn admit<T: Send + 'static>(
    app: &App,
    body: Held,
    parse: impl FnOnce(&[u8]) -> hg2v::Result<T> + Send + 'static,
    graphs: impl FnOnce(&T) -> &[GraphRecord],
) -> Result<(T, Size, Ticket), Refusal> {
    let bytes = body.len();
    let early = match Size::of(&[], bytes) {
        Size::Large => Some(app.queue.place(Size::Large)?),
        Size::Small => None,
    };
    let (body, taken) = body.into_parts();
    let (said, (early, taken)) = parsed(body, (early, taken), parse).await?;
    let said = said.map_err(|error| Refusal::bad(error.worded(&Client)))?;
    let size = Size::of(graphs(&said), bytes);
    let place = match early {
        Some(place) => place,
        None => app.queue.place(size)?,
    };
    Ok((said, size, Ticket::new((place, taken))))
}

/// What a graph is called in its answer.
#[derive(Debug, Serialize)]
pub(crate) struct Key {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<Scalar>,
}

impl Key {
    pub(crate) fn of(record: &GraphRecord) -> Key {
        Key { id: record.id.clone(), y: record.label.clone() }
    }

    /// A vector as a line of JSON: each number in the fewest digits that read back as the
    /// same bits.
    pub(crate) fn line(&self, row: &Row) -> Vec<u8> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            key: &'a Key,
            embedding: &'a [f32],
            #[serde(skip_serializing_if = "Option::is_none")]
            notes: Option<Value>,
        }
        let mut line = Vec::with_capacity(16 * row.vector.len() + 64);
        let notes = noted(&row.notes);
        // Writing to memory what has no keys but text does not fail.
        let _ =
            serde_json::to_writer(&mut line, &Line { key: self, embedding: &row.vector, notes });
        line.push(b'\n');
        line
    }
}

/// What preparing a graph met, as the command says it: counts, of what there was.
fn noted(Notes { found, applied, not_converged, .. }: &Notes) -> Option<Value> {
    let counts = [
        ("unseen_labels", applied.unseen_labels),
        ("unseen_edge_labels", applied.unseen_edge_labels),
        ("clipped", applied.clipped),
        ("self_loops", found.self_loops),
        ("repeated_edges", found.repeated_edges),
        ("parallel_edges", found.parallel_edges),
        ("conflicting_weights", found.conflicting_weights),
        ("zero_weights", found.zero_weights),
        ("negative_weights", found.negative_weights),
        ("directed_graphs", found.directed_graphs),
        ("not_converged", *not_converged),
    ];
    let met = counts.into_iter().filter(|(_, count)| *count > 0);
    let met: Map<_, _> = met.map(|(name, n)| (name.to_owned(), n.into())).collect();
    (!met.is_empty()).then(|| met.into())
}

/// How a search is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(default = "six")]
    top: usize,
}

fn six() -> usize {
    6
}

pub(crate) async fn search(
    State(app): State<Arc<App>>,
    Extension(pulse): Extension<Arc<Pulse>>,
    wanted: Result<Query<Wanted>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let found = async {
        let Query(Wanted { top }) = wanted.map_err(|_| {
            Refusal::bad("ask for /search?top=N, N a whole number, or leave it out")
        })?;
        search_one(app, &pulse, top, headers, body).await
    };
    found.await.unwrap_or_else(Refusal::into_response)
}

async fn search_one(
    app: Arc<App>,
    pulse: &Pulse,
    top: usize,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    if !(1..=MOST_NEIGHBORS).contains(&top) {
        let said = format!("top is {top}, but it must be between 1 and {MOST_NEIGHBORS}");
        return Err(Refusal::bad(said));
    }
    let deadline = Deadline::now() + app.options.timeout;
    let body = read(&app, pulse, &headers, body, app.options.max_request_bytes).await?;
    let limits = app.options.request_limits();
    let parse = move |bytes: &[u8]| request::question(bytes, &limits);
    let (question, size, ticket) = admit(&app, body, parse, Question::graphs).await?;
    let work = match question {
        Question::Id(id) => Work::Near(id, top),
        Question::Graph(record) => Work::Search(record, top),
    };
    match app.queue.ask(size, work, ticket, deadline).await? {
        Done::Neighbors(state, near, notes) => {
            let found = neighbors(&state, &near, &notes);
            Ok(answer(StatusCode::OK, "application/json", found))
        }
        Done::Missing(said) => Err(Refusal(StatusCode::NOT_FOUND, said)),
        Done::Refused(said) => Err(Refusal(StatusCode::UNPROCESSABLE_ENTITY, said)),
        _ => Err(Refusal::broken()),
    }
}

fn neighbors(state: &Answers, near: &[Neighbor], notes: &Notes) -> String {
    let Some(catalog) = &state.catalog else { return String::new() };
    let neighbor = |near: &Neighbor| {
        let position = near.position;
        json!({ "id": catalog.ids[position], "y": catalog.labels[position],
            "position": position, "distance": near.distance })
    };
    let neighbors: Vec<_> = near.iter().map(neighbor).collect();
    let (metric, exact) = (catalog.index.space().metric(), catalog.index.is_exact());
    let mut found = json!({ "metric": metric, "exact": exact, "neighbors": neighbors });
    if let Some(notes) = noted(notes) {
        found["notes"] = notes;
    }
    found.to_string()
}

/// Reads a whole body of at most so many bytes, within all other bounds.
pub(crate) async fn read(
    app: &App,
    pulse: &Pulse,
    headers: &HeaderMap,
    mut body: Body,
    most: u64,
) -> Result<Held, Refusal> {
    let long = || {
        let said = format!("the body is longer than {most} bytes; send less");
        Refusal(StatusCode::PAYLOAD_TOO_LARGE, said)
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > most) {
        return Err(long());
    }
    let mut held = Held::default();
    let deadline = Deadline::now() + app.options.timeout;
    let late = |_| {
        let said = "the body did not arrive in time".to_owned();
        Refusal(StatusCode::REQUEST_TIMEOUT, said)
    };
    loop {
        let piece = tokio::select! {
            piece = timeout_at(deadline, next(&mut body)) => piece.map_err(late)?,
            () = pulse.told_to_leave() => return Err(Refusal::busy()),
        };
        let Some(piece) = piece else { break };
        let piece = piece?;
        if (held.len() + piece.len()) as u64 > most {
            return Err(long());
        }
        held.add(&piece, &app.room)?;
    }
    pulse.enter(Phase::Answer);
    Ok(held)
}
