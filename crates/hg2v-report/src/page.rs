//! The page.

use std::collections::BTreeMap;
use std::path::Path;

use hg2v::dataset::molecules::AtomLabel;
use hg2v::dataset::summary::Summary;
use hg2v::error::{Action, Error, Result};
use hg2v::graph::Scalar;
use hg2v::prepare::Collection;
use hg2v::saved::{Config, LogLine, RunNote};
use hg2v_eval::evaluation::Evaluation;
use hg2v_math::rng;
use hg2v_search::Neighbor;
use rayon::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::attributes::{Values, attributes};
use crate::map::{Map, Projection};
use crate::pack::{Pack, base64};
use crate::palette::{AMOUNTS, KINDS, element};
use crate::settings::settings;
use crate::sketch::{NodeColors, OTHER, Scheme};

/// The largest page, in bytes; where graphs would make a larger one, fewer are shown.
pub const MOST_BYTES: usize = 20_000_000;

/// Graphs that a page shows where nothing else is asked for.
pub const SAMPLE: usize = 10_000;

/// An amount that a graph does not have.
const MISSING: f32 = f32::MIN;

/// A neighbour that a graph does not have.
const NOBODY: u32 = u32::MAX;

/// Everything that a page is made of. Only the graphs must be there.
#[derive(Debug, Clone)]
pub struct Contents<'a> {
    /// What stands above it all.
    pub title: String,
    /// The graphs, with their pyramids.
    pub collection: &'a Collection<'a>,
    /// What their vectors say about them.
    pub map: Map,
    /// The model.
    pub config: Option<&'a Config>,
    /// How it came about.
    pub run: Option<&'a RunNote>,
    /// What training said.
    pub log: &'a [LogLine],
    /// What is in the collection.
    pub summary: Option<&'a Summary>,
    /// How good the vectors are.
    pub evaluation: Option<&'a Evaluation>,
    /// What a reader should know besides, each a sentence.
    pub notes: Vec<String>,
    /// The most graphs that are shown.
    pub sample: usize,
    /// Chooses which, where there are more.
    pub seed: u64,
}

impl<'a> Contents<'a> {
    /// The graphs alone.
    pub fn of(collection: &'a Collection<'a>) -> Contents<'a> {
        Contents {
            title: "Graphs".to_owned(),
            collection,
            map: Map::default(),
            config: None,
            run: None,
            log: &[],
            summary: None,
            evaluation: None,
            notes: Vec::new(),
            sample: SAMPLE,
            seed: 0,
        }
    }

    fn check(&self) -> Result<()> {
        let graphs = self.collection.len();
        for Projection { name, points } in &self.map.projections {
            if points.len() != graphs {
                let requirement = format!("there are {graphs} graphs, each needs one place");
                return Err(Error::argument("the number of places", points.len(), requirement));
            }
            if let Some(bad) = points.iter().flatten().find(|x| !x.is_finite()) {
                let requirement = format!("every place of {name} must be finite");
                return Err(Error::argument("a place", bad, requirement));
            }
        }
        if !self.map.neighbors.is_empty() && self.map.neighbors.len() != graphs {
            let requirement = format!("there are {graphs} graphs, each needs one list");
            return Err(Error::argument(
                "the number of lists of neighbours",
                self.map.neighbors.len(),
                requirement,
            ));
        }
        let stray =
            self.map.neighbors.iter().flatten().find(|neighbor| neighbor.position >= graphs);
        if let Some(Neighbor { position, .. }) = stray {
            let requirement = format!("there are {graphs} graphs, counted from 0");
            return Err(Error::argument("a neighbour", position, requirement));
        }
        if self.sample == 0 {
            return Err(Error::parameter("sample", 0, "at least one graph must be shown"));
        }
        Ok(())
    }
}

/// What the page can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageMode {
    /// A file: it asks for nothing.
    Still,
    /// Served by `hg2v serve`: new graphs are embedded by `POST embed`, and looked up by
    /// `POST search`, beside the page's own address.
    Live,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file.
    pub html: String,
    /// How many graphs are on it.
    pub shown: usize,
}

/// Makes a page of at most [`MOST_BYTES`]: where there are more graphs than
/// [`sample`](Contents::sample), or than fit, it shows some drawn at random, and says so.
///
/// # Errors
/// Projections or neighbours that do not belong to the graphs.
pub fn page(contents: &Contents<'_>, mode: PageMode) -> Result<Page> {
    contents.check()?;
    let Collection { run, graphs, pyramids, .. } = contents.collection;
    let scheme = Scheme::of(run.records);
    let some = |count, most| {
        let mut rng = rng::stream(contents.seed, "some graphs", 0, 0);
        rng::sample_without_replacement(count, most, &mut rng)
    };
    let mut which = some(graphs.len(), contents.sample);
    let sketch = |&i: &usize| scheme.sketch(&run.records[i], &graphs[i], &pyramids[i]);
    let mut sketches: Vec<Vec<u8>> = which.par_iter().map(sketch).collect();
    loop {
        let html = html(contents, mode, &scheme, &which, &sketches)?;
        if html.len() <= MOST_BYTES || which.len() <= 1 {
            return Ok(Page { html, shown: which.len() });
        }
        // A little fewer than would fit if all were alike.
        let share = 0.95 * MOST_BYTES as f64 / html.len() as f64;
        let most = ((which.len() as f64 * share) as usize).clamp(1, which.len() - 1);
        let kept = some(which.len(), most);
        sketches = kept.iter().map(|&at| std::mem::take(&mut sketches[at])).collect();
        which = kept.iter().map(|&at| which[at]).collect();
    }
}

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");

/// The modules of `page/`, [joined](../build/link.rs).
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));

fn html(
    contents: &Contents<'_>,
    mode: PageMode,
    scheme: &Scheme,
    which: &[usize],
    sketches: &[Vec<u8>],
) -> Result<String> {
    let mut pack = Pack::default();
    put_facts(&mut pack, contents, mode, which);
    put_map(&mut pack, contents, which);
    put_neighbors(&mut pack, contents, which);
    put_sketches(&mut pack, scheme, sketches);
    let data = pack.finish().map_err(|e| Error::io("page", Action::Write, e))?;
    // The title last: what it says is looked at no more.
    Ok(TEMPLATE
        .replace("{{script hash}}", &base64(&Sha256::digest(SCRIPT)))
        .replace("{{connect}}", if mode == PageMode::Live { "'self'" } else { "'none'" })
        .replace("{{style}}", STYLE)
        .replace("{{script}}", SCRIPT)
        .replace("{{data}}", &data)
        .replace("{{title}}", &escaped(&contents.title)))
}

/// Everything that is not about single graphs. Paths stay where they are: a page is shown
/// to others.
fn put_facts(pack: &mut Pack, contents: &Contents<'_>, mode: PageMode, which: &[usize]) {
    pack.value("title", contents.title.as_str());
    pack.value("version", env!("CARGO_PKG_VERSION"));
    pack.value("live", mode == PageMode::Live);
    pack.value("graphs", contents.collection.len());
    pack.value("shown", which.len());
    pack.value("dim", contents.map.dim);
    pack.value("notes", contents.notes.clone());
    pack.value("metric", contents.map.metric.as_str());
    pack.value("kindColors", KINDS.to_vec());
    pack.value("amountColors", AMOUNTS.to_vec());
    pack.value("config", json!(contents.config.map(settings)));
    pack.value("log", json!(contents.log));
    let without_path = |mut value: Value, key: &str| {
        if let Some(path) = value.get_mut(key) {
            let name = path.as_str().and_then(|path| Path::new(path).file_name());
            *path = name.map(|name| name.to_string_lossy().into_owned()).into();
        }
        value
    };
    pack.value("run", without_path(json!(contents.run), "data"));
    pack.value("summary", without_path(json!(contents.summary), "path"));
    pack.value("evaluation", without_path(json!(contents.evaluation), "data"));
}

fn id_of(contents: &Contents<'_>, i: usize) -> String {
    let run = &contents.collection.run;
    run.records[i].id_at(run.position_of(i)).to_string()
}

fn put_map(pack: &mut Pack, contents: &Contents<'_>, which: &[usize]) {
    let ids: Vec<String> = which.iter().map(|&i| id_of(contents, i)).collect();
    pack.value("ids", ids);
    let names: Vec<&str> = contents.map.projections.iter().map(|p| p.name.as_str()).collect();
    pack.value("projections", json!(names));
    for (at, Projection { points, .. }) in contents.map.projections.iter().enumerate() {
        let chosen: Vec<[f64; 2]> = which.iter().map(|&i| points[i]).collect();
        pack.numbers(&format!("place {at}"), &in_a_square(&chosen));
    }
    let Collection { run, graphs, .. } = contents.collection;
    let mut listed = Vec::new();
    for (at, attribute) in attributes(run.records, graphs, which).into_iter().enumerate() {
        let name = format!("attribute {at}");
        match attribute.values {
            Values::Kinds { names, of } => {
                pack.counts(&name, &of);
                listed.push(json!({ "name": attribute.name, "kinds": names }));
            }
            Values::Amounts(amounts) => {
                // As far as 32 bits go.
                let number = |x: f64| x.clamp(-3e38, 3e38) as f32;
                let values: Vec<f32> =
                    amounts.iter().map(|amount| amount.map_or(MISSING, number)).collect();
                pack.numbers(&name, &values);
                listed.push(json!({ "name": attribute.name }));
            }
        }
    }
    pack.value("attributes", listed);
    pack.value("missing", MISSING);
}

/// Places in −1..1 along the longer side, around 0.
fn in_a_square(points: &[[f64; 2]]) -> Vec<f32> {
    let bound = |axis: usize, first: f64, choose: fn(f64, f64) -> f64| {
        points.iter().fold(first, |bound, point| choose(bound, point[axis]))
    };
    let least = [0, 1].map(|axis| bound(axis, f64::INFINITY, f64::min));
    let most = [0, 1].map(|axis| bound(axis, f64::NEG_INFINITY, f64::max));
    // Halves, lest the largest numbers leave what can be counted.
    let middle = [0, 1].map(|axis| 0.5 * least[axis] + 0.5 * most[axis]);
    let half = [0, 1].map(|axis| 0.5 * most[axis] - 0.5 * least[axis]);
    let longest = half[0].max(half[1]);
    let scale = if longest > 0.0 { 1.0 / longest } else { 1.0 };
    let place = |point: &[f64; 2]| [0, 1].map(|axis| (scale * (point[axis] - middle[axis])) as f32);
    points.iter().flat_map(place).collect()
}

/// Neighbours by their places on the page; those that are not on it follow, with a name.
fn put_neighbors(pack: &mut Pack, contents: &Contents<'_>, which: &[usize]) {
    let columns = contents.map.neighbors.iter().map(Vec::len).max().unwrap_or(0);
    let (mut neighbors, mut distances) = (Vec::new(), Vec::new());
    let mut absent: Vec<Value> = Vec::new();
    let mut codes: BTreeMap<usize, u32> = BTreeMap::new();
    for &i in which.iter().filter(|_| columns > 0) {
        for rank in 0..columns {
            let Some(&Neighbor { position, distance }) = contents.map.neighbors[i].get(rank) else {
                neighbors.push(NOBODY);
                distances.push(0.0);
                continue;
            };
            let code = which.binary_search(&position).map_or_else(
                |_| {
                    *codes.entry(position).or_insert_with(|| {
                        let label = contents.collection.run.records[position].label.as_ref();
                        let label = label.map(Scalar::to_string);
                        absent.push(json!([id_of(contents, position), label]));
                        (which.len() + absent.len() - 1) as u32
                    })
                },
                |at| at as u32,
            );
            neighbors.push(code);
            distances.push(distance as f32);
        }
    }
    pack.value("neighborsEach", columns);
    pack.value("nobody", NOBODY);
    pack.value("absent", absent);
    pack.counts("neighbors", &neighbors);
    pack.numbers("distances", &distances);
}

fn put_sketches(pack: &mut Pack, scheme: &Scheme, sketches: &[Vec<u8>]) {
    let mut at = 0;
    let mut starts = vec![0];
    for sketch in sketches {
        at += sketch.len() as u32;
        starts.push(at);
    }
    pack.counts("sketch starts", &starts);
    pack.bytes("sketches", &sketches.concat());
    let mut atoms = Vec::new();
    let colors = match &scheme.colors {
        NodeColors::Elements(known) => {
            let atom = |atom: &AtomLabel| {
                json!([atom.symbol(), atom.hydrogens, atom.charge, atom.isotope])
            };
            atoms = known.atoms.iter().map(atom).collect();
            let color = |name: &&str| {
                let (light, dark) = element(name);
                json!({ "name": name, "light": light, "dark": dark })
            };
            json!({ "elements": known.elements.iter().map(color).collect::<Vec<_>>() })
        }
        NodeColors::Labels(labels) => {
            let names: Vec<String> = labels.iter().map(ToString::to_string).collect();
            json!({ "labels": names, "other": OTHER })
        }
        NodeColors::Attribute { column, from, to } => {
            let name = match scheme.coordinates {
                // What `hg2v images` puts there.
                Some(places) if !places.upwards && *column == 2 => "luminosity".to_owned(),
                _ => format!("attribute {column}"),
            };
            json!({ "attribute": name, "from": from, "to": to })
        }
        NodeColors::Degree => json!({ "degree": true }),
    };
    pack.value("nodeColors", colors);
    pack.value("atoms", atoms);
    pack.value("hasCoordinates", scheme.coordinates.is_some());
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}
