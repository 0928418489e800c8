//! Streams of graphs: a line of JSON for each line of JSON, in order.
//!
//! One task reads and parses, a chunk of lines ahead of another that writes. Everything
//! between is bounded, so whoever sends must read what is answered: a stream that stands
//! still for too long, or drips, is ended with a line that says why.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use hg2v::dataset::Limits;
use hg2v::graph::GraphRecord;
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant as Deadline, timeout, timeout_at};

use crate::answer::Refusal;
use crate::ask::Key;
use crate::body::{Held, LONG, Taken, next, parsed};
use crate::queue::{Size, Ticket};
use crate::request;
use crate::routes::App;
use crate::words::Client;
use crate::work::{Done, Work};

/// Lines and bytes that are handed over together, and such chunks that may be under way.
const LINES: usize = 64;
const BYTES: usize = 1 << 18;
const AHEAD: usize = 3;

/// A chunk of lines under way.
struct Chunk {
    /// What each line is: the key of its graph, or why it is none; with its number.
    lines: Vec<(u64, Result<Key, String>)>,
    /// What comes of the graphs, where there are any.
    answer: Option<oneshot::Receiver<Done>>,
    /// Whether the stream ends here, and why.
    end: Option<String>,
}

/// Starts to answer a stream.
pub(crate) fn embed(app: Arc<App>, body: Body) -> Result<Response, Refusal> {
    let place = Arc::clone(&app.streams).try_acquire_owned().map_err(|_| Refusal::busy())?;
    let (to_write, mut chunks) = mpsc::channel::<Chunk>(AHEAD);
    let (to_send, lines) = mpsc::channel::<Bytes>(2);
    let reader = Arc::clone(&app);
    tokio::spawn(async move { read(&reader, body, to_write).await });
    tokio::spawn(async move {
        let _place = place;
        while let Some(chunk) = chunks.recv().await {
            let text = written(chunk).await;
            // Nobody reads: nobody is written to.
            if !matches!(timeout(app.options.timeout, to_send.send(text)).await, Ok(Ok(()))) {
                break;
            }
        }
    });
    let mut response = Response::new(Body::new(Lines(lines)));
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// A body whose pieces arrive one by one.
struct Lines(mpsc::Receiver<Bytes>);

impl HttpBody for Lines {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Hands the lines of a body over, in chunks.
async fn read(app: &App, mut body: Body, to_write: mpsc::Sender<Chunk>) {
    let mut held = Held::default();
    let mut number = 0;
    let mut deadline = Deadline::now() + app.options.timeout;
    loop {
        let arrived = arrive(app, &mut body, &mut held, deadline).await;
        let more = matches!(arrived, Ok(Some(_)));
        let (whole, mut end) = match arrived {
            // The last line may lack its end.
            Ok(whole) => (whole.unwrap_or(held.len()), None),
            Err(Refusal(_, said)) => (0, Some(said)),
        };
        if whole > 0 {
            let (mut lines, taken) = held.split_to(whole, &app.room).into_parts();
            let (alive, mut worked_off) = mpsc::channel(1);
            let kept = Arc::new((taken, alive));
            while !lines.is_empty() {
                let chunk = lines.split_to(chunk_of(&lines));
                let kept = Arc::clone(&kept);
                if !hand_over(app, chunk, Some(kept), &mut number, &to_write, None).await {
                    return;
                }
            }
            drop(kept);
            // What is made of long lines takes room, too, until it is worked off.
            if whole >= LONG {
                let _: Option<()> = worked_off.recv().await;
            }
            // Time begins anew with a line: pieces of one do not count, nor does it run while
            // others keep the lines waiting.
            deadline = Deadline::now() + app.options.timeout;
        }
        let most = app.options.max_request_bytes;
        if held.len() as u64 > most {
            end = Some(format!("line {} is longer than {most} bytes", number + 1));
        }
        let ended = end.is_some() || !more;
        if end.is_some() {
            hand_over(app, Bytes::new(), None, &mut number, &to_write, end).await;
        }
        if ended {
            return;
        }
    }
}

/// Waits for the next piece of a body: how many of the bytes that are then held are whole
/// lines, or nothing at the end of the body.
async fn arrive(
    app: &App,
    body: &mut Body,
    held: &mut Held,
    deadline: Deadline,
) -> Result<Option<usize>, Refusal> {
    let late = |_| Refusal::bad("the next line did not arrive in time");
    let Some(piece) = timeout_at(deadline, next(body)).await.map_err(late)? else {
        return Ok(None);
    };
    let (before, piece) = (held.len(), piece?);
    held.add(&piece, &app.room)?;
    // What was held before is the beginning of a line: no line ends there.
    let last = piece.iter().rposition(|byte| *byte == b'\n');
    Ok(Some(last.map_or(0, |last| before + last + 1)))
}

/// The lines of a text, each with its end.
fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// How many bytes, of whole lines, are handed over together.
fn chunk_of(lines: &[u8]) -> usize {
    let mut bytes = 0;
    for line in lines_of(lines).take(LINES) {
        if bytes > 0 && bytes + line.len() > BYTES {
            break;
        }
        bytes += line.len();
    }
    bytes
}

/// Lines, and what they are.
#[derive(Default)]
struct Parsed {
    count: u64,
    known: Vec<(u64, Result<Key, String>)>,
    records: Vec<GraphRecord>,
}

/// What the lines after the first `before` of a stream are.
fn parse(lines: &[u8], before: u64, limits: &Limits) -> Parsed {
    let mut parsed = Parsed::default();
    for line in lines_of(lines) {
        parsed.count += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let number = before + parsed.count;
        let known = match request::graph(line, number, limits) {
            Ok(record) => {
                let key = Key::of(&record);
                parsed.records.push(record);
                Ok(key)
            }
            Err(refused) => Err(refused.worded(&Client)),
        };
        parsed.known.push((number, known));
    }
    parsed
}

/// What lines take of the room, and who waits until they are worked off.
type Kept = Option<Arc<(Taken, mpsc::Sender<()>)>>;

/// Parses some lines and asks for their vectors; whether anybody wants more.
async fn hand_over(
    app: &App,
    lines: Bytes,
    kept: Kept,
    number: &mut u64,
    to_write: &mpsc::Sender<Chunk>,
    end: Option<String>,
) -> bool {
    let (limits, first, bytes) = (app.options.request_limits(), *number, lines.len());
    let parsed = parsed(lines, kept, move |lines| parse(lines, first, &limits)).await;
    let (Parsed { count, known, records }, kept, end) = match parsed {
        Ok((parsed, kept)) => (parsed, kept, end),
        Err(Refusal(_, said)) => (Parsed::default(), None, Some(said)),
    };
    let more = end.is_none();
    *number += count;
    let mut answer = None;
    if !records.is_empty() {
        let parsed = known.iter().filter(|(_, key)| key.is_ok());
        let lines = parsed.map(|(number, _)| number - 1).collect();
        let size = Size::of(&records, bytes);
        let ticket = Ticket::new(kept.filter(|_| bytes >= LONG));
        match app.queue.send(size, Work::Embed(records, lines), ticket).await {
            Ok(later) => answer = Some(later),
            Err(_) => return false,
        }
    }
    to_write.send(Chunk { lines: known, answer, end }).await.is_ok() && more
}

/// The lines that answer a chunk.
async fn written(chunk: Chunk) -> Bytes {
    let vectors = match chunk.answer {
        Some(answer) => match answer.await {
            Ok(Done::Vectors(vectors)) => vectors,
            _ => Vec::new(),
        },
        None => Vec::new(),
    };
    let mut vectors = vectors.into_iter();
    let mut text = Vec::new();
    let refused = |text: &mut Vec<u8>, line: Option<u64>, said: &str| {
        let line = match line {
            Some(line) => json!({ "line": line, "error": said }),
            None => json!({ "error": said }),
        };
        text.extend(line.to_string().into_bytes());
        text.push(b'\n');
    };
    for (number, line) in chunk.lines {
        match line.map(|key| (key, vectors.next())) {
            Ok((key, Some(Ok(row)))) => text.extend(key.line(&row)),
            Ok((_, Some(Err(said)))) | Err(said) => refused(&mut text, Some(number), &said),
            Ok((_, None)) => refused(&mut text, Some(number), &Refusal::broken().1),
        }
    }
    if let Some(said) = chunk.end {
        refused(&mut text, None, &said);
    }
    text.into()
}
