"""What a type checker refuses: each line that is marked, for what is marked."""

import numpy as np
from numpy.typing import NDArray

import hg2v

GRAPHS = ["CCO", "c1ccccc1"]

hg2v.HG2V(preset="papper")  # E: "preset" to "HG2V"
hg2v.HG2V(readout="sum")  # E: "readout" to "HG2V"
hg2v.HG2V(loss="jds", errors="skip")  # E: "loss" to "HG2V"
hg2v.HG2V(128, 4)  # E: Too many positional arguments
hg2v.HG2V(rate=0.1)  # E: Unexpected keyword argument "rate"
hg2v.Graph2Vec(direction=True)  # E: "direction" to "Graph2Vec"
hg2v.KernelVectors("wl")  # E: "KernelVectors" has incompatible type
model = hg2v.HG2V().fit(GRAPHS)
model.set_output(transform="numpy")  # E: No overload variant
columns = model.transform(GRAPHS).columns  # E: has no attribute "columns"
gram: NDArray[np.float32] = hg2v.WLOptimalAssignment().fit_transform(GRAPHS)  # E: assignment
hg2v.coarsen(GRAPHS[0], method="variation_edges")  # E: "method" to "coarsen"
hg2v.graphs(GRAPHS, errors="nan")  # E: "errors" to "graphs"
hg2v.evaluate(GRAPHS, protocol="10-fold")  # E: "protocol" to "evaluate"
hg2v.project(model.transform(GRAPHS), "t-sne")  # E: "project" has incompatible type
hg2v.Index(model, GRAPHS, metric="cosinus")  # E: "metric" to "Index"
