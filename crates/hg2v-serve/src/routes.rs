//! What is answered to whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::body::HttpBody;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use tokio::sync::Semaphore;

use crate::access::{Access, Known};
use crate::answer::{Refusal, answer};
use crate::ask;
use crate::body::Room;
use crate::login;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::pulse::Pulse;
use crate::queue::Queue;
use crate::state::Current;

const OPENAPI: &str = include_str!("openapi.json");

/// What every route shares.
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) access: Access,
    pub(crate) current: Arc<Current>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) queue: Queue,
    /// A place for each stream.
    pub(crate) streams: Arc<Semaphore>,
    /// What bodies may hold together.
    pub(crate) room: Room,
    /// Whether the server is about to end.
    pub(crate) draining: AtomicBool,
}

impl App {
    pub(crate) fn new(
        options: Options,
        port: u16,
        current: Arc<Current>,
        metrics: Arc<Metrics>,
        queue: Queue,
    ) -> App {
        App {
            access: Access::new(options.token.as_deref(), port),
            streams: Arc::new(Semaphore::new(options.queue)),
            room: Room::new(options.max_held_bytes.max(options.max_request_bytes)),
            draining: AtomicBool::new(false),
            options,
            current,
            metrics,
            queue,
        }
    }
}

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/embed", post(ask::embed))
        .route("/search", post(ask::search))
        .route("/graphs/{id}", get(graph))
        .route("/healthz", get(async || answer(StatusCode::OK, "text/plain", "ok\n")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/login", post(login::log_in))
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
async fn guard(
    State(app): State<Arc<App>>,
    Extension(pulse): Extension<Arc<Pulse>>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let route = route_of(head.uri.path());
    let open = matches!(route, "/healthz" | "/readyz" | "/login");
    let admitted = app.access.admit(&head, open);
    let known = matches!(admitted, Ok(Known(true)));
    pulse.asks(known, !body.is_end_stream());
    let mut response = match admitted {
        Ok(_) => next.run(Request::from_parts(head, body)).await,
        Err(Refusal(StatusCode::UNAUTHORIZED, _))
            if route == "/" && login::reads_pages(&head.headers) =>
        {
            login::page("")
        }
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
    const ROUTES: [&str; 8] =
        ["/", "/embed", "/search", "/login", "/healthz", "/readyz", "/metrics", "/openapi.json"];
    let known = ROUTES.into_iter().find(|route| *route == path);
    known.unwrap_or(if path.starts_with("/graphs/") { "/graphs" } else { "other" })
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
    let text = app.metrics.text(app.queue.waiting());
    answer(StatusCode::OK, "text/plain; version=0.0.4", text)
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
