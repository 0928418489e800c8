"""What a type checker accepts."""

import numpy as np
from numpy.typing import NDArray

import hg2v

GRAPHS = ["CCO", "c1ccccc1"]

model = hg2v.HG2V(64, epochs=3, preset="paper", loss="infonce", readout=["sum", "mean"])
model = model.fit(GRAPHS).set_params(lr=1e-3)
vectors: NDArray[np.float32] = model.transform(GRAPHS)
both: NDArray[np.float32] = hg2v.Graph2Vec(16, edge_labels="ignore").fit_transform(GRAPHS)
nodes: list[NDArray[np.float32]] = model.transform_nodes(GRAPHS)
levels: NDArray[np.float32] = model.transform_levels(GRAPHS)
gram: NDArray[np.float64] = hg2v.WassersteinWL(nodes="labels").fit_transform(GRAPHS)
kernel: hg2v.KernelVectors = hg2v.KernelVectors("wwl", dim=8).fit(GRAPHS)
names: list[object] = model.get_feature_names_out().tolist()
same: hg2v.HG2V = model.set_output(transform="default")
columns = model.set_output(transform="pandas").transform(GRAPHS).columns
judged = hg2v.evaluate(GRAPHS, model, also=["knn"], protocol="tenfold")
read: hg2v.Graphs = hg2v.graphs(GRAPHS, errors="skip", directed="refuse")
near = hg2v.Index(model, GRAPHS, metric="euclidean").search(read, k=1)
page = hg2v.report(model, GRAPHS, projections=["umap", "pca"])
