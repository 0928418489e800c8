//! What a folder says about how its model was made.

use std::path::{Path, PathBuf};

use hg2v::error::{Action, Advice, Error, Job, Place, Result};
use hg2v::input::read_at_most;
use hg2v::saved::{self, Config, LogLine, RunNote};
use hg2v_eval::evaluation::Evaluation;

/// The graphs of a folder that `hg2v demo` wrote.
pub const GRAPHS: &str = "graphs.jsonl";
/// Its model.
pub const MODEL: &str = "model";
/// Its vectors.
pub const VECTORS: &str = "vectors.parquet";
/// What `hg2v evaluate --json` says of it.
pub const EVALUATION: &str = "evaluation.json";

/// The largest evaluation that is read.
const MOST_BYTES: u64 = 1 << 28;

/// A model's folder as `hg2v fit` writes it, or the folder that `hg2v demo` writes.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFolder {
    /// The model's folder.
    pub model: PathBuf,
    /// Its configuration.
    pub config: Config,
    /// How it came about.
    pub note: Option<RunNote>,
    /// What training said.
    pub log: Vec<LogLine>,
    /// Where its graphs are, as far as the folder says.
    pub data: Option<PathBuf>,
    /// Where its vectors are.
    pub vectors: Option<PathBuf>,
    /// How good they are.
    pub evaluation: Option<Evaluation>,
}

impl RunFolder {
    /// Reads all that `path` says but parameters and vectors.
    ///
    /// # Errors
    /// A folder of neither kind; a file in it that is damaged.
    pub fn read(path: &Path) -> Result<RunFolder> {
        let is_demo = path.join(MODEL).join(saved::CONFIG).exists();
        if !is_demo && !path.join(saved::CONFIG).exists() {
            return Err(Error::input(
                path,
                Place::Whole,
                "there is no model in it",
                Advice::Run(Job::Fit),
            ));
        }
        let model = if is_demo { path.join(MODEL) } else { path.to_path_buf() };
        let own = |name: &str| Some(path.join(name)).filter(|file| is_demo && file.exists());
        let note = saved::read_run(&model)?;
        let evaluation = own(EVALUATION).map(|file| read_evaluation(&file)).transpose()?;
        Ok(RunFolder {
            config: saved::read_config(&model)?,
            log: saved::read_log(&model)?,
            data: own(GRAPHS).or_else(|| {
                let told = note.as_ref().map(|note| note.data.clone());
                told.filter(|data| data.as_os_str() != "-")
            }),
            vectors: own(VECTORS),
            evaluation,
            note,
            model,
        })
    }
}

/// Reads the result of an evaluation, as JSON.
///
/// # Errors
/// A file that is missing, damaged, or something else.
pub fn read_evaluation(path: &Path) -> Result<Evaluation> {
    let fix = Advice::Run(Job::Evaluate);
    let bytes = read_at_most(path, MOST_BYTES).map_err(|e| Error::io(path, Action::Read, e))?;
    let bytes = bytes.ok_or_else(|| {
        let problem = format!("it has more than {MOST_BYTES} bytes, as no evaluation has");
        Error::input(path, Place::Whole, problem, fix.clone())
    })?;
    serde_json::from_slice(&bytes).map_err(|e| {
        let problem = format!("this is no evaluation: {e}");
        Error::input(path, Place::Line(e.line().max(1) as u64), problem, fix)
    })
}
