//! Answers and refusals, as they are sent.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// What an answer asks for that needs a token.
pub(crate) const CHALLENGE: &str = "Bearer realm=\"hg2v\"";

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) String);

impl Refusal {
    pub(crate) fn busy() -> Refusal {
        let said = "too much is asked at the moment; try again in a second";
        Refusal(StatusCode::TOO_MANY_REQUESTS, said.to_owned())
    }

    pub(crate) fn late() -> Refusal {
        let said = "it took too long; send less, or try again later";
        Refusal(StatusCode::SERVICE_UNAVAILABLE, said.to_owned())
    }

    pub(crate) fn broken() -> Refusal {
        let said = "something broke down here; the server's log says more";
        Refusal(StatusCode::INTERNAL_SERVER_ERROR, said.to_owned())
    }

    pub(crate) fn bad(said: impl Into<String>) -> Refusal {
        Refusal(StatusCode::BAD_REQUEST, said.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let said = json!({ "error": self.1 }).to_string();
        let mut response = answer(self.0, "application/json", said);
        let headers = response.headers_mut();
        match self.0 {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
            }
            _ => {}
        }
        response
    }
}

pub(crate) fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
