//! Tests on synthetic recordings whose truth is known. They are one binary, because each binary would link the query
//! engine.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod advice;
mod changes;
mod clients;
mod compare;
mod consistent;
mod control;
mod engine;
mod export;
mod figures;
mod flame;
mod in_common;
mod io;
mod logs;
mod partitions;
mod queues;
mod several;
mod shortages;
mod spectrogram;
mod sstables;
mod traffic;
mod truths;
mod world;
