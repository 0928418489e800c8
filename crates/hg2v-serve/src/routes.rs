//! What is answered to whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HOST, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v_search::Neighbor;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant as Deadline, timeout_at};

use crate::body::{Held, Room, next, parsed};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::queue::{Done, Job, Work};
use crate::request::{self, Question};
use crate::state::{Current, State as Answers};
use crate::stream;

const OPENAPI: &str = include_str!("openapi.json");

/// Most neighbours that are answered.
const MOST_NEIGHBORS: usize = 1000;

/// What every route shares.
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) current: Arc<Current>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) queue: mpsc::Sender<Job>,
    /// A slot for each request that waits or is worked on.
    pub(crate) slots: Arc<Semaphore>,
    /// What bodies may hold together.
    pub(crate) room: Room,
    /// Whether the server is about to end.
    pub(crate) draining: AtomicBool,
    token: Option<[u8; 32]>,
}

impl App {
    pub(crate) fn new(
        options: Options,
        current: Arc<Current>,
        metrics: Arc<Metrics>,
        queue: mpsc::Sender<Job>,
    ) -> App {
        App {
            slots: Arc::new(Semaphore::new(options.queue)),
            room: Room::new(options.max_held_bytes.max(options.max_request_bytes)),
            token: options.token.as_deref().map(digest),
            draining: AtomicBool::new(false),
            options,
            current,
            metrics,
            queue,
        }
    }

    /// A place among those who wait.
    pub(crate) fn slot(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        Arc::clone(&self.slots).try_acquire_owned().map_err(|_| Refusal::busy())
    }

    /// Hands a job over and waits for what comes of it.
    async fn ask(&self, work: Work, deadline: Deadline) -> Result<Done, Refusal> {
        let (reply, answer) = oneshot::channel();
        let late = || {
            let said = "it took too long; send less, or try again later";
            Refusal(StatusCode::SERVICE_UNAVAILABLE, said.to_owned())
        };
        let sent = timeout_at(deadline, self.queue.send(Job { work, reply })).await;
        sent.map_err(|_| late())?.map_err(|_| Refusal::broken())?;
        timeout_at(deadline, answer).await.map_err(|_| late())?.map_err(|_| Refusal::broken())
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) String);

impl Refusal {
    pub(crate) fn busy() -> Refusal {
        let said = "too much is asked at the moment; try again in a second";
        Refusal(StatusCode::TOO_MANY_REQUESTS, said.to_owned())
    }

    pub(crate) fn broken() -> Refusal {
        let said = "something broke down here; the server's log says more";
        Refusal(StatusCode::INTERNAL_SERVER_ERROR, said.to_owned())
    }

    pub(crate) fn bad(said: impl ToString) -> Refusal {
        Refusal(StatusCode::BAD_REQUEST, said.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response =
            answer(self.0, "application/json", json!({ "error": self.1 }).to_string());
        if matches!(self.0, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/embed", post(embed))
        .route("/search", post(search))
        .route("/graphs/{id}", get(graph))
        .route("/healthz", get(async || answer(StatusCode::OK, "text/plain", "ok\n")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(async || answer(StatusCode::OK, "application/json", OPENAPI)))
        .fallback(async || {
            Refusal(
                StatusCode::NOT_FOUND,
                "there is no such place; /openapi.json lists all".to_owned(),
            )
        })
        .method_not_allowed_fallback(async || {
            let said = "not this way; /openapi.json says how".to_owned();
            Refusal(StatusCode::METHOD_NOT_ALLOWED, said)
        })
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Lets in who may, counts, and says on the way out what holds for every answer.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = route_of(request.uri().path());
    let open = matches!(route, "/healthz" | "/readyz");
    let mut response = match admit(&app, request.headers(), open) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if app.draining.load(Ordering::Relaxed) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    app.metrics.answered(route, response.status().as_u16(), started.elapsed());
    response
}

/// The name under which a request is counted.
fn route_of(path: &str) -> &'static str {
    const ROUTES: [&str; 7] =
        ["/", "/embed", "/search", "/healthz", "/readyz", "/metrics", "/openapi.json"];
    let known = ROUTES.into_iter().find(|route| *route == path);
    known.unwrap_or(if path.starts_with("/graphs/") { "/graphs" } else { "other" })
}

/// With a token, who knows it. Without one the server listens on this machine alone, and
/// a page from elsewhere must not reach it through a name that points here.
fn admit(app: &App, headers: &HeaderMap, open: bool) -> Result<(), Refusal> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(token) = &app.token {
        let given = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let known = given.is_some_and(|given| digest(given.trim()).ct_eq(token).into());
        return match known || open {
            true => Ok(()),
            false => Err(Refusal(
                StatusCode::UNAUTHORIZED,
                "send the header Authorization: Bearer TOKEN".to_owned(),
            )),
        };
    }
    let host = text(HOST).unwrap_or("localhost");
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    let here = name.eq_ignore_ascii_case("localhost")
        || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    match here {
        true => Ok(()),
        false => Err(Refusal(
            StatusCode::MISDIRECTED_REQUEST,
            "without a token only localhost is served; start the server with --token".to_owned(),
        )),
    }
}

async fn page(State(app): State<Arc<App>>) -> Response {
    let page = app.current.get().page.clone();
    let mut response = answer(StatusCode::OK, "text/html; charset=utf-8", page);
    let policy = "default-src 'self' 'unsafe-inline' data: blob:; frame-ancestors 'none'";
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.draining.load(Ordering::Relaxed) {
        true => answer(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "about to end\n"),
        false => answer(StatusCode::OK, "text/plain", "ready\n"),
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let waiting = app.options.queue - app.slots.available_permits();
    answer(StatusCode::OK, "text/plain; version=0.0.4", app.metrics.text(waiting))
}

async fn graph(State(app): State<Arc<App>>, id: Result<Path<String>, PathRejection>) -> Response {
    let Ok(Path(id)) = id else {
        let said = "the name of a graph is no text";
        return Refusal(StatusCode::BAD_REQUEST, said.to_owned()).into_response();
    };
    let state = app.current.get();
    match state.graphs.as_ref().and_then(|graphs| graphs.line(&id)) {
        Some(line) => answer(StatusCode::OK, "application/json", line),
        None => {
            let said = match &state.graphs {
                Some(_) => "there is no graph of that name",
                None => "there are no graphs; start the server with --data",
            };
            Refusal(StatusCode::NOT_FOUND, said.to_owned()).into_response()
        }
    }
}

async fn embed(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Response {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if matches!(&*kind, "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines") {
        return stream::embed(app, body).unwrap_or_else(Refusal::into_response);
    }
    embed_one(app, headers, body).await.unwrap_or_else(Refusal::into_response)
}

async fn embed_one(app: Arc<App>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    let deadline = Deadline::now() + app.options.timeout;
    let _slot = app.slot()?;
    let body = read(&app, &headers, body, deadline).await?;
    let limits = app.options.request_limits();
    let record = parsed(body, move |bytes| request::graph(bytes, 1, &limits)).await?;
    let record = record.map_err(Refusal::bad)?;
    let key = Key::of(&record);
    match app.ask(Work::Embed(vec![record], vec![0]), deadline).await? {
        Done::Vectors(mut vectors) => match vectors.pop() {
            Some(Ok(vector)) => Ok(answer(StatusCode::OK, "application/json", key.line(&vector))),
            Some(Err(refused)) => Err(Refusal(StatusCode::UNPROCESSABLE_ENTITY, refused)),
            None => Err(Refusal::broken()),
        },
        _ => Err(Refusal::broken()),
    }
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
    pub(crate) fn line(&self, embedding: &[f32]) -> Vec<u8> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            key: &'a Key,
            embedding: &'a [f32],
        }
        let mut line = Vec::with_capacity(16 * embedding.len() + 64);
        // Writing to memory what has no keys but text does not fail.
        let _ = serde_json::to_writer(&mut line, &Line { key: self, embedding });
        line.push(b'\n');
        line
    }
}

/// How a search is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default = "six")]
    top: usize,
}

fn six() -> usize {
    6
}

async fn search(
    State(app): State<Arc<App>>,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let found = async {
        let Query(Wanted { top }) = wanted.map_err(|_| {
            Refusal::bad("ask for /search?top=N, N a whole number, or leave it out")
        })?;
        search_one(app, top, headers, body).await
    };
    found.await.unwrap_or_else(Refusal::into_response)
}

async fn search_one(
    app: Arc<App>,
    top: usize,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    if !(1..=MOST_NEIGHBORS).contains(&top) {
        let said = format!("top is {top}, but it must be between 1 and {MOST_NEIGHBORS}");
        return Err(Refusal::bad(said));
    }
    let deadline = Deadline::now() + app.options.timeout;
    let _slot = app.slot()?;
    let body = read(&app, &headers, body, deadline).await?;
    let limits = app.options.request_limits();
    let question = parsed(body, move |bytes| request::question(bytes, &limits)).await?;
    let work = match question.map_err(Refusal::bad)? {
        Question::Id(id) => Work::Near(id, top),
        Question::Graph(record) => Work::Search(record, top),
    };
    match app.ask(work, deadline).await? {
        Done::Neighbors(state, near) => {
            Ok(answer(StatusCode::OK, "application/json", neighbors(&state, &near)))
        }
        Done::Missing(said) => Err(Refusal(StatusCode::NOT_FOUND, said)),
        Done::Refused(said) => Err(Refusal(StatusCode::UNPROCESSABLE_ENTITY, said)),
        _ => Err(Refusal::broken()),
    }
}

fn neighbors(state: &Answers, near: &[Neighbor]) -> String {
    let Some(catalog) = &state.catalog else { return String::new() };
    let neighbor = |near: &Neighbor| {
        let position = near.position;
        json!({ "id": catalog.ids[position], "y": catalog.labels[position],
            "position": position, "distance": near.distance })
    };
    let neighbors: Vec<_> = near.iter().map(neighbor).collect();
    let (metric, exact) = (catalog.index.space().metric(), catalog.index.is_exact());
    json!({ "metric": metric, "exact": exact, "neighbors": neighbors }).to_string()
}

/// Reads a whole body, within all bounds.
async fn read(
    app: &App,
    headers: &HeaderMap,
    mut body: Body,
    deadline: Deadline,
) -> Result<Held, Refusal> {
    let most = app.options.max_request_bytes;
    let long = || {
        let said = format!("the body is longer than {most} bytes; send smaller graphs");
        Refusal(StatusCode::PAYLOAD_TOO_LARGE, said)
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > most) {
        return Err(long());
    }
    let mut held = Held::default();
    let late = |_| {
        let said = "the body did not arrive in time".to_owned();
        Refusal(StatusCode::REQUEST_TIMEOUT, said)
    };
    while let Some(piece) = timeout_at(deadline, next(&mut body)).await.map_err(late)? {
        let piece = piece?;
        if (held.len() + piece.len()) as u64 > most {
            return Err(long());
        }
        held.add(&piece, &app.room)?;
    }
    Ok(held)
}
