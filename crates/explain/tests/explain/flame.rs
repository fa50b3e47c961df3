//! Flame graphs of a recording whose samples are known.

use helenus_explain::{Engine, Flame, FlameOptions, Options, SlowThreshold, explain};
use helenus_recording::{Manifest, Recorder, Recording, rows};

const MS: i64 = 1_000_000;
const RUN: &str = "Thread.run";
const READ: &str = "Thread.run;Read.execute;pread";
const GC: &str = "GangWorker::run";

/// One sample each 10 ms for 10 s: reads, and in the fourth second, when requests are slow, GC.
fn recorded(folder: &tempfile::TempDir) -> Engine {
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("flames", "test")).unwrap();
    for (stack, frames, kinds) in [(1, RUN, "j"), (2, READ, "jjk"), (3, GC, "c")] {
        recorder.append(rows::Stack { time_ns: 0, stack, frames, kinds });
    }
    for at in 0..1000 {
        let collecting = (300..400).contains(&at);
        let (thread, thread_group, stack) = match (collecting, at % 4) {
            (true, _) => ("GC Thread#1", "GC Thread", 3),
            (false, 0) => ("ReadStage-1", "ReadStage", 1),
            (false, _) => ("ReadStage-2", "ReadStage", 2),
        };
        let (time_ns, weight) = (at * 10 * MS, 10 * MS);
        recorder.append(rows::StackSample {
            time_ns,
            node: "n",
            event: "cpu",
            weight,
            tid: 1,
            thread,
            thread_group,
            stack,
        });
        let took = if collecting { 50 * MS } else { MS };
        recorder.append(rows::Request {
            intended_start_ns: time_ns,
            start_ns: time_ns,
            end_ns: time_ns + took,
            node: "n",
            operation: "read",
            outcome: "ok",
            ..rows::Request::default()
        });
    }
    for second in 1..=12 {
        for (process, thread_group) in [("server", "ReadStage"), ("server", "GC Thread"), ("load", "load")] {
            recorder.append(rows::ThreadSample {
                time_ns: second * 1000 * MS,
                interval_ns: 1000 * MS,
                node: "n",
                process,
                thread_group,
                cpu_ns: 600 * MS,
                ..rows::ThreadSample::default()
            });
        }
    }
    recorder.append(rows::Mark {
        start_ns: 0,
        end_ns: 10_000 * MS,
        kind: "phase",
        name: "all",
        measured: true,
        ..rows::Mark::default()
    });
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

#[test]
fn what_samples_miss_is_told_from_what_the_kernel_counted() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let build = |options| Flame::build(&engine, &options).unwrap();
    let all = build(FlameOptions::default());
    // CPU time of the nodes' threads during 10 s of sampling.
    assert_eq!((all.weight(), all.counted_ns), (10_000 * MS, Some(12_000 * MS)));
    let group = Some("ReadStage".to_string());
    let part = build(FlameOptions { group, start_ns: 2000 * MS, end_ns: 4000 * MS, ..FlameOptions::default() });
    assert_eq!((part.weight(), part.counted_ns), (1000 * MS, Some(1200 * MS)));
    assert_eq!(all.tree().counted_ns, all.counted_ns);
    assert_eq!(all.compare("after", part, "before").counted_ns, None);
}

fn folded(flame: &Flame) -> Vec<String> {
    flame.folded().collect()
}

#[test]
fn weights_add_up_by_group_and_stack() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let flame = Flame::build(&engine, &FlameOptions::default()).unwrap();
    assert_eq!(flame.samples, 1000);
    assert_eq!(
        folded(&flame),
        [
            format!("GC Thread;{GC} {}", 1000 * MS),
            format!("ReadStage;{RUN} {}", 2250 * MS),
            format!("ReadStage;{READ} {}", 6750 * MS),
        ]
    );
    let tree = flame.tree();
    let named = |name: &str| tree.nodes.iter().find(|node| tree.names[node.name] == name).unwrap();
    assert_eq!(
        (named("all").weight, named("ReadStage").weight, named("pread").weight),
        (10_000 * MS, 9000 * MS, 6750 * MS)
    );
    assert_eq!((named("pread").depth, named("pread").kind), (4, 'k'));
    let svg = flame.svg();
    assert!(svg.starts_with("<svg") && svg.contains("GangWorker::run (10.00 %)"), "{svg}");
}

#[test]
fn a_window_a_group_or_a_thread_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let build = |options: FlameOptions| folded(&Flame::build(&engine, &options).unwrap());
    let window = FlameOptions { start_ns: 3000 * MS, end_ns: 4000 * MS, ..FlameOptions::default() };
    assert_eq!(build(window), [format!("GC Thread;{GC} {}", 1000 * MS)]);
    let group = FlameOptions { group: Some("ReadStage".to_string()), by_thread: true, ..FlameOptions::default() };
    assert_eq!(build(group), [format!("ReadStage-1;{RUN} {}", 2250 * MS), format!("ReadStage-2;{READ} {}", 6750 * MS)]);
    assert_eq!(Flame::first_sample_ns(&engine).unwrap(), Some(0));
    let reversed = Flame::build(&engine, &FlameOptions { reversed: true, ..FlameOptions::default() }).unwrap().tree();
    let depth = reversed.nodes.iter().find(|node| reversed.names[node.name] == "pread").unwrap().depth;
    assert_eq!(depth, 2);
    assert!(build(FlameOptions { event: "alloc".to_string(), ..FlameOptions::default() }).is_empty());
}

#[test]
fn what_runs_while_requests_are_slow_is_set_against_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let options = Options { threshold: SlowThreshold::Time(20 * MS), ..Options::default() };
    let explanation = explain(&engine, &options).unwrap();
    let flame = Flame::of_slow(&engine, &FlameOptions::default(), &explanation).unwrap();
    let lines = folded(&flame);
    assert_eq!(lines[0], format!("GC Thread;{GC} 0 {}", 1000 * MS));
    // The last slow request ends 50 ms later; five samples of reads fall into that time.
    assert!(lines[2].ends_with(&format!("{}", 40 * MS)) || lines[2].ends_with(&format!("{}", 30 * MS)), "{lines:?}");
    // Each side has its own number of samples.
    let tree = flame.tree();
    assert_eq!((tree.samples + tree.other_samples, flame.weight()), (1000, tree.samples as i64 * 10 * MS));
    assert!((100..110).contains(&tree.samples), "{}", tree.samples);
    let other = Flame::build(&engine, &FlameOptions { end_ns: 5000 * MS, ..FlameOptions::default() }).unwrap();
    let part = Flame::build(&engine, &FlameOptions::default()).unwrap().compare("after", other, "before").tree();
    assert_eq!((part.samples, part.other_samples), (1000, 500));
    let other = Flame::build(&engine, &FlameOptions::default()).unwrap();
    let same = Flame::build(&engine, &FlameOptions::default()).unwrap().compare("after", other, "before");
    assert_eq!(folded(&same)[0], format!("GC Thread;{GC} {0} {0}", 1000 * MS));
}
