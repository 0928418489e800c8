//! Streams of graphs: a line of JSON for each line of JSON, in order.
//!
//! One task reads and parses, a chunk of lines ahead of another that writes. Everything
//! between is bounded, so whoever sends must read what is answered: a stream that stands
//! still for too long is ended, with a line that says why.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::queue::{Done, Job, Work};
use crate::request;
use crate::routes::{App, Key, Refusal, next};

/// Lines and bytes that are handed over together, and such chunks that may be under way.
const LINES: usize = 64;
const BYTES: usize = 1 << 18;
const AHEAD: usize = 3;

/// A chunk of lines under way.
struct Chunk {
    /// What each line is: the key of its graph, or why it is none; with its number.
    lines: Vec<(u64, Result<Key, String>)>,
    answer: oneshot::Receiver<Done>,
    /// Whether the stream ends here, and why.
    end: Option<String>,
}

/// Starts to answer a stream.
pub(crate) fn embed(app: Arc<App>, body: Body) -> Result<Response, Refusal> {
    let slot = app.slot()?;
    let (to_write, mut chunks) = mpsc::channel::<Chunk>(AHEAD);
    let (to_send, lines) = mpsc::channel::<Bytes>(2);
    let reader = Arc::clone(&app);
    tokio::spawn(async move { read(&reader, body, to_write).await });
    tokio::spawn(async move {
        let _slot = slot;
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
    let mut buffer: Vec<u8> = Vec::new();
    let mut number = 0;
    loop {
        let (more, mut end) = match timeout(app.options.timeout, next(&mut body)).await {
            Ok(Some(Ok(bytes))) => {
                buffer.extend_from_slice(&bytes);
                (true, None)
            }
            Ok(Some(Err(Refusal(_, said)))) => (false, Some(said)),
            Ok(None) => {
                // The last line may lack its end.
                buffer.push(b'\n');
                (false, None)
            }
            Err(_) => (false, Some("the next line did not arrive in time".to_owned())),
        };
        let whole = buffer.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if (buffer.len() - whole) as u64 > app.options.max_request_bytes {
            let most = app.options.max_request_bytes;
            end = Some(format!("line {} is longer than {most} bytes", number + 1));
        }
        let lines: Vec<&[u8]> = buffer[..whole].split(|byte| *byte == b'\n').collect();
        let (_, lines) = lines.split_last().unwrap_or((&&[][..], &[]));
        let mut rest = lines;
        while !rest.is_empty() {
            let size = chunk_of(rest);
            let (chunk, later) = rest.split_at(size);
            rest = later;
            if !hand_over(app, chunk, &mut number, &to_write, None).await {
                return;
            }
        }
        buffer.drain(..whole);
        let ended = end.is_some() || !more;
        if let Some(end) = end {
            hand_over(app, &[], &mut number, &to_write, Some(end)).await;
        }
        if ended {
            return;
        }
    }
}

/// How many of the lines are handed over together.
fn chunk_of(lines: &[&[u8]]) -> usize {
    let mut bytes = 0;
    let within = |line: &&&[u8]| {
        bytes += line.len();
        bytes <= BYTES
    };
    lines.iter().take(LINES).take_while(within).count().max(1)
}

/// Parses some lines and asks for their vectors; whether anybody wants more.
async fn hand_over(
    app: &App,
    lines: &[&[u8]],
    number: &mut u64,
    to_write: &mpsc::Sender<Chunk>,
    end: Option<String>,
) -> bool {
    let limits = app.options.request_limits();
    let (mut known, mut records) = (Vec::with_capacity(lines.len()), Vec::new());
    let first = *number;
    for line in lines {
        *number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match request::graph(line, *number, &limits) {
            Ok(record) => {
                known.push((*number, Ok(Key::of(&record))));
                records.push(record);
            }
            Err(refused) => known.push((*number, Err(refused.to_string()))),
        }
    }
    let (reply, answer) = oneshot::channel();
    if records.is_empty() {
        let _ = reply.send(Done::Vectors(Vec::new()));
    } else {
        let job = Job { work: Work::Embed(records, first), reply };
        if app.queue.send(job).await.is_err() {
            return false;
        }
    }
    to_write.send(Chunk { lines: known, answer, end }).await.is_ok()
}

/// The lines that answer a chunk.
async fn written(chunk: Chunk) -> Bytes {
    let vectors = match chunk.answer.await {
        Ok(Done::Vectors(vectors)) => vectors,
        _ => Vec::new(),
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
            Ok((key, Some(Ok(vector)))) => text.extend(key.line(&vector)),
            Ok((_, Some(Err(said)))) | Err(said) => refused(&mut text, Some(number), &said),
            Ok((_, None)) => refused(&mut text, Some(number), &Refusal::broken().1),
        }
    }
    if let Some(said) = chunk.end {
        refused(&mut text, None, &said);
    }
    text.into()
}
