//! What a model learnt, as named tensors of a safetensors file.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};

use crate::error::{Action, Error, Place, Result};

const FIX: &str = "restore the file, or fit the model again";

/// Tensors to be written.
#[derive(Debug, Clone, Default)]
pub struct Tensors(Vec<(String, Dtype, Vec<usize>, Vec<u8>)>);

/// A number that tensors are made of.
pub trait Element: Copy {
    /// What the file calls it.
    const DTYPE: Dtype;
    /// Its bytes, least first.
    fn put(self, bytes: &mut Vec<u8>);
    /// The number of these bytes.
    fn get(bytes: &[u8]) -> Self;
    /// Whether a model may hold it.
    fn is_finite(self) -> bool;
}

macro_rules! element {
    ($type:ty, $dtype:ident, $finite:expr) => {
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> $type {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                <$type>::from_le_bytes(own)
            }

            fn is_finite(self) -> bool {
                $finite(self)
            }
        }
    };
}

element!(f32, F32, f32::is_finite);
element!(f64, F64, f64::is_finite);
element!(u32, U32, |_| true);
element!(u64, U64, |_| true);

impl Tensors {
    /// Adds a tensor; `values` are its numbers, the last index fastest.
    #[must_use]
    pub fn with<E: Element>(
        mut self,
        name: impl Into<String>,
        shape: &[usize],
        values: impl IntoIterator<Item = E>,
    ) -> Tensors {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|value| value.put(&mut bytes));
        self.0.push((name.into(), E::DTYPE, shape.to_vec(), bytes));
        self
    }

    /// The file of them, and of `notes` beside them.
    ///
    /// # Errors
    /// A shape that does not fit its numbers.
    pub(super) fn encode(&self, path: &Path, notes: &[(&str, String)]) -> Result<Vec<u8>> {
        let failed = |e: safetensors::SafeTensorError| {
            Error::io(path, Action::Write, std::io::Error::other(e.to_string()))
        };
        let mut views = Vec::with_capacity(self.0.len());
        for (name, dtype, shape, bytes) in &self.0 {
            views.push((name, TensorView::new(*dtype, shape.clone(), bytes).map_err(failed)?));
        }
        let notes: HashMap<String, String> =
            notes.iter().map(|(name, note)| ((*name).to_owned(), note.clone())).collect();
        serialize(views, (!notes.is_empty()).then_some(notes)).map_err(failed)
    }
}

/// The tensors of a file, each to be taken once.
pub struct Reader<'a> {
    path: PathBuf,
    tensors: BTreeMap<String, TensorView<'a>>,
}

impl<'a> Reader<'a> {
    /// The tensors of these bytes, which `path` holds.
    ///
    /// # Errors
    /// Bytes that are no whole safetensors file.
    pub(super) fn new(path: &Path, bytes: &'a [u8]) -> Result<Reader<'a>> {
        let file = decode(path, bytes)?;
        let tensors = file.iter().map(|(name, tensor)| (name.to_owned(), tensor)).collect();
        Ok(Reader { path: path.to_path_buf(), tensors })
    }

    /// Takes a tensor of this shape.
    ///
    /// # Errors
    /// One that is missing, of another shape or kind, or holds what is not a number.
    pub fn take<E: Element>(&mut self, name: &str, shape: &[usize]) -> Result<Vec<E>> {
        let tensor = self.tensor(name)?;
        if tensor.dtype() != E::DTYPE || tensor.shape() != shape {
            return Err(self.refused(format!(
                "tensor {name} is {:?} of shape {:?}, config.json asks for {:?} of {shape:?}",
                tensor.dtype(),
                tensor.shape(),
                E::DTYPE,
            )));
        }
        self.numbers(name, &tensor)
    }

    /// Takes a list of any length.
    ///
    /// # Errors
    /// As [`take`](Reader::take).
    pub fn take_list<E: Element>(&mut self, name: &str) -> Result<Vec<E>> {
        let tensor = self.tensor(name)?;
        if tensor.dtype() != E::DTYPE || tensor.shape().len() != 1 {
            return Err(self.refused(format!(
                "tensor {name} is {:?} of shape {:?}, not a list of {:?}",
                tensor.dtype(),
                tensor.shape(),
                E::DTYPE,
            )));
        }
        self.numbers(name, &tensor)
    }

    /// All tensors were taken.
    ///
    /// # Errors
    /// One that was not.
    pub fn finish(self) -> Result<()> {
        match self.tensors.first_key_value() {
            None => Ok(()),
            Some((name, _)) => {
                Err(self.refused(format!("it has a tensor {name}, which the model has not")))
            }
        }
    }

    /// The error of a file whose numbers do not make sense.
    pub fn refused(&self, problem: impl Into<String>) -> Error {
        Error::input(&self.path, Place::Whole, problem, FIX)
    }

    fn tensor(&mut self, name: &str) -> Result<TensorView<'a>> {
        self.tensors.remove(name).ok_or_else(|| self.refused(format!("it has no tensor {name}")))
    }

    fn numbers<E: Element>(&self, name: &str, tensor: &TensorView<'a>) -> Result<Vec<E>> {
        let values: Vec<E> = tensor.data().chunks_exact(size_of::<E>()).map(E::get).collect();
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(self.refused(format!("tensor {name} holds what is not a number"))),
        }
    }
}

pub(super) fn decode<'a>(path: &Path, bytes: &'a [u8]) -> Result<SafeTensors<'a>> {
    SafeTensors::deserialize(bytes).map_err(|e| {
        let problem = format!("this is no whole safetensors file: {e}");
        Error::input(path, Place::Whole, problem, FIX)
    })
}
