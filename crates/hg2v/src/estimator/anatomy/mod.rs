//! What the vector of a graph is made of.

mod network;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::estimator::Hg2v;
use crate::finish::Term;
use crate::model::Example;
use crate::prepare::Collection;
use crate::shares::{Shares, VectorPart};

/// A graph, its vector, and what a model made that vector of.
#[derive(Debug, Clone)]
pub struct Anatomy<'a> {
    model: &'a Hg2v,
    example: Example,
    /// The colours of its nodes, round by round.
    colours: Vec<Vec<u32>>,
    /// What its blocks say, side by side.
    said: Vec<f32>,
    vector: Vec<f32>,
}

impl Hg2v {
    /// The graphs of a collection, which must have been made for the model's
    /// [needs](crate::Model::needs), taken apart.
    ///
    /// # Errors
    /// Those of embedding them.
    ///
    /// # Examples
    /// ```
    /// use hg2v::context::Context;
    /// use hg2v::graph::GraphRecord;
    /// use hg2v::prepare::{Collection, Run};
    /// use hg2v::{Hg2v, Model};
    ///
    /// let star = |n: u32| GraphRecord {
    ///     num_nodes: n,
    ///     edges: (1..n).map(|v| [0, v]).collect(),
    ///     ..GraphRecord::default()
    /// };
    /// let stars: Vec<GraphRecord> = (3..9).map(star).collect();
    /// let model = Hg2v::params().dim(8).levels(2).epochs(1).fit(&stars)?;
    /// let context = Context::default();
    /// let collection = Collection::new(Run::in_memory(&stars), &model.needs(), &context)?;
    /// let anatomy = &model.anatomies(&collection, &context)?[2];
    ///
    /// // The sum of all numbers of the vector of the star of five nodes, divided.
    /// let shares = anatomy.shares(&vec![1.0; model.dim()], None)?;
    /// let sum: f64 = anatomy.vector().iter().map(|number| f64::from(*number)).sum();
    /// let of_parts: f64 = shares.parts.iter().map(|part| part.share).sum();
    /// let of_nodes: f64 = shares.nodes.iter().sum();
    /// assert!((of_parts - sum).abs() < 1e-4 && (of_nodes + shares.rest - sum).abs() < 1e-4);
    /// assert_eq!(shares.nodes.len(), 5);
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn anatomies(
        &self,
        collection: &Collection<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Anatomy<'_>>> {
        let (examples, _) = self.examples(collection)?;
        let read = self.embed_examples(&examples, context)?;
        let said = self.blocks.said(read, &examples, collection, &collection.all())?;
        let width = said.len() / examples.len().max(1);
        let anatomy = |(i, example): (usize, Example)| {
            let said = said[i * width..][..width].to_vec();
            let vector =
                self.blocks.finish().map_or_else(|| said.clone(), |last| last.apply(&said));
            let colours = match self.blocks.colours() {
                Some(own) => own.of_nodes(&collection.run.records[i], &collection.graphs[i])?,
                None => Vec::new(),
            };
            Ok(Anatomy { model: self, example, colours, said, vector })
        };
        examples.into_iter().enumerate().map(anatomy).collect()
    }
}

impl<'a> Anatomy<'a> {
    /// The model that made the vector.
    pub fn model(&self) -> &'a Hg2v {
        self.model
    }

    /// The vector.
    pub fn vector(&self) -> &[f32] {
        &self.vector
    }

    /// `Σ_c slopes_c·(v_c − means_c)` of the vector `v`, divided among its parts and among the graph's nodes.
    /// All of it is linear in what the blocks say, so each part has its share exactly, but for what
    /// is taken off.
    ///
    /// | block | what a node has of a number `e` | is |
    /// |---|---|---|
    /// | network, sum | its row's number | exact |
    /// | network, mean | its row's number over `n` | exact |
    /// | network, max | all of it for the first node that attains it | exact, of all ways to share it the one that the gradient takes |
    /// | network, any with `sign(e)·ln(1 + \|e\|)` after it | in proportion to its share before | adds up exactly; the proportion is a convention |
    /// | network, above level 0 | its super-node's share, divided equally among the nodes that this is made of | a convention |
    /// | slices | the quantiles that its own numbers are, or are next to; nodes whose numbers are the same up to rounding share alike | exact, a tie by convention |
    /// | census | the row of its label | exact |
    /// | colours | the words of its own colours, divided equally among the nodes of a colour | exact for all nodes of a colour together, a convention among them |
    ///
    /// A share is that of the node where something is seen, also where it is seen of the surroundings: of the
    /// neighbours within so many hops or rounds.
    ///
    /// What is taken off every vector belongs to no node, but to the `rest`: the means of the last step, of slices and of
    /// colours, and `means`. So does a number that was [cut](crate::finish). Parts have it as far as it is known whose it is:
    ///
    /// - the network's are centred, since the last step takes a mean off each number;
    /// - of slices and colours a model knows the mean of the block alone, so that hops and rounds are not
    ///   centred, and the mean is a part of its own;
    /// - `means` are taken off the numbers that they belong to; after a last step, which mixes all parts, they are a
    ///   [part](VectorPart::Mean) of their own.
    ///
    /// # Errors
    /// Slopes or means of another number than the vector has.
    ///
    /// # Complexity
    /// The network's pass over the graph, then `O(n·c)` time for `n` nodes of `c` numbers, and what
    /// the graph's slices and colours cost.
    pub fn shares(&self, slopes: &[f64], means: Option<&[f64]>) -> Result<Shares> {
        let dim = self.vector.len();
        for count in [slopes.len(), means.map_or(dim, <[f64]>::len)] {
            if count != dim {
                let requirement = format!("the vector has {dim} numbers");
                return Err(Error::argument("the number of slopes or means", count, requirement));
            }
        }
        let blocks = &self.model.blocks;
        let off = |c: usize| means.map_or(0.0, |means| slopes[c] * means[c]);
        let terms = match blocks.finish() {
            Some(finish) => finish.terms(&self.said, slopes),
            None => (0..dim).map(|c| Term { slope: slopes[c], constant: -off(c) }).collect(),
        };
        let (network, rest) = terms.split_at(self.model.network.layout.embedding_dim());
        let (slices, rest) = rest.split_at(blocks.slices().map_or(0, |slices| slices.dim()));
        let (census, colours) = rest.split_at(blocks.census().map_or(0, |census| census.dim()));
        let mut shares = network::shares(self.model, &self.example, &self.said, network)?;
        let apart = |terms: &[Term]| -> (Vec<f64>, f64) {
            let slopes = terms.iter().map(|term| term.slope).collect();
            (slopes, terms.iter().map(|term| term.constant).sum())
        };
        if let Some(own) = blocks.slices() {
            let (slopes, constant) = apart(slices);
            shares.add(own.shares(&self.example, &slopes, constant));
        }
        if let Some(own) = blocks.census() {
            let (slopes, constant) = apart(census);
            shares.add(own.shares(&self.example, &slopes, constant));
        }
        if let Some(own) = blocks.colours() {
            let (slopes, constant) = apart(colours);
            shares.add(own.shares(&self.colours, &slopes, constant));
        }
        if blocks.finish().is_some() && means.is_some() {
            shares.constant(VectorPart::Mean, -(0..dim).map(off).sum::<f64>());
        }
        Ok(shares)
    }
}
