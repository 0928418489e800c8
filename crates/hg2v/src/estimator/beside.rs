//! What comes beside and after the network: colours, and the last step to a vector.

use hg2v_math::rng::{sample_without_replacement, stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::colours::{Colours, SavedColours};
use crate::error::Result;
use crate::finish::{self, Block, Finish, SavedFinish};
use crate::model::{Example, Layout};
use crate::prepare::Collection;
use crate::saved::{Reader, Tensors};

/// What a training that is ready to run knows of it.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    colours: Option<Colours>,
    out_dim: Option<usize>,
    /// Training graphs that the last step is fitted to, by their places.
    sample: Vec<usize>,
    /// What colours say of them, and what colours at random say.
    said: [Vec<f32>; 2],
}

impl Beside {
    /// What is known of the graphs `train` of a collection.
    ///
    /// # Errors
    /// Too many distinct colours.
    pub(super) fn of(
        colours: Option<Colours>,
        out_dim: Option<usize>,
        collection: &Collection<'_>,
        train: &[usize],
        seed: u64,
    ) -> Result<Beside> {
        let mut beside = Beside { colours, out_dim, sample: Vec::new(), said: Default::default() };
        if out_dim.is_some() {
            let rng = &mut stream(seed, "graphs of the finish", 0, 0);
            beside.sample = sample_without_replacement(train.len(), finish::GRAPHS, rng);
            let which: Vec<usize> = beside.sample.iter().map(|&place| train[place]).collect();
            if let Some(colours) = &beside.colours {
                let random = colours.untrained(seed);
                beside.said =
                    [colours.vectors(collection, &which)?, random.vectors(collection, &which)?];
            }
        }
        Ok(beside)
    }

    /// What a model has of it, where `read` gives `width` numbers for each example: of the trained
    /// network, and of the untrained.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn finished(
        &self,
        width: usize,
        seed: u64,
        examples: &[Example],
        read: impl FnOnce(&[&Example]) -> Result<[Vec<f32>; 2]>,
    ) -> Result<Blocks> {
        let mut blocks = Blocks { colours: self.colours.clone(), finishes: None };
        let Some(out_dim) = self.out_dim else { return Ok(blocks) };
        let sample: Vec<&Example> = self.sample.iter().map(|&place| &examples[place]).collect();
        let colours = blocks.colours.as_ref().map_or(0, Colours::dim);
        let parts =
            [Block { columns: width, alike: true }, Block { columns: colours, alike: false }];
        let [trained, untrained] = read(&sample)?;
        let fit = |read: &[f32], said: &[f32]| {
            let rows = side_by_side(read, said, sample.len());
            Finish::fit(&rows, &parts, out_dim, seed)
        };
        let control = fit(&untrained, &self.said[1]);
        blocks.finishes = Some([fit(&trained, &self.said[0]), control]);
        Ok(blocks)
    }
}

/// The rows of two blocks of `n` rows each, one beside the other.
fn side_by_side(first: &[f32], second: &[f32], n: usize) -> Vec<f32> {
    let (a, b) = (first.len() / n.max(1), second.len() / n.max(1));
    (0..n).flat_map(|i| [&first[i * a..][..a], &second[i * b..][..b]].concat()).collect()
}

/// What a model has beside its network.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    colours: Option<Colours>,
    /// The last step, and what it would be of the untrained network.
    finishes: Option<[Finish; 2]>,
}

/// What `config.json` says of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learnt {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colours: Option<SavedColours>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<SavedFinish>,
}

impl Learnt {
    /// Whether there is nothing.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Learnt::default()
    }
}

impl Blocks {
    /// Those of the same model before its training.
    pub(super) fn untrained(&self, seed: u64) -> Blocks {
        let control = |[_, control]: &[Finish; 2]| [control.clone(), control.clone()];
        Blocks {
            colours: self.colours.as_ref().map(|colours| colours.untrained(seed)),
            finishes: self.finishes.as_ref().map(control),
        }
    }

    /// Whether there is nothing beside the network.
    pub(super) fn is_nothing(&self) -> bool {
        self.colours.is_none() && self.finishes.is_none()
    }

    fn colours(&self) -> usize {
        self.colours.as_ref().map_or(0, Colours::dim)
    }

    /// The last step.
    pub(super) fn finish(&self) -> Option<&Finish> {
        self.finishes.as_ref().map(|[finish, _]| finish)
    }

    /// Numbers of a vector, where the network has `width`.
    pub(super) fn dim(&self, width: usize) -> usize {
        self.finish().map_or(width + self.colours(), Finish::out_dim)
    }

    /// A name for each, where the network's are `read`.
    pub(super) fn columns(&self, mut read: Vec<String>) -> Vec<String> {
        match self.finish() {
            Some(finish) => (0..finish.out_dim()).map(|i| i.to_string()).collect(),
            None => {
                read.extend((0..self.colours()).map(|i| format!("colours.{i}")));
                read
            }
        }
    }

    /// All that is said of some graphs of a collection, row after row, where the network says
    /// `read`.
    ///
    /// # Errors
    /// Too many distinct colours.
    pub(super) fn said(
        &self,
        read: Vec<f32>,
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<Vec<f32>> {
        let Some(colours) = &self.colours else { return Ok(read) };
        Ok(side_by_side(&read, &colours.vectors(collection, which)?, which.len()))
    }

    /// The vectors of some graphs of a collection, row after row, where the network says `read`.
    ///
    /// # Errors
    /// Too many distinct colours.
    pub(super) fn vectors(
        &self,
        read: Vec<f32>,
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<Vec<f32>> {
        let said = self.said(read, collection, which)?;
        let Some(finish) = self.finish() else { return Ok(said) };
        let rows = said.par_chunks_exact(finish.width().max(1)).map(|said| finish.apply(said));
        Ok(rows.collect::<Vec<_>>().concat())
    }

    /// What a folder keeps.
    pub(super) fn saved(&self, mut tensors: Tensors) -> (Learnt, Tensors) {
        let mut learnt = Learnt::default();
        if let Some(colours) = &self.colours {
            let (saved, with) = colours.saved(tensors);
            (learnt.colours, tensors) = (Some(saved), with);
        }
        if let Some([finish, control]) = &self.finishes {
            let (saved, with) = finish.saved(tensors);
            (learnt.finish, tensors) = (Some(saved), control.saved_moments(with));
        }
        (learnt, tensors)
    }

    /// What a folder kept, of a network of this layout.
    ///
    /// # Errors
    /// Tensors that are missing, or do not hold together.
    pub(super) fn of_saved(
        learnt: &Learnt,
        layout: &Layout,
        tensors: &mut Reader<'_>,
    ) -> Result<Blocks> {
        let colours = learnt.colours.as_ref().map(|saved| Colours::of_saved(saved, tensors));
        let mut blocks = Blocks { colours: colours.transpose()?, finishes: None };
        if let Some(saved) = learnt.finish {
            let finish = Finish::of_saved(saved, tensors)?;
            if finish.width() != layout.embedding_dim() + blocks.colours() {
                return Err(tensors.refused("its last step is of other numbers"));
            }
            let control = finish.with_moments(tensors)?;
            blocks.finishes = Some([finish, control]);
        }
        Ok(blocks)
    }
}
