//! `hg2v serve`: embed and search over HTTP.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use hg2v::dataset;
use hg2v_report::PageMode;
use hg2v_report::page::SAMPLE;
use hg2v_search::IndexKind;
use hg2v_search::project::ProjectionMethod;
use hg2v_serve::options::Page;
use hg2v_serve::{Options, Server};
use serde_json::json;

use super::report::{Of, Wanted};
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::distances::DistanceArgs;
use crate::graphs::CacheArgs;
use crate::words::told;

/// Embed and search over HTTP
///
/// POST /embed takes a graph, as a line of JSONL, and answers its vector: to the bit the
/// one that `embed` writes; as application/x-ndjson, a vector a line. POST /search takes
/// a graph or {"id": …} and answers its neighbours. /openapi.json describes all of it,
/// /metrics counts, /healthz and /readyz tell whether it lives and is ready.
///
/// With --data, the page of `hg2v report` is served at /, with a box for new graphs, which
/// land on its map. It is made when the server starts, and again for a model that is
/// replaced.
///
/// A model that is replaced is loaded again without dropping a request, together with
/// its index; SIGTERM and Ctrl-C finish what was accepted. On a GPU that fails, the
/// processor goes on: the log says so.
///
/// What `embed` warns of stands in the answer: {"notes": {"unseen_labels": 2}} counts nodes
/// whose labels training never met.
///
/// With --token, programs send `Authorization: Bearer TOKEN`, and a browser asks for it
/// once. The server speaks plain HTTP: beyond this machine, whoever sits on the way reads
/// the token and everything else. Put nginx or the like in front, for TLS; docs/serving.md
/// shows how.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v serve mutag.model --index mutag.parquet --data MUTAG.zip
  curl -d '{\"edges\":[[0,1],[1,2]],\"node_labels\":[0,0,1]}' http://127.0.0.1:8080/embed
  curl -d '{\"id\":17}' 'http://127.0.0.1:8080/search?top=3'
  curl -T - -H 'Content-Type: application/x-ndjson' -X POST http://127.0.0.1:8080/embed < graphs.jsonl
  HG2V_TOKEN=secret hg2v serve mutag.model --listen 0.0.0.0:8080")]
pub(crate) struct Args {
    /// The model's folder
    model: PathBuf,
    /// A file of vectors to search, by that model
    #[arg(long, value_name = "E")]
    index: Option<PathBuf>,
    /// Graphs that can be asked for by their id; searched, too, without --index
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// Where to listen: an address or a name, and a port; port 0 takes one that is free
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    #[arg(value_parser = address)]
    listen: SocketAddr,
    /// What every request must bear as `Authorization: Bearer TOKEN`
    ///
    /// Others on this machine can read what stands on a command line: set HG2V_TOKEN instead.
    #[arg(long, env = "HG2V_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Requests that may wait, small and large ones apart, and streams at a time; more are
    /// answered with 429
    #[arg(long, default_value_t = Options::QUEUE, value_name = "N")]
    queue: usize,
    /// Connections at a time; beyond that, one that idles, drips or does not read is closed
    /// for the next, first of all one that has not shown the token
    #[arg(long, default_value_t = Options::CONNECTIONS, value_name = "N")]
    connections: usize,
    /// Longest body, or line of a stream, in bytes
    #[arg(long, default_value_t = Options::MAX_REQUEST_BYTES, value_name = "N")]
    max_request_bytes: u64,
    /// Largest graph that is taken, in nodes
    #[arg(long, default_value_t = Options::MAX_REQUEST_NODES, value_name = "N")]
    max_request_nodes: u64,
    /// Seconds that a request may take, its body included; a stream, from one line to the next
    #[arg(long, value_name = "S", value_parser = seconds)]
    #[arg(default_value_t = Options::TIMEOUT.as_secs_f64())]
    timeout: f64,
    /// Seconds that a connection may wait for its next request, and the head of one may take
    #[arg(long, value_name = "S", value_parser = seconds)]
    #[arg(default_value_t = Options::IDLE_TIMEOUT.as_secs_f64())]
    idle_timeout: f64,
    /// Seconds that an answer may wait for its reader
    #[arg(long, value_name = "S", value_parser = seconds)]
    #[arg(default_value_t = Options::WRITE_TIMEOUT.as_secs_f64())]
    write_timeout: f64,
    /// Leave the page out, which takes a while to make of many graphs
    #[arg(long)]
    no_page: bool,
    #[command(flatten)]
    distances: DistanceArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("it must be a number of seconds between 0.001 and 86400".to_owned()),
    }
}

/// The first address that a name stands for; of IPv4, where there is one, which more programs
/// try.
fn address(text: &str) -> Result<SocketAddr, String> {
    if text.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
        return Err("it must end with a port, as in localhost:8080".to_owned());
    }
    let found = text.to_socket_addrs().map_err(|error| {
        format!("nobody here knows that address ({error}); try localhost or 127.0.0.1")
    })?;
    found.min_by_key(SocketAddr::is_ipv6).ok_or_else(|| "that name has no address".to_owned())
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let data = args.data.map(|data| dataset::locate(&data, context.global.data_dir.as_deref()));
    let data = data.transpose()?;
    let search = args.distances.options(IndexKind::BySize, context.seed());
    let cache = args.cache.open();
    let machine = args.device.open()?;
    let page = match &data {
        Some(_) if !args.no_page => {
            let model = args.model.clone();
            let (cache, machine, context) = (cache.clone(), machine.clone(), context.clone());
            Page::new(move |shown| {
                let wanted = Wanted {
                    run: &model,
                    of: Of::Read(shown),
                    evaluation: None,
                    sample: SAMPLE,
                    title: None,
                    methods: &[ProjectionMethod::Pca],
                    search,
                    cache: cache.clone(),
                };
                // Who asks for vectors can do without.
                let made = wanted.make(PageMode::Live, &machine, &context);
                let made = made.inspect_err(|error| {
                    context.say(format!("there is no page: {}", told(error)));
                });
                made.ok().map(|(made, _)| made.html)
            })
        }
        _ => Page::plain(),
    };
    let options = Options::new(args.model)
        .index(args.index)
        .data(data)
        .page(page)
        .search(search)
        .machine(machine)
        .listen(args.listen)
        .token(args.token)
        .queue(args.queue)
        .connections(args.connections)
        .max_request_bytes(args.max_request_bytes)
        .max_request_nodes(args.max_request_nodes)
        .timeout(Duration::from_secs_f64(args.timeout))
        .idle_timeout(Duration::from_secs_f64(args.idle_timeout))
        .write_timeout(Duration::from_secs_f64(args.write_timeout))
        .quiet(context.global.quiet)
        .limits(context.limits)
        .cache(cache)
        .skipped(context.global.skip_invalid.then(|| context.skipped.clone()));
    let server = Server::bind(options)?;
    context.say_skipped();
    let address = format!("http://{}", server.address());
    context.tell(json!({ "address": address }))?;
    context.say(format!("listening on {address}"));
    if !server.address().ip().is_loopback() {
        context.say(
            "this is plain HTTP: whoever sits on the way can read the token; \
             docs/serving.md says how to put TLS in front",
        );
    }
    server.run()?;
    context.say("ended");
    Ok(())
}
