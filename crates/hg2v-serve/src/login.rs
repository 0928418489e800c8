//! The page that asks for the token, and what becomes of it.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::answer::{CHALLENGE, Refusal, answer};
use crate::ask::read;
use crate::pulse::Pulse;
use crate::routes::App;

/// Most bytes of what a form sends.
const FORM: u64 = 1 << 14;

/// Whether somebody reads pages.
pub(crate) fn reads_pages(headers: &HeaderMap) -> bool {
    let kinds = headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok());
    kinds.is_some_and(|kinds| kinds.contains("text/html"))
}

/// The page that asks for the token.
pub(crate) fn page(said: &str) -> Response {
    let page = include_str!("login.html").replace("SAID", said);
    let mut response = answer(StatusCode::UNAUTHORIZED, "text/html; charset=utf-8", page);
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                  frame-ancestors 'none'";
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
    response
}

#[derive(Deserialize)]
struct Form {
    token: String,
}

/// Takes what the page sends: who knows the token goes on to `/`.
pub(crate) async fn log_in(
    State(app): State<Arc<App>>,
    Extension(pulse): Extension<Arc<Pulse>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let logged_in = async {
        if app.options.token.is_none() {
            let said = "this server needs no token; / is open".to_owned();
            return Err(Refusal(StatusCode::NOT_FOUND, said));
        }
        let body = read(&app, &pulse, &headers, body, FORM).await?;
        let (body, _taken) = body.into_parts();
        let form = serde_urlencoded::from_bytes(&body);
        let Form { token } = form.map_err(|_| Refusal::bad("send the form that / shows"))?;
        if !app.access.is_token(&token) {
            return Ok(page("That is not the token."));
        }
        // Who ends TLS before us says so; that the cookie then stays there is all it means.
        let proto = headers.get("x-forwarded-proto").and_then(|proto| proto.to_str().ok());
        let proto = proto.and_then(|all| all.split(',').next()).map(str::trim);
        let secure = proto.is_some_and(|proto| proto.eq_ignore_ascii_case("https"));
        let cookie = HeaderValue::try_from(app.access.log_in(secure)?);
        let mut response = answer(StatusCode::SEE_OTHER, "text/plain", "");
        let headers = response.headers_mut();
        headers.insert(SET_COOKIE, cookie.map_err(|_| Refusal::broken())?);
        headers.insert(LOCATION, HeaderValue::from_static("./"));
        Ok(response)
    };
    logged_in.await.unwrap_or_else(Refusal::into_response)
}
