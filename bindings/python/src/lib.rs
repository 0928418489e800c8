//! The extension module `hg2v._hg2v`: conversion between Python and the Rust crates.
//!
//! All behaviour is in the crates; the public face is the Python in `py_src/hg2v`.

mod command;
mod distances;
mod errors;
mod evaluate;
mod graphs;
mod kernels;
mod model;
mod network;
mod pyramid;
mod refused;
mod report;
mod search;
mod stream;
mod table;
mod words;
mod work;

/// What `py_src/hg2v` stands on; nobody else should.
#[pyo3::pymodule]
mod _hg2v {
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::distances::{fgw_distances, spectral_distances};
    #[pymodule_export]
    use crate::evaluate::evaluate;
    #[pymodule_export]
    use crate::graphs::{Graphs, molecule};
    #[pymodule_export]
    use crate::kernels::{wl_optimal_assignment, wl_subtree, wwl};
    #[pymodule_export]
    use crate::model::{Model, keep_pyramids, places_of, write_folder};
    #[pymodule_export]
    use crate::network::{Examples, Network, Pass};
    #[pymodule_export]
    use crate::pyramid::coarsen;
    #[pymodule_export]
    use crate::report::{graphs_of_run, report, write_file};
    #[pymodule_export]
    use crate::search::{Index, drift, project};
    #[pymodule_export]
    use crate::stream::embed_file;
    #[pymodule_export]
    use crate::table::arrow_table;
    #[pymodule_export]
    use crate::words::{defaults, nearest, settings, words};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("MAX_NODES", hg2v::dataset::Limits::default().max_nodes)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
