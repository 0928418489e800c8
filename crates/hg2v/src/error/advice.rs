//! What a user can do, and how a face says it.

use super::{GraphName, Limit, Opt, Words};

/// One thing that a user can do about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Something about the input or the machine, in words that name no option.
    Do(Words),
    /// Raise a limit, where the input really is that large.
    Raise(Limit),
    /// Give an option one of these values.
    Set(Opt, &'static [&'static str]),
    /// Give one of these options a smaller value.
    Lower(&'static [Opt]),
    /// Give an option a value that only the user knows.
    Give(Opt),
    /// Ask for what stands there to be replaced.
    Replace,
    /// Have hg2v do something else.
    Run(Job),
}

/// Something that hg2v can do, and that helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Job {
    /// Fetch a known set.
    Download,
    /// Make vectors of graphs.
    Embed,
    /// Judge vectors.
    Evaluate,
    /// Train a model.
    Fit,
    /// Turn pictures into graphs.
    Images,
    /// Finish a training that was stopped.
    Resume,
}

impl Job {
    /// All of them.
    pub const ALL: [Job; 6] =
        [Job::Download, Job::Embed, Job::Evaluate, Job::Fit, Job::Images, Job::Resume];
}

/// What a user can do about an error: any one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fix(Vec<Advice>);

impl Fix {
    /// The same, and `advice` instead.
    #[must_use]
    pub fn or(mut self, advice: Advice) -> Fix {
        self.0.push(advice);
        self
    }

    /// What there is to choose from.
    pub fn choices(&self) -> &[Advice] {
        &self.0
    }

    /// All that a face has words for, in one phrase.
    pub fn worded(&self, words: &dyn Wording) -> Option<String> {
        let mut said: Vec<String> =
            self.0.iter().filter_map(|advice| advice.worded(words)).collect();
        let last = said.pop()?;
        Some(match said.is_empty() {
            true => last,
            false => format!("{}, or {last}", said.join(", ")),
        })
    }
}

impl From<Advice> for Fix {
    fn from(advice: Advice) -> Fix {
        Fix(vec![advice])
    }
}

impl From<&'static str> for Fix {
    fn from(text: &'static str) -> Fix {
        Advice::Do(text.into()).into()
    }
}

impl From<String> for Fix {
    fn from(text: String) -> Fix {
        Advice::Do(text.into()).into()
    }
}

impl Advice {
    /// It in the words of a face, where that has any.
    pub fn worded(&self, words: &dyn Wording) -> Option<String> {
        match self {
            Advice::Do(text) => Some(text.clone().into_owned()),
            Advice::Raise(limit) => words.raise(*limit),
            Advice::Set(option, values) => words.set(*option, values),
            Advice::Lower(options) => words.lower(options),
            Advice::Give(option) => words.give(*option),
            Advice::Replace => words.replace(),
            Advice::Run(job) => words.run(*job),
        }
    }
}

/// How a face of hg2v spells options and words advice to its users; what is not said otherwise is
/// said as by the [`Library`]. `None` is advice that its users cannot follow.
pub trait Wording {
    /// An option as its users write it.
    fn option(&self, option: Opt) -> String {
        option.to_string()
    }

    /// See [`Advice::Raise`].
    fn raise(&self, limit: Limit) -> Option<String> {
        Some(format!("raise {} if it really is that large", self.option(limit.option())))
    }

    /// See [`Advice::Set`].
    fn set(&self, option: Opt, values: &[&str]) -> Option<String> {
        Some(format!("set {} to {}", self.option(option), values.join(" or ")))
    }

    /// See [`Advice::Lower`].
    fn lower(&self, options: &[Opt]) -> Option<String> {
        let options: Vec<String> = options.iter().map(|option| self.option(*option)).collect();
        Some(format!("make {} smaller", options.join(" or ")))
    }

    /// See [`Advice::Give`].
    fn give(&self, option: Opt) -> Option<String> {
        Some(match option {
            Opt::BASE => format!("name another address as {}", self.option(option)),
            Opt::DATA_DIR => format!(
                "name the folder of known sets as {}, if it is one of them",
                self.option(option)
            ),
            Opt::TARGET => format!("name another target as {}", self.option(option)),
            _ => format!("set {}", self.option(option)),
        })
    }

    /// See [`Advice::Replace`].
    fn replace(&self) -> Option<String> {
        Some("ask for it to be replaced".to_owned())
    }

    /// See [`Advice::Run`].
    fn run(&self, job: Job) -> Option<String> {
        let text = match job {
            Job::Download => "download it",
            Job::Embed => "embed some graphs",
            Job::Evaluate => "give the result of an evaluation",
            Job::Fit => "name the folder of a model",
            Job::Images => "turn the images into graphs first",
            Job::Resume => "resume its training",
        };
        Some(text.to_owned())
    }

    /// What a graph is called.
    fn graph(&self, name: &GraphName) -> String {
        name.to_string()
    }
}

/// The library's own words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library;

impl Wording for Library {}
