"""The words that parameters take, as types; tests hold them to the tables of the library."""

from typing import Literal

__all__ = [
    "Activation",
    "Classifier",
    "Coarsening",
    "Directed",
    "Grid",
    "Kernel",
    "Layer",
    "Links",
    "Loss",
    "Metric",
    "Negatives",
    "NodesBy",
    "OnError",
    "OnErrorReading",
    "Output",
    "Per",
    "Preset",
    "Projection",
    "Protocol",
    "Readout",
    "Relations",
    "Task",
    "Usage",
    "Weights",
    "When",
]

# Of methods.
Activation = Literal["linear", "relu", "tanh"]
Coarsening = Literal[
    "variation-neighborhoods",
    "variation-edges",
    "variation-cliques",
    "heavy-edge",
    "algebraic-jc",
    "affinity-gs",
    "kron",
]
Kernel = Literal["wl-oa", "wl-subtree", "wwl"]
Layer = Literal["krylov", "gcn"]
Loss = Literal["jsd", "infonce", "cosine"]
Negatives = Literal["all", "others"]
NodesBy = Literal["auto", "labels", "attributes"]
Preset = Literal["default", "network", "paper"]
Readout = Literal["sum", "max", "mean"]
Relations = Literal["never", "always"]
Usage = Literal["use", "ignore"]
Weights = Literal["use", "abs", "ignore"]
When = Literal["auto", "always", "never"]

# Of how graphs are read, and what becomes of those that cannot be.
Directed = Literal["keep", "refuse", "always"]
OnError = Literal["raise", "nan"]
OnErrorReading = Literal["raise", "skip"]

# Of what is done with vectors.
Classifier = Literal["linear", "logistic", "knn"]
Grid = Literal["paper", "small"]
Links = Literal["by-size", "exact", "approximate"]
Metric = Literal["cosine", "euclidean"]
Output = Literal["default", "pandas", "polars"]
Per = Literal["graph", "node", "level"]
Projection = Literal["pca", "tsne", "umap"]
Protocol = Literal["inductive", "transductive", "tenfold"]
Task = Literal["auto", "classes", "numbers"]
