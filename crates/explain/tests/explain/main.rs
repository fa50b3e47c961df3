//! Synthetic recordings with known truths. One binary, since each would link the query engine.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod compare;
mod engine;
mod export;
mod figures;
mod flame;
mod io;
mod spectrogram;
mod truths;
mod world;
