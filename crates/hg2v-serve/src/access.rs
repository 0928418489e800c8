//! Who may ask: whoever bears the token, or logged in with it; without one, this machine.
//!
//! A login makes a session: a random name that the browser keeps as a cookie. It says nothing
//! about the token, and ends with the process, if not before.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST};
use axum::http::{HeaderMap, StatusCode, Version, request};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::answer::Refusal;

/// How long a session lasts, and how many there are; beyond that the oldest ends.
const SESSION: Duration = Duration::from_secs(12 * 3600);
const SESSIONS: usize = 1000;

/// Who may ask.
pub(crate) struct Access {
    token: Option<[u8; 32]>,
    /// The name of the cookie. Browsers tell no ports apart, so each server has its own.
    cookie: String,
    sessions: Mutex<VecDeque<Session>>,
}

struct Session {
    digest: [u8; 32],
    ends: Instant,
}

fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

impl Access {
    pub(crate) fn new(token: Option<&str>, port: u16) -> Access {
        Access {
            token: token.map(digest),
            cookie: format!("hg2v_{port}"),
            sessions: Mutex::default(),
        }
    }

    /// Whether somebody may ask; `open` is what everybody may. Who shows that it knows the
    /// token is told apart from who asks for what is open.
    pub(crate) fn admit(&self, head: &request::Parts, open: bool) -> Result<Known, Refusal> {
        let host = host(head)?;
        if self.token.is_some() {
            return match self.bears(&head.headers) || self.is_logged_in(&head.headers) {
                true => Ok(Known(true)),
                false if open => Ok(Known(false)),
                false => {
                    let said = "send the header Authorization: Bearer TOKEN".to_owned();
                    Err(Refusal(StatusCode::UNAUTHORIZED, said))
                }
            };
        }
        // A page from elsewhere must not reach us through a name that points here.
        let here = host.is_none_or(|host| {
            host.eq_ignore_ascii_case("localhost")
                || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
        });
        match here {
            true => Ok(Known(true)),
            false => {
                let said =
                    "without a token only localhost is served; start the server with --token";
                Err(Refusal(StatusCode::MISDIRECTED_REQUEST, said.to_owned()))
            }
        }
    }

    /// Whether a token is the right one; never where there is none.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        self.token.is_some_and(|token| digest(given.trim()).ct_eq(&token).into())
    }

    fn bears(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|given| given.split_once(' '));
        given.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer") && self.is_token(token)
        })
    }

    fn is_logged_in(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        // Others on the same host may have set one of that name.
        pairs.any(|(name, value)| name == self.cookie && self.is_session(value))
    }

    fn is_session(&self, given: &str) -> bool {
        let given = digest(given);
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let live = sessions.iter().filter(|session| session.ends > now);
        live.fold(Choice::from(0), |any, session| any | session.digest.ct_eq(&given)).into()
    }

    /// Begins a session, and says the cookie to set.
    pub(crate) fn log_in(&self, secure: bool) -> Result<String, Refusal> {
        let mut name = [0; 32];
        SysRng.try_fill_bytes(&mut name).map_err(|_| Refusal::broken())?;
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() == SESSIONS {
            sessions.pop_front();
        }
        let session = Session { digest: digest(&name), ends: Instant::now() + SESSION };
        sessions.push_back(session);
        // Without a path it holds for where the server is found, also below one of a proxy.
        let Access { cookie, .. } = self;
        let (age, secure) = (SESSION.as_secs(), if secure { "; Secure" } else { "" });
        Ok(format!("{cookie}={name}; Max-Age={age}; HttpOnly; SameSite=Strict{secure}"))
    }
}

/// Whether somebody has shown that it may ask for everything.
pub(crate) struct Known(pub(crate) bool);

/// The name that a request asks for, without its port. HTTP/1.1 needs one, and no more.
fn host(head: &request::Parts) -> Result<Option<&str>, Refusal> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next().map(|host| host.to_str());
    let host = match (host, hosts.next()) {
        (Some(Ok(host)), None) => Some(host),
        (None, None) if head.version < Version::HTTP_11 => None,
        _ => return Err(Refusal::bad("send the header Host once: the name of this server")),
    };
    // What stands in the first line counts more.
    let host = head.uri.host().or(host);
    Ok(host.map(|host| match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    }))
}
