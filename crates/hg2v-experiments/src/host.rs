//! The machine that results were made on; they depend on it no more than their times do.

use std::fs;

use serde::{Deserialize, Serialize};

/// What a record says of the machine of the run that finished it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Host {
    /// Its name, where the system tells.
    processor: Option<String>,
    cores: Option<usize>,
    system: String,
    /// How many of them the run was given.
    threads: usize,
}

impl Host {
    /// This machine, and the threads of this run.
    pub(crate) fn here() -> Host {
        let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Host {
            processor,
            cores: std::thread::available_parallelism().ok().map(usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            threads: rayon::current_num_threads(),
        }
    }
}
