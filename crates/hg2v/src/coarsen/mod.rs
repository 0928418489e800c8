//! Spectral pyramids of graphs (Loukas 2019).
