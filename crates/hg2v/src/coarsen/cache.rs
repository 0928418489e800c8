//! Pyramids kept on disk under a name that says what they were made from.
//!
//! An entry holds the pyramids of a part of a collection. Its name is the SHA-256 of
//! everything they depend on: the graphs, the parameters, and the version of the
//! algorithm. Its last 32 bytes are the SHA-256 of the rest: an entry that was
//! cut, flipped or forged is made again, never trusted.
//!
//! ```text
//! "hg2v-pyramids" | version: u32 | count: u32 | pyramids … | sha256
//! pyramid = converged: u8 | n: u32 | levels: u32 | level …
//! level   = assignment: u32 … | n: u32 | edges: u64 | (u: u32, v: u32, weight: f32) …
//! ```
//! All numbers are little-endian.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use hg2v_math::parallel::try_map;
use sha2::{Digest, Sha256};

use super::{Level, Params, Pyramid, coarsen};
use crate::error::{Action, Result};
use crate::graph::Graph;
use crate::input::read_at_most;
use crate::output::OutputFile;
use crate::progress::Counter;
use crate::vocabulary::Named;

/// Changes whenever the same input would give another pyramid.
const VERSION: u32 = 2;

const MAGIC: &[u8] = b"hg2v-pyramids";

/// No entry is longer: the largest graphs there are have pyramids of a few gigabytes.
const MOST_BYTES: u64 = 16 << 30;

/// A folder of entries: pyramids that were made before.
///
/// # Examples
/// ```
/// use hg2v::coarsen::cache::Cache;
/// use hg2v::context::Context;
/// use hg2v::graph::GraphRecord;
/// use hg2v::prepare::{Collection, Needs, Run};
/// # let folder = std::env::temp_dir().join(format!("hg2v-doc-cache-{}", std::process::id()));
/// let edges = (0..29).map(|v| [v, v + 1]).collect();
/// let graphs = [GraphRecord { num_nodes: 30, edges, ..GraphRecord::default() }];
/// let needs = Needs::default().coarsening(Some(Default::default()));
/// let context = Context::default().cached_in(Some(Cache::new(&folder)));
/// let made = Collection::new(Run::in_memory(&graphs), &needs, &context)?;
/// let found = Collection::new(Run::in_memory(&graphs), &needs, &context)?;
/// assert_eq!((made.notes.from_cache, found.notes.from_cache), (0, 1));
/// assert_eq!(made.pyramids, found.pyramids);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), hg2v::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache in `folder`, which is made when the first entry is written.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into() }
    }

    /// The user's own cache folder: `$XDG_CACHE_HOME/hg2v`, or `~/.cache/hg2v`.
    pub fn default_folder() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let base = set("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || set("HOME").map(|home| PathBuf::from(home).join(".cache"));
        Some(base.or_else(home)?.join("hg2v"))
    }

    fn entry(&self, graphs: &[Graph], params: &Params) -> PathBuf {
        let name: String = key(graphs, params).iter().map(|b| format!("{b:02x}")).collect();
        // Two letters of fan-out keep folders small.
        self.folder.join(&name[..2]).join(name)
    }

    fn read(&self, graphs: &[Graph], params: &Params) -> Option<Vec<Pyramid>> {
        let bytes = read_at_most(&self.entry(graphs, params), MOST_BYTES).ok()??;
        decode(&bytes, graphs)
    }

    fn write(&self, graphs: &[Graph], params: &Params, made: &[Pyramid]) {
        // The disk may be full or read-only; the result is right all the same.
        let _ = write(&self.entry(graphs, params), &encode(made));
    }
}

/// The pyramids of all graphs of `parts`, in their order, and how many came from the cache,
/// which has an entry a part. Graphs are coarsened in parallel; `counter` counts them.
/// A [`Collection`](crate::prepare::Collection) is the usual way to it.
///
/// # Complexity
/// As [`coarsen`] for a graph that is not in the cache; linear in the size of one that is.
///
/// # Errors
/// As [`coarsen`]; [`Stopped`](crate::Error::Stopped). A cache that cannot be read or written
/// is no error: it only saves time.
#[doc(hidden)]
pub fn pyramids(
    parts: &[&[Graph]],
    params: &Params,
    cache: Option<&Cache>,
    counter: &Counter<'_>,
) -> Result<(Vec<Pyramid>, u64)> {
    params.check()?;
    let look_up = |part: &&[Graph]| {
        let found = cache.and_then(|cache| cache.read(part, params));
        counter.add(found.as_ref().map_or(0, Vec::len) as u64).map(|()| found)
    };
    let found: Vec<Option<Vec<Pyramid>>> = try_map(parts, look_up)?;
    let missing: Vec<&Graph> = parts
        .iter()
        .zip(&found)
        .filter(|(_, found)| found.is_none())
        .flat_map(|(part, _)| *part)
        .collect();
    let make = |graph: &&Graph| {
        let made = coarsen(graph, params)?;
        counter.add(1).map(|()| made)
    };
    let mut made = try_map(&missing, make)?.into_iter();
    let mut all = Vec::new();
    for (part, found) in parts.iter().zip(found) {
        all.extend(found.unwrap_or_else(|| {
            let own: Vec<Pyramid> = made.by_ref().take(part.len()).collect();
            cache.inspect(|cache| cache.write(part, params, &own));
            own
        }));
    }
    let from_cache = all.len() - missing.len();
    Ok((all, from_cache as u64))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e| crate::Error::io(path, Action::Write, e);
    // An output may be a pipe, and waits for whoever reads it; nobody reads a cache.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(failed)?;
    file.commit()
}

/// The digest of everything that `graphs`' pyramids depend on.
fn key(graphs: &[Graph], params: &Params) -> [u8; 32] {
    let mut hash = Sha256::new();
    let Params { method, k, ratio, max_levels, seed } = params;
    let seed = if method.draws() { *seed } else { 0 };
    hash.update(MAGIC);
    hash.update(VERSION.to_le_bytes());
    hash.update(method.word());
    for number in [*k as u64, ratio.to_bits(), *max_levels as u64, seed, graphs.len() as u64] {
        hash.update(number.to_le_bytes());
    }
    let mut bytes = Vec::new();
    for graph in graphs {
        bytes.clear();
        put_graph(&mut bytes, graph);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
    }
    hash.finalize().into()
}

fn put_graph(bytes: &mut Vec<u8>, graph: &Graph) {
    bytes.extend((graph.num_nodes() as u32).to_le_bytes());
    bytes.extend((graph.num_edges() as u64).to_le_bytes());
    for (u, v, weight) in graph.edges() {
        bytes.extend(u.to_le_bytes());
        bytes.extend(v.to_le_bytes());
        bytes.extend(weight.to_le_bytes());
    }
}

fn encode(pyramids: &[Pyramid]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((pyramids.len() as u32).to_le_bytes());
    for pyramid in pyramids {
        bytes.push(u8::from(pyramid.converged));
        bytes.extend((pyramid.num_nodes as u32).to_le_bytes());
        bytes.extend((pyramid.levels.len() as u32).to_le_bytes());
        for level in &pyramid.levels {
            for node in &level.assignment {
                bytes.extend(node.to_le_bytes());
            }
            put_graph(&mut bytes, &level.graph);
        }
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

/// The pyramids in an entry, if it is whole and they are those of `graphs`.
fn decode(bytes: &[u8], graphs: &[Graph]) -> Option<Vec<Pyramid>> {
    let (content, digest) = bytes.split_last_chunk::<32>()?;
    if Sha256::digest(content).as_slice() != digest {
        return None;
    }
    let mut rest = Reader { bytes: content.strip_prefix(MAGIC)? };
    if rest.u32()? != VERSION || rest.u32()? as usize != graphs.len() {
        return None;
    }
    let pyramids: Option<Vec<Pyramid>> = graphs.iter().map(|graph| rest.pyramid(graph)).collect();
    pyramids.filter(|_| rest.bytes.is_empty())
}

/// What is left of an entry. The digest has vouched for it, but a length is
/// still compared with what is there before anything is allocated.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(count)?;
        self.bytes = tail;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn pyramid(&mut self, graph: &Graph) -> Option<Pyramid> {
        let converged = self.take(1)? == [1];
        let num_nodes = self.u32()? as usize;
        if num_nodes != graph.num_nodes() {
            return None;
        }
        let mut below = num_nodes;
        let count = self.u32()?;
        let mut levels = Vec::new();
        for _ in 0..count {
            let words = self.take(below.checked_mul(4)?)?.as_chunks::<4>().0;
            let assignment: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
            let graph = self.graph(below)?;
            below = graph.num_nodes();
            if assignment.iter().any(|&node| node as usize >= below) {
                return None;
            }
            levels.push(Level { assignment, graph });
        }
        Some(Pyramid { num_nodes, levels, converged })
    }

    /// A graph of at most `most` nodes.
    fn graph(&mut self, most: usize) -> Option<Graph> {
        let num_nodes = self.u32()?;
        if num_nodes as usize > most {
            return None;
        }
        let num_edges = u64::from_le_bytes(self.take(8)?.try_into().ok()?);
        let length = usize::try_from(num_edges).ok()?.checked_mul(12)?;
        let edges: Vec<(u32, u32, f32)> = self
            .take(length)?
            .as_chunks::<12>()
            .0
            .iter()
            .map(|edge| {
                let [a, b, c] = [&edge[..4], &edge[4..8], &edge[8..]]
                    .map(|word| [word[0], word[1], word[2], word[3]]);
                (u32::from_le_bytes(a), u32::from_le_bytes(b), f32::from_le_bytes(c))
            })
            .collect();
        let sorted = edges.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1));
        let inside = edges
            .iter()
            .all(|&(u, v, weight)| u < v && v < num_nodes && weight.is_finite() && weight > 0.0);
        (sorted && inside).then(|| Graph::from_sorted_edges(num_nodes as usize, &edges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphRecord, WeightPolicy};
    use crate::progress::{Silent, Stage};

    fn graphs() -> Vec<Graph> {
        let ring = |n: u32| GraphRecord {
            num_nodes: n + 1,
            edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
            ..GraphRecord::default()
        };
        let build = |n| Graph::from_record(&ring(n), WeightPolicy::Use).unwrap().0;
        (3..40).map(build).collect()
    }

    fn kept(
        parts: &[&[Graph]],
        params: &Params,
        cache: Option<&Cache>,
    ) -> Result<(Vec<Pyramid>, u64)> {
        pyramids(parts, params, cache, &Counter::new(&Silent, Stage::Coarsening, 0))
    }

    fn only_file(folder: &Path) -> PathBuf {
        let inner = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        fs::read_dir(inner).unwrap().next().unwrap().unwrap().path()
    }

    #[test]
    fn twice_is_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let (graphs, params) = (graphs(), Params::default());
        let (first, from_cache) = kept(&[&graphs], &params, Some(&cache)).unwrap();
        assert_eq!(from_cache, 0);
        let (second, from_cache) = kept(&[&graphs], &params, Some(&cache)).unwrap();
        assert_eq!(from_cache, 37);
        assert_eq!(first, second);
        let other = Params { k: 5, ..params };
        assert_eq!(kept(&[&graphs], &other, Some(&cache)).unwrap().1, 0);
        assert_eq!(kept(&[&graphs[1..]], &params, Some(&cache)).unwrap().1, 0);
    }

    #[test]
    fn a_part_is_found_whatever_stands_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let (graphs, params) = (graphs(), Params::default());
        let (one, two, three) = (&graphs[..10], &graphs[10..25], &graphs[25..]);
        kept(&[one], &params, Some(&cache)).unwrap();
        kept(&[three], &params, Some(&cache)).unwrap();
        let (all, from_cache) = kept(&[one, two, three], &params, Some(&cache)).unwrap();
        assert_eq!(from_cache, 10 + 12);
        assert_eq!(all, kept(&[&graphs], &params, None).unwrap().0);
        assert_eq!(kept(&[two, three], &params, Some(&cache)).unwrap().1, 27);
    }

    #[test]
    fn a_damaged_entry_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let (graphs, params) = (graphs(), Params::default());
        let (made, _) = kept(&[&graphs], &params, Some(&cache)).unwrap();
        let path = only_file(folder.path());
        let whole = fs::read(&path).unwrap();
        for cut in [0, 1, 20, 31, 32, 33, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            let (again, from_cache) = kept(&[&graphs], &params, Some(&cache)).unwrap();
            assert_eq!((again == made, from_cache), (true, 0), "cut at {cut}");
        }
        for at in (0..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            fs::write(&path, &flipped).unwrap();
            let (again, from_cache) = kept(&[&graphs], &params, Some(&cache)).unwrap();
            assert_eq!((again == made, from_cache), (true, 0), "flipped at {at}");
        }
        assert_eq!(kept(&[&graphs], &params, Some(&cache)).unwrap().1, 37);
    }

    #[test]
    #[cfg(unix)]
    fn nobody_waits_at_an_entry_that_is_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let (graphs, params) = (graphs(), Params::default());
        let (made, _) = kept(&[&graphs], &params, Some(&cache)).unwrap();
        let path = only_file(folder.path());
        for replace in ["mkfifo \"$0\"", "ln -s /dev/zero \"$0\""] {
            fs::remove_file(&path).unwrap();
            let mut shell = std::process::Command::new("sh");
            assert!(shell.args(["-c", replace]).arg(&path).status().unwrap().success());
            let (again, from_cache) = kept(&[&graphs], &params, Some(&cache)).unwrap();
            assert_eq!((again == made, from_cache), (true, 0), "{replace}");
        }
    }

    /// Entries whose digest is right but whose content is not, as a forger or a
    /// bug would write them.
    #[test]
    fn a_forged_entry_is_not_trusted() {
        let graphs = graphs();
        let (made, _) = kept(&[&graphs], &Params::default(), None).unwrap();
        let honest = encode(&made);
        assert_eq!(decode(&honest, &graphs).unwrap(), made);
        let content = &honest[..honest.len() - 32];
        for at in MAGIC.len()..content.len().min(400) {
            let mut forged = content.to_vec();
            // The last byte of a number is its sign and size.
            forged[at] = forged[at].wrapping_add(0x7f) | 0x80;
            let digest = Sha256::digest(&forged);
            forged.extend_from_slice(&digest);
            // Whatever it says, it is either refused or describes sound pyramids.
            for pyramid in decode(&forged, &graphs).unwrap_or_default() {
                let mut below = pyramid.num_nodes;
                for level in &pyramid.levels {
                    assert_eq!(level.assignment.len(), below);
                    below = level.graph.num_nodes();
                    assert!(level.assignment.iter().all(|&node| (node as usize) < below));
                    assert!(level.graph.edges().all(|(_, _, w)| w.is_finite() && w > 0.0));
                }
            }
        }
    }
}
