//! What comes beside and after the network: slices, a census, colours, and the last step to a vector.

use std::borrow::Borrow;

use hg2v_math::rng::{sample_without_replacement, stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::census::{Census, SavedCensus};
use crate::colours::{Colours, SavedColours};
use crate::dataset::features::FeatureSchema;
use crate::error::Result;
use crate::finish::{self, Block, Finish, SavedFinish};
use crate::model::{Example, Layout};
use crate::prepare::Collection;
use crate::saved::{Reader, Tensors};
use crate::slices::{SavedSlices, Slices};

/// What a training that is ready to run knows of it.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    /// Without a last step, which only the trained network has.
    blocks: Blocks,
    out_dim: Option<usize>,
    /// Whether nodes have labels.
    labels: bool,
    /// Training graphs that the last step is fitted to, by their places.
    sample: Vec<usize>,
    /// What the blocks say of them, and what the same say untrained.
    said: [Vec<f32>; 2],
}

impl Beside {
    /// What is known of the graphs `train` of a collection, whose examples and nodes' `features` are
    /// these; with or without slices and a census.
    ///
    /// # Errors
    /// Too many distinct colours.
    pub(super) fn of(
        colours: Option<Colours>,
        features: &FeatureSchema,
        [sliced, counted]: [bool; 2],
        out_dim: Option<usize>,
        graphs: (&Collection<'_>, &[usize], &[Example]),
        seed: u64,
    ) -> Result<Beside> {
        let (collection, train, examples) = graphs;
        let rng = &mut stream(seed, "graphs of the finish", 0, 0);
        let sample = sample_without_replacement(train.len(), finish::GRAPHS, rng);
        let chosen: Vec<&Example> = sample.iter().map(|&place| &examples[place]).collect();
        let slices = sliced.then(|| Slices::fit(features.dim(), &chosen, seed));
        let labels = features.label_columns().filter(|_| counted);
        let census = labels.map(|labels| Census::fit(labels, &chosen, seed));
        let blocks = Blocks { slices, census, colours, finishes: None };
        let mut said = <[Vec<f32>; 2]>::default();
        if out_dim.is_some() {
            let which: Vec<usize> = sample.iter().map(|&place| train[place]).collect();
            let say = |blocks: &Blocks| blocks.beside(&chosen, collection, &which);
            said = [say(&blocks)?, say(&blocks.untrained(seed))?];
        }
        Ok(Beside { blocks, out_dim, labels: features.labels().is_some(), sample, said })
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
        let mut blocks = self.blocks.clone();
        let Some(out_dim) = self.out_dim else { return Ok(blocks) };
        let sample: Vec<&Example> = self.sample.iter().map(|&place| &examples[place]).collect();
        let parts = blocks.parts(width, self.labels);
        let fit = |read: &[f32], said: &[f32]| {
            let rows = side_by_side(read, said, sample.len());
            Finish::fit(&rows, &parts, out_dim, seed)
        };
        let [trained, untrained] = read(&sample)?;
        blocks.finishes = Some([fit(&trained, &self.said[0]), fit(&untrained, &self.said[1])]);
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
    slices: Option<Slices>,
    census: Option<Census>,
    colours: Option<Colours>,
    /// The last step, and what it would be of the untrained network.
    finishes: Option<[Finish; 2]>,
}

/// What `config.json` says of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learnt {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slices: Option<SavedSlices>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    census: Option<SavedCensus>,
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
            slices: self.slices.as_ref().map(|slices| slices.untrained(seed)),
            census: self.census.as_ref().map(|census| census.untrained(seed)),
            colours: self.colours.as_ref().map(|colours| colours.untrained(seed)),
            finishes: self.finishes.as_ref().map(control),
        }
    }

    /// How many numbers slices, census and colours have.
    fn counts(&self) -> [usize; 3] {
        let slices = self.slices.as_ref().map_or(0, Slices::dim);
        let census = self.census.as_ref().map_or(0, Census::dim);
        [slices, census, self.colours.as_ref().map_or(0, Colours::dim)]
    }

    /// How much each block weighs beside a network of `width` numbers: slices and census four times as much,
    /// colours as much as they are [met again](Colours::odds). Where they know no `labels`,
    /// it is [less](Colours::odds_of_structure), and where slices know attributes then, no more than the network.
    fn parts(&self, width: usize, labels: bool) -> [Block; 4] {
        let [slices, census, colours] = self.counts();
        let odds = self.colours.as_ref().map_or(1.0, |own| match (labels, &self.slices) {
            (true, _) => own.odds(),
            (false, None) => own.odds_of_structure(),
            (false, Some(_)) => own.odds_of_structure().min(1.0),
        });
        [
            Block { columns: width, alike: true, square: 1.0 },
            Block { columns: slices, alike: false, square: 4.0 },
            Block { columns: census, alike: false, square: 4.0 },
            Block { columns: colours, alike: false, square: odds },
        ]
    }

    /// Slices, where there are any.
    pub(super) fn slices(&self) -> Option<&Slices> {
        self.slices.as_ref()
    }

    /// A census, where there is one.
    pub(super) fn census(&self) -> Option<&Census> {
        self.census.as_ref()
    }

    /// Colours, where there are any.
    pub(super) fn colours(&self) -> Option<&Colours> {
        self.colours.as_ref()
    }

    /// The last step.
    pub(super) fn finish(&self) -> Option<&Finish> {
        self.finishes.as_ref().map(|[finish, _]| finish)
    }

    /// Numbers of a vector, where the network has `width`.
    pub(super) fn dim(&self, width: usize) -> usize {
        let beside: usize = self.counts().into_iter().sum();
        self.finish().map_or(width + beside, Finish::out_dim)
    }

    /// A name for each, where the network's are `read`.
    pub(super) fn columns(&self, mut read: Vec<String>) -> Vec<String> {
        match self.finish() {
            Some(finish) => (0..finish.out_dim()).map(|i| i.to_string()).collect(),
            None => {
                for (block, count) in ["slices", "census", "colours"].iter().zip(self.counts()) {
                    read.extend((0..count).map(|i| format!("{block}.{i}")));
                }
                read
            }
        }
    }

    /// What slices, census and colours say of some graphs of a collection, row after row.
    ///
    /// # Errors
    /// Too many distinct colours.
    fn beside(
        &self,
        examples: &[impl Borrow<Example> + Sync],
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<Vec<f32>> {
        let of_nodes = |example: &Example| {
            let slices = self.slices.as_ref().map(|slices| slices.vector(example));
            let census = self.census.as_ref().map(|census| census.vector(example));
            [slices.unwrap_or_default(), census.unwrap_or_default()].concat()
        };
        let rows = examples.par_iter().map(|example| of_nodes(example.borrow()));
        let of_nodes = rows.collect::<Vec<_>>().concat();
        let colours =
            self.colours.as_ref().map(|own| own.vectors(collection, which)).transpose()?;
        Ok(side_by_side(&of_nodes, &colours.unwrap_or_default(), which.len()))
    }

    /// The vectors of some graphs of a collection, row after row, where the network says `read`.
    ///
    /// # Errors
    /// Too many distinct colours.
    pub(super) fn vectors(
        &self,
        read: Vec<f32>,
        examples: &[Example],
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<Vec<f32>> {
        let said = self.said(read, examples, collection, which)?;
        let Some(finish) = self.finish() else { return Ok(said) };
        let rows = said.par_chunks_exact(finish.width().max(1)).map(|said| finish.apply(said));
        Ok(rows.collect::<Vec<_>>().concat())
    }

    /// What all blocks say of some graphs of a collection, row after row, where the network says `read`.
    ///
    /// # Errors
    /// Too many distinct colours.
    pub(super) fn said(
        &self,
        read: Vec<f32>,
        examples: &[Example],
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<Vec<f32>> {
        match self.counts() {
            [0, 0, 0] => Ok(read),
            _ => Ok(side_by_side(&read, &self.beside(examples, collection, which)?, which.len())),
        }
    }

    /// What a folder keeps.
    pub(super) fn saved(&self, mut tensors: Tensors) -> (Learnt, Tensors) {
        let mut learnt = Learnt::default();
        if let Some(slices) = &self.slices {
            let (saved, with) = slices.saved(tensors);
            (learnt.slices, tensors) = (Some(saved), with);
        }
        if let Some(census) = &self.census {
            let (saved, with) = census.saved(tensors);
            (learnt.census, tensors) = (Some(saved), with);
        }
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

    /// What a folder kept, of a network of this layout and nodes with such `features`.
    ///
    /// # Errors
    /// Tensors that are missing, or do not hold together.
    pub(super) fn of_saved(
        learnt: &Learnt,
        layout: &Layout,
        features: &FeatureSchema,
        tensors: &mut Reader<'_>,
    ) -> Result<Blocks> {
        let slices = learnt.slices.map(|saved| Slices::of_saved(saved, layout.features, tensors));
        let slices = slices.transpose()?;
        let census = match (learnt.census, features.label_columns()) {
            (Some(saved), Some(labels)) => Some(Census::of_saved(saved, labels, tensors)?),
            (Some(_), None) => return Err(tensors.refused("its census is of no labels")),
            (None, _) => None,
        };
        let colours = learnt.colours.as_ref().map(|saved| Colours::of_saved(saved, tensors));
        let colours = colours.transpose()?;
        let mut blocks = Blocks { slices, census, colours, finishes: None };
        if let Some(saved) = learnt.finish {
            let finish = Finish::of_saved(saved, tensors)?;
            if finish.width() != layout.embedding_dim() + blocks.counts().iter().sum::<usize>() {
                return Err(tensors.refused("its last step is of other numbers"));
            }
            let control = finish.with_moments(tensors)?;
            blocks.finishes = Some([finish, control]);
        }
        Ok(blocks)
    }
}
