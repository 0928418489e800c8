//! Pictures into graphs: idx files of images and of their classes.
//!
//! A pixel that passes the threshold is a node, numbered row by row; a pixel is
//! joined to its right and its lower neighbour; a node's features are its row,
//! its column and its luminosity. The class is the graph's label, the image's
//! position its id.
//!
//! An idx file is big-endian throughout: two zero bytes, a type byte (`08` u8,
//! `09` i8, `0B` i16, `0C` i32, `0D` f32, `0E` f64), the number of dimensions,
//! a u32 for each of them, then the values. Both files may be gzip-compressed,
//! which is told by their first bytes.
//!
//! **Luminosity** is value ÷ scale. The scale is 255 for u8, 1 for floating
//! point, and otherwise the largest value in the file, unless it is given.
//!
//! **Threshold.** 0 keeps luminosity > 0; any other threshold T keeps luminosity
//! ≥ T. That is what the paper does: MNIST loses its pixels of luminosity 0, USPS
//! those below 0.3.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::Limits;
use super::gzip::{self, Gunzip};
use crate::error::{Action, Error, Limit, Place, Problem, Result};
use crate::graph::{Features, GraphRecord};

/// How images become graphs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// The least luminosity that is kept; 0 keeps what is above 0.
    pub threshold: f64,
    /// The value of luminosity 1; `None` follows from the type of the file.
    pub scale: Option<f64>,
}

hg2v_math::setters!(Params { threshold: f64, scale: Option<f64> });

impl Params {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// A threshold that is not finite, a scale that is not positive.
    pub fn check(&self) -> Result<()> {
        if !self.threshold.is_finite() {
            return Err(Error::parameter(
                "threshold",
                self.threshold,
                "it must be a finite number",
            ));
        }
        match self.scale {
            Some(scale) if !(scale.is_finite() && scale > 0.0) => {
                Err(Error::parameter("scale", scale, "it must be a positive number"))
            }
            _ => Ok(()),
        }
    }

    fn keeps(&self, luminosity: f64) -> bool {
        if self.threshold == 0.0 { luminosity > 0.0 } else { luminosity >= self.threshold }
    }
}

/// The graphs of two idx files, read one image at a time.
pub struct ImageGraphs {
    images: IdxFile,
    labels: IdxFile,
    params: Params,
    scale: f64,
    next: u64,
    failed: bool,
    /// Of the image in hand: its bytes, and each pixel's node or [`NO_NODE`].
    bytes: Vec<u8>,
    nodes: Vec<u32>,
}

const NO_NODE: u32 = u32::MAX;

/// Opens images and their labels.
///
/// # Errors
/// Bad parameters; a file that cannot be read or whose header is not that of an
/// idx file of the expected shape; as many labels as images must be announced.
pub fn open(images: &Path, labels: &Path, params: Params, limits: &Limits) -> Result<ImageGraphs> {
    params.check()?;
    let (images_path, images) = (images, open_images(images, limits)?);
    let labels = IdxFile::open(labels)?;
    if labels.dims.len() != 1 || labels.kind != Kind::U8 {
        return Err(labels.refused(
            2,
            format!(
                "{} dimensions of {} are not a list of labels",
                labels.dims.len(),
                labels.kind.name()
            ),
            "give the idx1-ubyte file of labels second, after the images",
        ));
    }
    if labels.dims[0] != images.dims[0] {
        return Err(labels.refused(
            4,
            format!(
                "{} labels for the {} images of {}",
                labels.dims[0],
                images.dims[0],
                images_path.display()
            ),
            "give the labels that belong to these images",
        ));
    }
    let scale = match (params.scale, images.kind) {
        (Some(scale), _) => scale,
        (None, Kind::U8) => 255.0,
        (None, Kind::F32 | Kind::F64) => 1.0,
        (None, Kind::I8 | Kind::I16 | Kind::I32) => largest_value(images_path, limits)?,
    };
    Ok(ImageGraphs {
        images,
        labels,
        params,
        scale,
        next: 0,
        failed: false,
        bytes: Vec::new(),
        nodes: Vec::new(),
    })
}

fn open_images(path: &Path, limits: &Limits) -> Result<IdxFile> {
    let images = IdxFile::open(path)?;
    let &[_, rows, columns] = images.dims.as_slice() else {
        return Err(images.refused(
            3,
            format!("{} dimensions are not a list of images", images.dims.len()),
            "give an idx3 file (images × rows × columns) first, then the labels",
        ));
    };
    let pixels = u64::from(rows) * u64::from(columns);
    if pixels == 0 {
        return Err(images.refused(
            8,
            format!("images of {rows} × {columns} pixels have nothing in them"),
            "the header is damaged; fetch the file again",
        ));
    }
    if pixels > limits.max_nodes {
        let problem = Problem::Beyond {
            limit: Limit::Nodes,
            found: Some(pixels),
            allowed: limits.max_nodes,
            what: format!("images of {rows} × {columns} pixels are {pixels} nodes").into(),
            fix: None,
        };
        return Err(problem.at(&images.path, Place::Byte(8)));
    }
    Ok(images)
}

/// The largest value of the file, or 1 where none is positive.
fn largest_value(path: &Path, limits: &Limits) -> Result<f64> {
    let mut images = open_images(path, limits)?;
    let mut largest = 0f64;
    let mut bytes = Vec::new();
    for image in 0..images.dims[0] {
        images.read_item(u64::from(image), &mut bytes)?;
        for value in bytes.chunks_exact(images.kind.size()) {
            largest = largest.max(images.kind.value(value));
        }
    }
    Ok(if largest > 0.0 { largest } else { 1.0 })
}

impl ImageGraphs {
    /// How many images there are.
    pub fn num_images(&self) -> u64 {
        u64::from(self.images.dims[0])
    }

    /// Rows and columns of each image.
    pub fn shape(&self) -> (u32, u32) {
        (self.images.dims[1], self.images.dims[2])
    }

    /// The value of luminosity 1.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    fn read_graph(&mut self, index: u64) -> Result<GraphRecord> {
        self.labels.read_item(index, &mut self.bytes)?;
        let class = self.bytes.first().map(|&class| i64::from(class).into());
        self.images.read_item(index, &mut self.bytes)?;

        let kind = self.images.kind;
        let columns = self.images.dims[2] as usize;
        self.nodes.clear();
        let mut values = Vec::new();
        let mut num_nodes = 0;
        for (pixel, bytes) in self.bytes.chunks_exact(kind.size()).enumerate() {
            let value = kind.value(bytes);
            if !value.is_finite() {
                let place = self.images.position - (self.bytes.len() - pixel * kind.size()) as u64;
                return Err(self.images.refused(
                    place,
                    format!("pixel {pixel} of image {index} is {value}"),
                    "every pixel must be a finite number",
                ));
            }
            let luminosity = value / self.scale;
            if self.params.keeps(luminosity) {
                self.nodes.push(num_nodes);
                num_nodes += 1;
                let (row, column) = (pixel / columns, pixel % columns);
                values.extend([row as f64, column as f64, luminosity]);
            } else {
                self.nodes.push(NO_NODE);
            }
        }
        let mut edges = Vec::new();
        for (pixel, &node) in self.nodes.iter().enumerate() {
            if node == NO_NODE {
                continue;
            }
            let right = if (pixel + 1) % columns == 0 { None } else { self.nodes.get(pixel + 1) };
            let down = self.nodes.get(pixel + columns);
            let kept = [right, down].into_iter().flatten();
            edges.extend(kept.filter(|&&n| n != NO_NODE).map(|&n| [node, n]));
        }
        Ok(GraphRecord {
            id: Some((index as i64).into()),
            label: class,
            num_nodes,
            edges,
            features: Some(Features { dim: 3, values }),
            ..GraphRecord::default()
        })
    }
}

impl Iterator for ImageGraphs {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let graph = if self.next < self.num_images() {
            self.read_graph(self.next).map(Some)
        } else {
            let ended = self.images.end().and_then(|()| self.labels.end());
            self.failed = true;
            ended.map(|()| None)
        };
        self.next += 1;
        self.failed |= graph.is_err();
        graph.transpose()
    }
}

/// What the values of an idx file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Kind {
    fn of_byte(byte: u8) -> Option<Kind> {
        Some(match byte {
            0x08 => Kind::U8,
            0x09 => Kind::I8,
            0x0B => Kind::I16,
            0x0C => Kind::I32,
            0x0D => Kind::F32,
            0x0E => Kind::F64,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Kind::U8 => "u8",
            Kind::I8 => "i8",
            Kind::I16 => "i16",
            Kind::I32 => "i32",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
        }
    }

    /// Bytes of one value.
    fn size(self) -> usize {
        match self {
            Kind::U8 | Kind::I8 => 1,
            Kind::I16 => 2,
            Kind::I32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }

    /// The value that `size()` bytes spell.
    fn value(self, bytes: &[u8]) -> f64 {
        // All kinds are read from the high end of one word, so that no length
        // has to be taken on trust.
        let mut word = [0; 8];
        for (slot, &byte) in word.iter_mut().zip(bytes) {
            *slot = byte;
        }
        let [a, b, c, d, ..] = word;
        match self {
            Kind::U8 => f64::from(a),
            Kind::I8 => f64::from(a as i8),
            Kind::I16 => f64::from(i16::from_be_bytes([a, b])),
            Kind::I32 => f64::from(i32::from_be_bytes([a, b, c, d])),
            Kind::F32 => f64::from(f32::from_be_bytes([a, b, c, d])),
            Kind::F64 => f64::from_be_bytes(word),
        }
    }
}

/// An idx file past its header.
struct IdxFile {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    kind: Kind,
    /// At least one dimension; the first counts the items.
    dims: Vec<u32>,
    /// Bytes of one item: the other dimensions times the size of a value.
    item_bytes: u64,
    /// Bytes read so far, unpacked.
    position: u64,
}

impl IdxFile {
    fn open(path: &Path) -> Result<IdxFile> {
        let cannot_read = |e| Error::io(path, Action::Read, e);
        let file = File::open(path).map_err(cannot_read)?;
        let on_disk = file.metadata().map_err(cannot_read)?.len();
        let mut raw = BufReader::with_capacity(1 << 16, file);
        let packed = raw.fill_buf().map_err(cannot_read)?.starts_with(&gzip::MAGIC);
        let reader: Box<dyn Read + Send> = if packed {
            Box::new(BufReader::with_capacity(1 << 16, Gunzip::new(raw)))
        } else {
            Box::new(raw)
        };
        let mut idx = IdxFile {
            path: path.to_path_buf(),
            reader,
            kind: Kind::U8,
            dims: Vec::new(),
            item_bytes: 0,
            position: 0,
        };
        idx.read_header()?;
        if !packed {
            let expected = idx.total_bytes()?;
            if on_disk < expected {
                return Err(idx.refused(
                    on_disk,
                    format!("the file ends here, but its header announces {expected} bytes"),
                    "the file is cut short; fetch it again",
                ));
            }
        }
        Ok(idx)
    }

    fn read_header(&mut self) -> Result<()> {
        const NOT_IDX: &str = "give an idx file (its first bytes are 00 00, a type, a count)";
        let mut bytes = Vec::new();
        self.read_exactly(4, &mut bytes, "the header")?;
        let &[0, 0, kind, dims] = bytes.as_slice() else {
            let found = format!("it begins with the bytes {bytes:02x?}, not with 00 00");
            return Err(self.refused(0, found, NOT_IDX));
        };
        self.kind = Kind::of_byte(kind)
            .ok_or_else(|| self.refused(2, format!("the type {kind:#04x} is unknown"), NOT_IDX))?;
        if dims == 0 {
            return Err(self.refused(3, "it has 0 dimensions".to_owned(), NOT_IDX));
        }
        self.read_exactly(4 * u64::from(dims), &mut bytes, "the dimensions")?;
        self.dims = bytes
            .chunks_exact(4)
            .map(|four| four.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
            .collect();
        self.item_bytes = self
            .dims
            .iter()
            .skip(1)
            .try_fold(self.kind.size() as u64, |product, &dim| product.checked_mul(u64::from(dim)))
            .ok_or_else(|| self.too_large())?;
        self.total_bytes().map(|_| ())
    }

    /// Bytes that the header announces, itself included.
    fn total_bytes(&self) -> Result<u64> {
        self.dims
            .first()
            .and_then(|&count| self.item_bytes.checked_mul(u64::from(count)))
            .and_then(|values| values.checked_add(4 + 4 * self.dims.len() as u64))
            .ok_or_else(|| self.too_large())
    }

    fn too_large(&self) -> Error {
        self.refused(
            4,
            format!("dimensions of {:?} announce more than 2^64 bytes", self.dims),
            "the header is damaged; fetch the file again",
        )
    }

    /// Reads the next item, the `index`-th.
    fn read_item(&mut self, index: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let count = self.dims.first().copied().unwrap_or_default();
        self.read_exactly(self.item_bytes, bytes, &format!("item {index} of the {count} announced"))
    }

    /// Reads `length` bytes; memory grows with what is there, not with `length`.
    fn read_exactly(&mut self, length: u64, bytes: &mut Vec<u8>, what: &str) -> Result<()> {
        bytes.clear();
        let read = self.reader.by_ref().take(length).read_to_end(bytes);
        self.position += bytes.len() as u64;
        match read {
            Ok(_) if bytes.len() as u64 == length => Ok(()),
            Ok(_) => Err(self.refused(
                self.position,
                format!("the file ends in the middle of {what}"),
                "the file is cut short; fetch it again",
            )),
            Err(error) => Err(gzip::refused(&self.path, Place::Byte(self.position), error)),
        }
    }

    /// Makes sure that nothing follows the last item.
    fn end(&mut self) -> Result<()> {
        let mut more = [0];
        loop {
            return match self.reader.read(&mut more) {
                Ok(0) => Ok(()),
                Ok(_) => Err(self.refused(
                    self.position,
                    "more bytes follow than the header announces".to_owned(),
                    "the header and the content disagree; fetch the file again",
                )),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(gzip::refused(&self.path, Place::Byte(self.position), error)),
            };
        }
    }

    fn refused(&self, byte: u64, problem: String, fix: &'static str) -> Error {
        Error::input(&self.path, Place::Byte(byte), problem, fix)
    }
}
