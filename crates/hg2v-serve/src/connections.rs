//! From the first byte of a connection to the last of a shutdown.
//!
//! Everything has a bound: how long a head may take and a connection may idle, how long a
//! body and its answer, and how long an answer may wait for its reader. When all places are taken, who
//! keeps one without being worked for makes room ([`Guests`]).

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response};
use hg2v::error::{Action, Error, Result};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::listener;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::pulse::{Guest, Guests, Phase, Pulse};
use crate::queue::Queue;
use crate::routes::{App, router};
use crate::signals::{Signal, Signals};
use crate::state::{Current, Look, say};
use crate::wire::Wire;
use crate::words::Operator;

/// Bytes of a request's head.
const HEAD_BYTES: usize = 64 << 10;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often somebody is asked to make room for who waits.
const ROOM: Duration = Duration::from_millis(100);

/// In a shutdown: how long who just came may take to ask, and who asks to send a body, or to
/// read; and how long who was answered before may take to ask again.
const LAST_CALL: Duration = Duration::from_secs(2);
const LINGER: Duration = Duration::from_secs(1);

/// Threads that move bytes; others work.
const WORKERS: usize = 2;

/// Whether the system has so many threads more: the runtime would panic where it has none.
fn try_threads(count: usize) -> std::io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // None ends before all have begun.
        let _closed = gate.lock();
        let pass = || drop(gate.lock());
        (0..count).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, pass).map(drop))
    })
}

/// A server that has loaded everything and listens.
#[derive(Debug)]
pub struct Server {
    options: Options,
    current: Arc<Current>,
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
    signals: Signals,
}

impl Server {
    /// Loads everything and begins to listen.
    ///
    /// # Errors
    /// Options that cannot be, files that cannot be read, an address that is taken, a system that
    /// refuses threads or signals.
    pub fn bind(options: Options) -> Result<Server> {
        options.check()?;
        let current = Arc::new(Current::load(&options)?);
        let refused = |e| Error::io(options.listen.to_string(), Action::Listen, e);
        let listener = listener::listen(options.listen).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        try_threads(1 + WORKERS).map_err(refused)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()
            .map_err(refused)?;
        // Whoever knows the address may send signals.
        let signals = {
            let _within = runtime.enter();
            Signals::new().map_err(refused)?
        };
        Ok(Server { options, current, listener, address, runtime, signals })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until SIGTERM or Ctrl-C, then finishes what it has accepted. SIGHUP looks
    /// at the files at once.
    ///
    /// # Errors
    /// A system that refuses threads.
    pub fn run(self) -> Result<()> {
        let Server { options, current, listener, address, runtime, signals } = self;
        let ended = runtime.block_on(serve(options, current, listener, address, signals));
        // What did not end in time is left behind.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended.map_err(|e| Error::io(address.to_string(), Action::Serve, e))
    }
}

async fn serve(
    options: Options,
    current: Arc<Current>,
    listener: TcpListener,
    address: SocketAddr,
    Signals { mut stop, look }: Signals,
) -> std::io::Result<()> {
    let metrics = Arc::new(Metrics::default());
    let (queue, workers) = Queue::start(&current, &metrics, options.queue)?;
    let watching = watch(Arc::clone(&current), Arc::clone(&metrics), look, options.quiet);
    let watcher = tokio::spawn(watching);
    let port = address.port();
    let app = Arc::new(App::new(options.clone(), port, current, Arc::clone(&metrics), queue));
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let doors = Doors {
        routes: router(Arc::clone(&app)),
        guests: Arc::default(),
        slots: Arc::new(Semaphore::new(options.connections)),
        ending: watch::Sender::new(false),
        metrics,
        options,
    };
    loop {
        let accepted = tokio::select! {
            () = stop.next() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Too many files open, a connection that is gone: it passes.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        tokio::select! {
            slot = doors.slot() => doors.open(stream, Some(slot)),
            // Who is in is served, whether there is a place or not.
            () = stop.next() => {
                doors.open(stream, None);
                break;
            }
        }
    }
    app.draining.store(true, Ordering::Relaxed);
    doors.ending.send_replace(true);
    listener::close(listener, |stream| doors.open(stream, None)).await;
    // Every connection listens to it until its end.
    if timeout(doors.options.grace, doors.ending.closed()).await.is_err() {
        say("error: some requests did not end in time");
    }
    watcher.abort();
    drop((app, doors));
    let ended = || workers.into_iter().for_each(|worker| drop(worker.join()));
    let _ = timeout(LOOK, tokio::task::spawn_blocking(ended)).await;
    Ok(())
}

/// What is done with a connection.
struct Doors {
    routes: Router,
    guests: Arc<Guests>,
    slots: Arc<Semaphore>,
    ending: watch::Sender<bool>,
    metrics: Arc<Metrics>,
    options: Options,
}

impl Doors {
    /// A place for somebody who waits for one.
    async fn slot(&self) -> OwnedSemaphorePermit {
        loop {
            let slots = || Arc::clone(&self.slots);
            if let Ok(slot) = slots().try_acquire_owned() {
                return slot;
            }
            if self.guests.make_room() {
                Metrics::add(&self.metrics.evicted, 1);
            }
            if let Ok(Ok(slot)) = timeout(ROOM, slots().acquire_owned()).await {
                return slot;
            }
        }
    }

    fn open(&self, stream: TcpStream, slot: Option<OwnedSemaphorePermit>) {
        Metrics::add(&self.metrics.connections, 1);
        // Answers are whole: nothing is gained by waiting for more of them.
        let _ = stream.set_nodelay(true);
        let guest = self.guests.enter(self.options.token.is_none());
        let mut http = http1::Builder::new();
        let head = self.options.idle_timeout.min(self.options.timeout);
        http.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(HEAD_BYTES);
        let routes = TowerToHyperService::new(self.routes.clone());
        let caller = Caller { routes, pulse: Arc::clone(&guest.pulse) };
        let wire = Wire::new(stream, Arc::clone(&guest.pulse), self.options.max_request_bytes);
        let connection = http.serve_connection(TokioIo::new(wire), caller);
        let attended =
            attend(connection, guest, self.ending.subscribe(), self.options.write_timeout);
        tokio::spawn(async move {
            attended.await;
            drop(slot);
        });
    }
}

/// Sees a connection to its end, and ends it when it must not go on. One that breaks is the
/// other side's affair.
async fn attend(
    connection: http1::Connection<TokioIo<Wire>, Caller>,
    guest: Guest,
    mut ending: watch::Receiver<bool>,
    unread: Duration,
) {
    let pulse = &guest.pulse;
    let mut connection = pin!(connection);
    // When the server ends: until when something may still be asked.
    let mut last_call = None;
    // Nothing is taken any longer but what is under way.
    let mut last = false;
    loop {
        let unread = if last_call.is_some() { unread.min(LAST_CALL) } else { unread };
        tokio::select! {
            // What has come is looked at before anything is ended.
            biased;
            _ = connection.as_mut() => return,
            () = pulse.overdue(unread) => return,
            () = pulse.told_to_leave(), if !last => {
                // Who is sending a body hears why it is not taken; who asked in the very
                // moment is answered.
                if pulse.may_end() {
                    return;
                }
                last = true;
                connection.as_mut().graceful_shutdown();
            }
            () = is_true(&mut ending), if last_call.is_none() => {
                let left = if pulse.phase() == Phase::Idle { LINGER } else { LAST_CALL };
                last_call = Some(Instant::now() + left);
            }
            () = sleep_until(last_call.unwrap_or_else(Instant::now)),
                if last_call.is_some() && !last =>
            {
                last = true;
                connection.as_mut().graceful_shutdown();
                if pulse.phase() == Phase::Body {
                    pulse.tell_to_leave();
                }
            }
        }
    }
}

/// Waits until it is so.
async fn is_true(what: &mut watch::Receiver<bool>) {
    while !*what.borrow_and_update() {
        if what.changed().await.is_err() {
            return;
        }
    }
}

/// The routes, as one connection asks for them.
struct Caller {
    routes: TowerToHyperService<Router>,
    pulse: Arc<Pulse>,
}

impl Service<Request<Incoming>> for Caller {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future =
        Pin<Box<dyn Future<Output = std::result::Result<Response<Answer>, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let pulse = Arc::clone(&self.pulse);
        request.extensions_mut().insert(Arc::clone(&pulse));
        let answered = self.routes.call(request);
        Box::pin(async move { Ok(answered.await?.map(|body| Answer { body, pulse })) })
    }
}

/// The body of an answer; when it is gone, the next request may come.
struct Answer {
    body: Body,
    pulse: Arc<Pulse>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.pulse.enter(Phase::Idle);
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Looks at the files now and then, and whenever SIGHUP asks for it.
async fn watch(current: Arc<Current>, metrics: Arc<Metrics>, mut asked: Signal, quiet: bool) {
    let mut last = String::new();
    loop {
        let at_once = tokio::select! {
            () = sleep(LOOK) => false,
            () = asked.next() => true,
        };
        let current = Arc::clone(&current);
        let look = tokio::task::spawn_blocking(move || current.look(at_once)).await;
        let Ok(look) = look else { continue };
        let (said, is_error) = match look {
            Ok(Look::Same) => continue,
            Ok(Look::Loaded) => {
                Metrics::add(&metrics.reloads, 1);
                last.clear();
                ("loaded again: the model or the index was replaced".to_owned(), false)
            }
            Ok(Look::Waiting) => {
                let said = "the model was replaced; it is taken when the index is replaced too";
                (said.to_owned(), false)
            }
            Err(error) => {
                Metrics::add(&metrics.failed_reloads, 1);
                let error = error.worded(&Operator);
                (format!("error: not loaded, the old one is served on: {error}"), true)
            }
        };
        // What has been said need not be said every second.
        if said != last && (is_error || !quiet) {
            say(&said);
        }
        last = said;
    }
}
