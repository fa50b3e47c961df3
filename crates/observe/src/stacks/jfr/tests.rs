//! Tests with real files and with crafted ones.

use super::*;
use crate::stacks::Frames;
use proptest::prelude::*;
use std::rc::Rc;

/// Three seconds of a real node under a small load, recorded by the profiler.
const RECORDED: &[u8] = include_bytes!("../../../../../fixtures/stacks.jfr");

/// All samples, with the frames of each.
fn samples(chunk: &[u8]) -> Result<Vec<(Sample, Rc<Frames>)>, Malformed> {
    let mut samples = Vec::new();
    ChunkSamples::read(chunk)?.each(|sample, frames| {
        samples.push((sample.clone(), frames()?));
        Ok::<_, Malformed>(())
    })?;
    Ok(samples)
}

#[test]
fn a_real_file_is_read_whole() {
    let (mut left, mut read) = (RECORDED, Vec::new());
    while let Some(size) = chunk_size(left).unwrap() {
        read.extend(samples(&left[..size]).unwrap());
        left = &left[size..];
    }
    assert!(left.is_empty());
    let (samples, stacks): (Vec<Sample>, Vec<Rc<Frames>>) = read.into_iter().unzip();
    // The number of samples that `jfr summary` prints.
    assert_eq!(samples.len(), 64);
    assert!(samples.iter().all(|sample| sample.event == SampleEvent::Cpu && sample.tid > 0));
    assert!(samples.iter().any(|sample| sample.thread.starts_with("Native-Transport-Requests-")));
    assert!(stacks.iter().all(|stack| stack.names.split(';').count() == stack.kinds.len()));
    let outermost = "java.lang.Thread.run;";
    let executor = "org.apache.cassandra.concurrent.SEPWorker.run";
    assert!(stacks.iter().any(|stack| stack.names.contains(outermost) && stack.names.contains(executor)));
    assert!(stacks.iter().any(|stack| stack.kinds.ends_with('k')), "the kernel is seen");
    // The samples are in order of time, and cover a little more than three seconds.
    let times: Vec<i64> = samples.iter().map(|sample| sample.time_ns).collect();
    let span_ns = times.iter().max().unwrap() - times.iter().min().unwrap();
    assert!((1_000_000_000..10_000_000_000).contains(&span_ns), "{span_ns}");
}

#[test]
fn what_is_cut_off_is_waited_for() {
    let size = chunk_size(RECORDED).unwrap().unwrap();
    assert_eq!(chunk_size(&RECORDED[..size - 1]), Ok(None));
    assert_eq!(chunk_size(&RECORDED[..20]), Ok(None));
    assert!(chunk_size(&[b'x'; 100]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_bytes_can_make_it_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let size = chunk_size(RECORDED).unwrap().unwrap();
        let mut bytes = RECORDED[..size].to_vec();
        for (at, value) in flips {
            bytes[at.index(size)] = value;
        }
        if let Ok(Some(size)) = chunk_size(&bytes) {
            let _ = samples(&bytes[..size]);
        }
    }
}
