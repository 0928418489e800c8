//! Clients that mean harm, beside some that do not.
//!
//! More connections than the server holds at a time: some send requests without end and never read
//! an answer, some send a body, and some the head of a request, a byte at a time, and some leave in
//! the middle of a body. Every other one knows the token. Whoever is turned away comes again.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::{Client, Server, quantiles};

pub(crate) const TOKEN: &str = "swordfish";

/// Connections of each kind: together half as many again as the server holds.
const EACH: usize = 192;

/// Those that mean no harm; every other one keeps its connection.
const HONEST: usize = 16;

/// How long an honest client thinks before it asks again.
const THINKS: Duration = Duration::from_millis(10);

#[derive(Clone, Copy)]
enum Kind {
    Deaf,
    DripsBody,
    DripsHead,
    Leaves,
}

/// A connection that means harm, made anew when it is closed.
struct Hostile {
    kind: Kind,
    knows: bool,
    stream: Option<TcpStream>,
    sent: usize,
}

/// What became of hostile connections.
#[derive(Default)]
struct Harm {
    made: AtomicUsize,
    closed: AtomicUsize,
    bytes: AtomicUsize,
}

impl Hostile {
    fn token(&self) -> String {
        let token = format!("Authorization: Bearer {TOKEN}\r\n");
        if self.knows { token } else { String::new() }
    }

    /// What it sends first, and what it then goes on with.
    fn says(&self) -> (String, String) {
        let head = format!("HTTP/1.1\r\nHost: localhost\r\n{}", self.token());
        let post = |length: usize| format!("POST /embed {head}Content-Length: {length}\r\n\r\n");
        let get = format!("GET /healthz {head}\r\n");
        match self.kind {
            Kind::Deaf => (String::new(), get.repeat(100)),
            Kind::DripsBody => (post(20_000), " ".to_owned()),
            Kind::DripsHead => (format!("GET /healthz {head}X-Drip: "), "x".to_owned()),
            Kind::Leaves => (post(1 << 20), " ".repeat(1 << 16)),
        }
    }

    fn turn(&mut self, address: &str, harm: &Harm) {
        let (first, more) = self.says();
        if self.stream.is_none() {
            let Ok(stream) = TcpStream::connect(address) else { return };
            if stream.set_nonblocking(true).is_err() {
                return;
            }
            harm.made.fetch_add(1, Ordering::Relaxed);
            (self.sent, self.stream) = (0, Some(stream));
        }
        let Some(stream) = &mut self.stream else { return };
        let text = if self.sent == 0 && !first.is_empty() { first } else { more };
        match stream.write(text.as_bytes()) {
            Ok(bytes) => {
                self.sent += bytes;
                harm.bytes.fetch_add(bytes, Ordering::Relaxed);
                if matches!(self.kind, Kind::Leaves) && self.sent > 1 << 19 {
                    self.stream = None;
                }
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(_) => {
                harm.closed.fetch_add(1, Ordering::Relaxed);
                self.stream = None;
            }
        }
    }
}

/// What honest clients met.
#[derive(Default)]
struct Met {
    sent: usize,
    statuses: BTreeMap<u16, usize>,
    /// Kept connections that were closed while idle; the request was sent once more.
    again: usize,
    lost: usize,
    took: Vec<Duration>,
}

fn honest(address: &str, graphs: &[String], keeps: bool, done: &AtomicBool) -> Met {
    let mut met = Met::default();
    let mut kept: Option<Client> = None;
    for graph in graphs.iter().cycle() {
        if done.load(Ordering::Relaxed) {
            break;
        }
        met.sent += 1;
        let started = Instant::now();
        let was_kept = kept.is_some();
        let fresh = || Client::try_new(address, Some(TOKEN));
        let ask = |client: Option<Client>| -> std::io::Result<(u16, Client)> {
            let mut client = client.map_or_else(fresh, Ok)?;
            Ok((client.try_embed(graph)?, client))
        };
        let mut answered = ask(kept.take());
        if answered.is_err() && was_kept {
            met.again += 1;
            answered = ask(None);
        }
        match answered {
            Ok((status, client)) => {
                *met.statuses.entry(status).or_default() += 1;
                kept = Some(client).filter(|_| keeps && status == 200);
                met.took.push(started.elapsed());
            }
            Err(_) => met.lost += 1,
        }
        std::thread::sleep(THINKS);
    }
    met
}

/// Some time of honest clients alone, then `long` beside hostile ones.
pub(crate) fn run(server: &Server, graphs: &[String], long: Duration) {
    let before = server.resident_mib();
    for (what, hostile, long) in
        [("alone", 0, long.min(Duration::from_secs(15))), ("beside hostile ones", EACH, long)]
    {
        let (done, harm) = (AtomicBool::new(false), Harm::default());
        let (met, most) = (Mutex::new(Met::default()), Mutex::new(before));
        std::thread::scope(|scope| {
            for kind in [Kind::Deaf, Kind::DripsBody, Kind::DripsHead, Kind::Leaves] {
                let (done, harm) = (&done, &harm);
                scope.spawn(move || {
                    let new = |i| Hostile { kind, knows: i % 2 == 0, stream: None, sent: 0 };
                    let mut all: Vec<Hostile> = (0..hostile).map(new).collect();
                    while !done.load(Ordering::Relaxed) {
                        all.iter_mut().for_each(|one| one.turn(&server.address, harm));
                        std::thread::sleep(Duration::from_millis(100));
                    }
                });
            }
            for client in 0..HONEST {
                let (done, met) = (&done, &met);
                scope.spawn(move || {
                    let own = honest(&server.address, graphs, client % 2 == 0, done);
                    let mut all = met.lock().unwrap();
                    all.sent += own.sent;
                    all.again += own.again;
                    all.lost += own.lost;
                    all.took.extend(own.took);
                    for (status, count) in own.statuses {
                        *all.statuses.entry(status).or_default() += count;
                    }
                });
            }
            let started = Instant::now();
            while started.elapsed() < long {
                std::thread::sleep(Duration::from_millis(500));
                let mut most = most.lock().unwrap();
                *most = most.max(server.resident_mib());
            }
            done.store(true, Ordering::Relaxed);
        });
        let Met { sent, statuses, again, lost, took } = met.into_inner().unwrap();
        let answered = statuses.get(&200).copied().unwrap_or(0);
        let refused: usize = statuses.values().sum::<usize>() - answered;
        println!(
            "{HONEST} honest clients {what}, {} s: {sent} sent, {answered} answered, \
             {refused} refused, {lost} lost, {again} asked again; in ms {}",
            long.as_secs(),
            quantiles(took)
        );
        if hostile > 0 {
            println!(
                "  {} hostile connections made, {} closed on them, {:.0} MiB taken of them; statuses \
                 of the honest {statuses:?}",
                harm.made.into_inner(),
                harm.closed.into_inner(),
                harm.bytes.into_inner() as f64 / f64::from(1 << 20),
            );
            // Until the server has noticed that they left.
            std::thread::sleep(Duration::from_secs(3));
            let most = most.into_inner().unwrap();
            println!(
                "  memory {before:.0} MiB before, {most:.0} MiB at most, {:.0} MiB after",
                server.resident_mib()
            );
        }
    }
}
