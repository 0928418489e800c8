#![no_main]
//! Bodies that are sent to the server: a graph, or a question.

#[allow(dead_code)]
mod reading;

use hg2v_serve::request::{Question, graph, question};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = reading::limits();
    let found = graph(bytes, 1, &limits);
    match question(bytes, &limits) {
        // A graph and nothing else: the same that is embedded.
        Ok(Question::Graph(record)) => assert_eq!(found.as_ref().ok(), Some(&*record)),
        Ok(Question::Id(id)) => assert!(id.len() < 4096),
        Err(_) => assert!(found.is_err()),
    }
    reading::drain(Ok(std::iter::once(found)));
});
