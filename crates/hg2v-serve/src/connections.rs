//! From the first byte of a connection to the last of a shutdown.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use hg2v::error::{Error, Result};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{sleep, timeout};

use crate::metrics::Metrics;
use crate::options::Options;
use crate::queue;
use crate::routes::{App, router};
use crate::state::{Current, Look, say};

/// How long the head of a request may take to arrive, and an idle connection to say more.
const HEAD: Duration = Duration::from_secs(10);

/// Bytes of a request's head.
const HEAD_BYTES: usize = 64 << 10;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// In a shutdown: how long the listening socket must be quiet before it is closed, after how
/// long it is closed though it never is, and how long connections may take to send what they
/// opened for.
const QUIET: Duration = Duration::from_millis(20);
const NEVER_QUIET: Duration = Duration::from_millis(500);
const LINGER: Duration = Duration::from_millis(300);

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
        let refused = |e| Error::io(options.listen.to_string(), "listen", e);
        let listener = TcpListener::bind(options.listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
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
        let ended = runtime.block_on(serve(options, current, listener, signals));
        // What did not end in time is left behind.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended.map_err(|e| Error::io(address.to_string(), "serve", e))
    }
}

async fn serve(
    options: Options,
    current: Arc<Current>,
    listener: TcpListener,
    Signals { mut stop, look }: Signals,
) -> std::io::Result<()> {
    let metrics = Arc::new(Metrics::default());
    let (to_queue, jobs) = mpsc::channel(options.queue);
    let workers = queue::start(Arc::clone(&current), Arc::clone(&metrics), jobs)?;
    let watching = watch(Arc::clone(&current), Arc::clone(&metrics), look, options.quiet);
    let watcher = tokio::spawn(watching);
    let app = Arc::new(App::new(options.clone(), current, Arc::clone(&metrics), to_queue));
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let doors = Doors {
        routes: router(Arc::clone(&app)),
        graceful: GracefulShutdown::new(),
        metrics,
        head: HEAD.min(options.timeout),
    };
    let slots = Arc::new(Semaphore::new(options.connections));
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (listener.accept().await, slot)
        };
        tokio::select! {
            () = stop.next() => break,
            (accepted, slot) = accepted => match accepted {
                Ok((stream, _)) => doors.open(stream, slot.ok()),
                // Too many files open, a connection that is gone: it passes.
                Err(_) => sleep(Duration::from_millis(50)).await,
            },
        }
    }
    app.draining.store(true, Ordering::Relaxed);
    // Who is connected already, though nobody has accepted it yet, is served too.
    let end = Instant::now() + NEVER_QUIET;
    while Instant::now() < end
        && let Ok(Ok((stream, _))) = timeout(QUIET, listener.accept()).await
    {
        doors.open(stream, None);
    }
    drop(listener);
    sleep(LINGER).await;
    if timeout(options.grace, doors.graceful.shutdown()).await.is_err() {
        say("error: some requests did not end in time");
    }
    watcher.abort();
    drop((app, doors.routes));
    let ended = || workers.into_iter().for_each(|worker| drop(worker.join()));
    let _ = timeout(LOOK, tokio::task::spawn_blocking(ended)).await;
    Ok(())
}

/// What is done with a connection.
struct Doors {
    routes: Router,
    graceful: GracefulShutdown,
    metrics: Arc<Metrics>,
    head: Duration,
}

impl Doors {
    fn open(&self, stream: TcpStream, slot: Option<OwnedSemaphorePermit>) {
        Metrics::add(&self.metrics.connections, 1);
        // Answers are whole: nothing is gained by waiting for more of them.
        let _ = stream.set_nodelay(true);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.head).max_buf_size(HEAD_BYTES);
        let service = TowerToHyperService::new(self.routes.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = self.graceful.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks is the other side's affair.
            let _ = connection.await;
            drop(slot);
        });
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

/// What may be asked of a running server.
#[derive(Debug)]
struct Signals {
    /// SIGTERM or Ctrl-C: to end.
    stop: Signal,
    /// SIGHUP: to look at the files.
    look: Signal,
}

impl Signals {
    /// Listens from now on, within a runtime.
    #[cfg(unix)]
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::SignalKind;
        Ok(Signals {
            stop: Signal::new(&[SignalKind::terminate(), SignalKind::interrupt()])?,
            look: Signal::new(&[SignalKind::hangup()])?,
        })
    }

    #[cfg(windows)]
    fn new() -> std::io::Result<Signals> {
        let stop = Signal { any: vec![tokio::signal::windows::ctrl_c()?] };
        Ok(Signals { stop, look: Signal { any: Vec::new() } })
    }
}

/// Any of some signals; of none, none ever.
#[derive(Debug)]
struct Signal {
    #[cfg(unix)]
    any: Vec<tokio::signal::unix::Signal>,
    #[cfg(windows)]
    any: Vec<tokio::signal::windows::CtrlC>,
}

impl Signal {
    #[cfg(unix)]
    fn new(kinds: &[tokio::signal::unix::SignalKind]) -> std::io::Result<Signal> {
        let any = kinds.iter().map(|&kind| tokio::signal::unix::signal(kind));
        Ok(Signal { any: any.collect::<std::io::Result<_>>()? })
    }

    async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let came = self.any.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await
    }
}
