//! `hg2v serve`: embed and search over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use hg2v::dataset;
use hg2v_report::page::SAMPLE;
use hg2v_report::{Method, Mode};
use hg2v_search::Way;
use hg2v_serve::options::Page;
use hg2v_serve::{Options, Server};
use serde_json::json;

use super::report::{Of, Wanted};
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::CacheArgs;
use crate::near::NearArgs;

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
/// its index; SIGTERM and Ctrl-C finish what was accepted. On a card that fails, the
/// processor goes on: the log says so.
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
    /// Where to listen; port 0 takes one that is free
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// What every request must bear as `Authorization: Bearer TOKEN`
    #[arg(long, env = "HG2V_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Requests that may wait; more are answered with 429
    #[arg(long, default_value_t = Options::QUEUE, value_name = "N")]
    queue: usize,
    /// Connections at a time
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
    /// Leave the page out, which takes a while to make of many graphs
    #[arg(long)]
    no_page: bool,
    #[command(flatten)]
    near: NearArgs,
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

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let data = args.data.map(|data| dataset::locate(&data, context.global.data_dir.as_deref()));
    let data = data.transpose()?;
    let choice = args.near.choice(Way::BySize, context.seed());
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
                    methods: &[Method::Pca],
                    choice,
                    cache: cache.clone(),
                };
                // Who asks for vectors can do without.
                let made = wanted.make(Mode::Live, &machine, &context);
                let made = made.inspect_err(|error| {
                    context.say(format!("there is no page: {error:#}"));
                });
                made.ok().map(|(made, _)| made.html)
            })
        }
        _ => Page::plain(),
    };
    let timeout = Duration::from_secs_f64(args.timeout);
    let options = Options {
        index: args.index,
        data,
        page,
        choice,
        machine,
        listen: args.listen,
        token: args.token,
        queue: args.queue,
        connections: args.connections,
        max_request_bytes: args.max_request_bytes,
        max_request_nodes: args.max_request_nodes,
        timeout,
        quiet: context.global.quiet,
        limits: context.limits,
        cache,
        ..Options::new(args.model)
    };
    let server = Server::bind(options)?;
    let address = format!("http://{}", server.address());
    if context.global.json {
        context.print(json!({ "address": address }).to_string())?;
    }
    context.say(format!("listening on {address}"));
    server.run()?;
    context.say("ended");
    Ok(())
}
