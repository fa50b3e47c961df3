//! Two recorders of one machine: events that both saw count once, whether the recordings are merged or opened together.

use crate::world::{MS, Phase, S, World, healthy_gc};
use helenus_explain::{Batches, Engine, Explanation, Options, explain};
use helenus_recording::{Recording, merge};
use std::path::PathBuf;
use tempfile::TempDir;

/// A server that stops for a second under a load that is then too much for it, so that there are findings about CPUs,
/// threads and stalls.
fn world() -> World {
    let step = |name, rate_per_s| Phase { name, rate_per_s, seconds: 8, measured: true };
    World {
        phases: vec![step("500/s", 500), step("2500/s", 2500)],
        gc: healthy_gc(16),
        server_stops: vec![(4 * S + 300 * MS, S)],
        ..World::default()
    }
}

/// The path of a recording; creates its parent folder, because recorders don't.
fn place(folder: &TempDir, name: &str) -> PathBuf {
    let place = folder.path().join(name);
    std::fs::create_dir(&place).unwrap();
    place
}

fn full_text(recordings: &[Recording]) -> (Engine, Explanation) {
    let engine = Engine::open(recordings).unwrap();
    let explanation = explain(&engine, &Options::default()).unwrap();
    (engine, explanation)
}

fn numbers(rows: &Batches) -> Vec<i64> {
    let column = |batch: &arrow::array::RecordBatch| {
        arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(batch.column(0).as_ref()).values().to_vec()
    };
    rows.batches().iter().flat_map(column).collect()
}

#[test]
fn what_two_recorders_saw_is_explained_as_what_one_saw() {
    let folder = TempDir::new().unwrap();
    let (_, one) = full_text(&[world().record(&folder.path().join("one"))]);
    let apart = world().record_apart(folder.path());
    let out = folder.path().join("merged");
    merge(&apart, &[], &out, "merged", "test").unwrap();
    let (merged, of_merged) = full_text(&[Recording::open(&out).unwrap()]);
    let (opened, of_opened) = full_text(&apart);
    // Commands have the names of the recordings.
    let text = |explanation: &Explanation, name: &str| {
        explanation.to_string().replace(folder.path().join(name).to_str().unwrap(), "run.helenus")
    };
    assert_eq!(text(&of_merged, "merged"), text(&one, "one"));
    assert_eq!(text(&of_opened, "load"), text(&one, "one"));
    let busy = "SELECT sum(user_ns + system_ns) / 16000000 FROM cpus";
    let whole = numbers(&merged.sql(busy).unwrap());
    assert!(whole[0] <= 2000, "{whole:?} thousandths of two CPUs");
    assert_eq!(numbers(&opened.sql(busy).unwrap()), whole);
}

#[test]
fn a_node_that_two_watch_is_seen_once() {
    let folder = TempDir::new().unwrap();
    let [load, node] = world().record_apart(&place(&folder, "first"));
    let [_, again] = world().record_apart(&place(&folder, "second"));
    let (one, _) = full_text(&[load.clone(), node.clone()]);
    let out = folder.path().join("merged");
    merge(&[load.clone(), node.clone(), again.clone()], &[], &out, "merged", "test").unwrap();
    let (merged, _) = full_text(&[Recording::open(&out).unwrap()]);
    let (opened, _) = full_text(&[load, node, again]);
    for table in ["cpus", "threads", "stalls", "pauses", "pools", "table_stats", "requests", "marks"] {
        let count = |engine: &Engine| numbers(&engine.sql(&format!("SELECT count(*) FROM {table}")).unwrap())[0];
        assert_eq!((count(&merged), count(&opened)), (count(&one), count(&one)), "{table}");
        assert!(count(&one) > 0, "{table}");
    }
}

/// Two loads on one machine are not the same load.
#[test]
fn two_loads_on_one_machine_are_two() {
    let folder = TempDir::new().unwrap();
    let [first, _] = world().record_apart(&place(&folder, "first"));
    let [second, _] = world().record_apart(&place(&folder, "second"));
    let (one, _) = full_text(std::slice::from_ref(&first));
    let (both, _) = full_text(&[first, second]);
    for table in ["threads", "stalls", "requests"] {
        let count = |engine: &Engine| numbers(&engine.sql(&format!("SELECT count(*) FROM {table}")).unwrap())[0];
        assert_eq!(count(&both), 2 * count(&one), "{table}");
    }
}
