//! Errors as users of the command hear them: options are flags.

use hg2v::dataset::catalog::{self, Origin};
use hg2v::error::{Job, Opt, Wording};

/// The command's words.
pub(crate) struct Command;

impl Wording for Command {
    fn option(&self, option: Opt) -> String {
        let name = option.name();
        match name.contains(|letter: char| letter.is_ascii_uppercase()) {
            // What has a place instead of a flag: DATA, QUERY.
            true => name.to_owned(),
            false => format!("--{}", name.replace('_', "-")),
        }
    }

    fn set(&self, option: Opt, values: &[&str]) -> Option<String> {
        let flag = self.option(option);
        let given: Vec<String> = values.iter().map(|value| format!("{flag} {value}")).collect();
        let given = given.join(" or ");
        Some(match option {
            Opt::ATTRIBUTES => format!("train without attributes: {given}"),
            Opt::LABELS => format!("train without node labels: {given}"),
            Opt::TASK => format!("or judge them as they are with {given}"),
            _ => format!("use {given}"),
        })
    }

    fn give(&self, option: Opt) -> Option<String> {
        let flag = self.option(option);
        Some(match option {
            Opt::ATOM_ATTRIBUTES => format!("read molecules with {flag}, as it may have been"),
            Opt::BASE => format!("name another address with {flag}"),
            Opt::DATA_DIR => format!(
                "if it is the name of a known set, say where sets are kept with {flag} or HG2V_DATA"
            ),
            Opt::FORMAT => format!("name the format with {flag}"),
            Opt::TARGET => format!("name what else is to be predicted with {flag}"),
            _ => format!("give {flag}"),
        })
    }

    fn replace(&self) -> Option<String> {
        Some("replace it with --force".to_owned())
    }

    fn run(&self, job: Job) -> Option<String> {
        let text = match job {
            Job::Download => "fetch it with `hg2v datasets get`",
            Job::Embed => "write some with `hg2v embed`",
            Job::Evaluate => "give what `hg2v evaluate --json` prints",
            Job::Fit => "name a folder that `hg2v fit` or `hg2v demo` wrote",
            Job::Images => "turn images into graphs with `hg2v images`",
            Job::Resume => "finish it with `hg2v fit --resume`",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// The error in one line, with its causes.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let mut causes = error.chain().map(link);
    let mut text = causes.next().unwrap_or_default();
    for cause in causes {
        // Most of ours say their cause themselves.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn link(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<hg2v::Error>() {
        error.worded(&Command)
    } else if let Some(error) = error.downcast_ref::<hg2v_eval::Error>() {
        error.worded(&Command)
    } else if let Some(error) = error.downcast_ref::<hg2v_experiments::Error>() {
        of_experiment(error)
    } else {
        error.to_string()
    }
}

/// How a known set that is not downloaded is made: what to type into a shell.
pub(crate) fn made(set: &str) -> &'static str {
    match set {
        "DLA" => "hg2v generate dla --out DLA.jsonl",
        "FASHION-MNIST" => {
            "fetch the idx files of its test images, then hg2v images \
             t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz --threshold 0 --out \
             FASHION-MNIST.parquet"
        }
        "FRANKENSTEIN-R" => {
            "fetch BURSI and the idx files of MNIST's test images, then hg2v generate \
             frankenstein --bursi BURSI.zip --images t10k-images-idx3-ubyte.gz --labels \
             t10k-labels-idx1-ubyte.gz --out FRANKENSTEIN-R.parquet"
        }
        "MNIST" => {
            "fetch the idx files of its test images, then hg2v images \
             t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz --threshold 0 --out \
             MNIST.parquet"
        }
        "USPS" => {
            "fetch its idx files, then hg2v images USPS-images-idx3-short.gz \
             USPS-labels-idx1-ubyte.gz --threshold 0.3 --out USPS.parquet"
        }
        _ => "make it as its authors say",
    }
}

/// What went wrong with an experiment, and what a user of the command can do.
pub(crate) fn of_experiment(error: &hg2v_experiments::Error) -> String {
    use hg2v_experiments::Error;
    let fix = match error {
        Error::MissingDataset { dataset, .. } => match catalog::find(dataset).map(|set| set.origin)
        {
            Some(Origin::Made) => made(dataset).to_owned(),
            None => "say where it is with --data-dir or HG2V_DATA; `make lab-data` fetches \
                     molecules there, from a clone"
                .to_owned(),
            _ => format!(
                "fetch it with `hg2v datasets get {dataset}`, or say where it is with --data-dir \
                 or HG2V_DATA"
            ),
        },
        Error::NoDatasets { .. } => "say where sets are kept with --data-dir or HG2V_DATA, fetch \
            some with `hg2v datasets get`, or name large ones without --quick"
            .to_owned(),
        Error::UnusableResults { .. } => {
            "keep its results with another --out, or let --fresh replace them".to_owned()
        }
        other => return other.worded(&Command),
    };
    format!("{error}; {fix}")
}

#[cfg(test)]
mod tests;
