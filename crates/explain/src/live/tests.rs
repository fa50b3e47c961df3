use super::*;
use helenus_recording::BatchBuilder;
use helenus_recording::rows::{self, Row};

const SECOND: i64 = 1_000_000_000;
/// A realistic time since the Unix epoch.
const T0: i64 = 1_750_000_000 * SECOND;

fn batch<R: Row>(all: impl IntoIterator<Item = R>) -> RecordBatch {
    let mut builder = BatchBuilder::new(R::TABLE);
    for row in all {
        row.append_to(&mut builder);
    }
    builder.take().unwrap()
}

fn request<'a>(second: i64, statement: &'a str, client: &'static str, ms: i64) -> rows::WireRequest<'a> {
    rows::WireRequest {
        start_ns: T0 + second * SECOND + 1000,
        duration_ns: ms * 1_000_000,
        node: "127.0.0.1",
        client,
        client_port: 4711,
        opcode: "EXECUTE",
        statement,
        answer: "rows",
        rows_returned: Some(1),
        request_bytes: 100,
        response_bytes: 1000,
        ..rows::WireRequest::default()
    }
}

/// Data with this many seconds, beginning with the first.
fn window(from: i64, to: i64) -> LiveWindow {
    LiveWindow::of_all(T0 + from * SECOND, T0 + to * SECOND)
}

#[test]
fn bins_add_up_to_the_window() {
    let mut live = Live::default();
    for second in 0..10 {
        let error = rows::WireRequest { error: Some("overloaded"), ..request(second, "INSERT", "10.0.0.2", 3) };
        let prepare = rows::WireRequest { opcode: "PREPARE", ..request(second, "SELECT", "10.0.0.1", 900) };
        live.take("wire", &batch([request(second, "SELECT", "10.0.0.1", 1), error, prepare]));
    }
    assert_eq!(live.provider(), Some(Provider::Wire));
    let totals = live.totals(window(0, 10));
    assert_eq!((totals.requests, totals.errors, totals.requests_per_s), (20.0, 10.0, 2.0));
    assert_eq!(totals.outcomes, [LiveOutcome { outcome: "overloaded".into(), requests: 10.0 }]);
    // A request that failed at once says nothing about response times.
    assert_eq!(totals.latency_ms.max, Some(1.0));
    let half = live.totals(window(5, 10));
    assert_eq!((half.requests, half.requests_per_s), (10.0, 2.0));
    let statements = live.traffic(window(0, 10), LiveBy::Statement);
    let names: Vec<&str> = statements.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["INSERT", "SELECT"], "those with most time first");
    assert_eq!(statements.rows.iter().map(|row| row.requests).sum::<f64>(), totals.requests);
    assert!((statements.rows.iter().map(|row| row.time_share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(statements.rows[1].rows_returned, 10.0);
    let series = live.series(window(0, 10), 100, None);
    assert_eq!(series.requests_per_s, [2.0; 10]);
    let of_one = live.series(window(0, 10), 5, Some((LiveBy::Client, "10.0.0.2")));
    assert_eq!((of_one.bin_s, of_one.requests_per_s.iter().sum::<f64>()), (5.0, 2.0));
}

#[test]
fn percentiles_are_of_summed_histograms() {
    let mut live = Live::default();
    // A second in which everything is slow has few requests.
    live.take("wire", &batch((0..990).map(|_| request(0, "s", "c", 1))));
    live.take("wire", &batch((0..10).map(|_| request(1, "s", "c", 100))));
    let p99 = live.totals(window(0, 2)).latency_ms.p99.unwrap();
    assert!(p99 < 1.2, "the mean of the two p99 would be 50 ms: {p99}");
    let heat = live.heat(window(0, 2), 10, None);
    assert_eq!(heat.columns, 2);
    assert_eq!(heat.cells.iter().map(|(_, _, count)| count).sum::<f64>(), 1000.0);
}

#[test]
fn only_so_much_is_kept() {
    let mut live = Live::new(LiveOptions { bins: 5, ..LiveOptions::default() });
    for second in 0..20 {
        live.take("wire", &batch([request(second, "s", "c", 1)]));
    }
    assert_eq!(live.kept(), Some(window(15, 19)), "without the newest second, which still goes on");
    live.end();
    assert_eq!(live.kept(), Some(window(15, 20)));
    assert_eq!(live.last(2), Some(window(18, 20)));
    assert_eq!(live.totals(window(0, 20)).requests, 5.0);
    live.take("wire", &batch([request(3, "s", "c", 1)]));
    assert_eq!((live.too_late(), live.totals(window(0, 20)).requests), (1, 5.0));
    // After a long gap, no old data is left.
    live.take("wire", &batch([request(1_000_000, "s", "c", 1)]));
    assert_eq!(live.totals(window(0, 2_000_000)).requests, 1.0);
}

#[test]
fn names_beyond_the_limit_count_as_others() {
    let mut live = Live::default();
    let statements: Vec<String> = (0..300).map(|number| format!("statement {number}")).collect();
    live.take("wire", &batch(statements.iter().map(|statement| request(0, statement, "c", 1))));
    let traffic = live.traffic(window(0, 1), LiveBy::Statement);
    assert_eq!(traffic.rows.iter().map(|row| row.requests).sum::<f64>(), 300.0);
    let others = traffic.rows.iter().find(|row| row.name == "(others)").unwrap();
    assert_eq!((traffic.rows.len(), others.requests), (129, 172.0));
}

#[test]
fn requests_of_a_driver_and_of_the_wire_count_once() {
    let mut live = Live::default();
    live.take("wire", &batch([request(0, "s", "c", 1)]));
    let sent = rows::Request {
        intended_start_ns: T0,
        start_ns: T0 + SECOND / 2,
        end_ns: T0 + SECOND,
        operation: "read",
        outcome: "ok",
        ..rows::Request::default()
    };
    live.take("requests", &batch([sent]));
    live.take("wire", &batch([request(1, "s", "c", 1)]));
    let totals = live.totals(window(0, 2));
    assert_eq!((live.provider(), totals.requests), (Some(Provider::Load), 1.0));
    assert_eq!(totals.latency_ms.max, Some(1000.0), "from when it was due");
}

#[test]
fn weights_count() {
    let mut live = Live::default();
    let sampled = rows::WireRequest { weight: Some(4.0), ..request(0, "s", "c", 1) };
    live.take("wire", &batch([sampled, request(0, "s", "c", 1)]));
    let totals = live.totals(window(0, 1));
    assert_eq!((totals.requests, totals.weight), (5.0, 2.5));
}

#[test]
fn counters_count_from_the_reading_before_the_window() {
    let mut live = Live::default();
    for second in 0..10 {
        let pool = rows::PoolSample {
            time_ns: T0 + second * SECOND,
            node: "n",
            pool: "ReadStage",
            kind: "request",
            active: 3,
            pending: if second == 8 { 7 } else { 0 },
            completed: 100 * second,
            ..rows::PoolSample::default()
        };
        let table = rows::TableSample {
            time_ns: T0 + second * SECOND,
            node: "n",
            keyspace: "shop",
            table_name: "orders",
            reads: Some(1000 + 50 * second),
            read_total_ns: Some(1_000_000 * second * 50),
            ..rows::TableSample::default()
        };
        let dropped = rows::NodeMetric {
            time_ns: T0 + second * SECOND,
            node: "n",
            kind: "DroppedMessage",
            scope: "READ_REQ",
            metric: "Dropped",
            attribute: "Count",
            value: 5 * second,
        };
        live.take("pools", &batch([pool]));
        live.take("table_stats", &batch([table]));
        live.take("node_metrics", &batch([dropped]));
    }
    let pools = live.pools(window(8, 10));
    assert_eq!((pools[0].pool.as_str(), pools[0].completed_per_s), ("ReadStage", Some(100.0)));
    assert_eq!((pools[0].pending, pools[0].most_pending), (0, 7));
    let tables = live.tables(window(8, 10));
    assert_eq!((tables[0].table.as_str(), tables[0].reads_per_s), ("shop.orders", Some(50.0)));
    assert_eq!(tables[0].local_read_us, Some(1000.0));
    assert_eq!(live.dropped(window(8, 10))[0].dropped, 10);
}

#[test]
fn the_machine_is_shared_out_by_state_and_thread_group() {
    let mut live = Live::default();
    for tenth in 0..20 {
        let time_ns = T0 + (tenth + 1) * SECOND / 10;
        let interval_ns = SECOND / 10;
        let cpu = |cpu| rows::CpuSample {
            time_ns,
            interval_ns,
            cpu,
            user_ns: interval_ns / 2,
            idle_ns: interval_ns / 2,
            ..rows::CpuSample::default()
        };
        let thread = |thread_group, cpu_ns| rows::ThreadSample {
            time_ns,
            interval_ns,
            process: "server",
            thread_group,
            cpu_ns,
            ..rows::ThreadSample::default()
        };
        live.take("cpus", &batch([cpu(0), cpu(1)]));
        live.take("threads", &batch([thread("ReadStage", interval_ns / 2), thread("GC", interval_ns / 10)]));
    }
    let cpu = live.totals(window(0, 2)).cpu.unwrap();
    assert!((cpu.user - 0.5).abs() < 1e-9 && (cpu.idle - 0.5).abs() < 1e-9);
    let groups = live.groups(window(0, 2));
    assert_eq!(groups.iter().map(|group| group.group.as_str()).collect::<Vec<_>>(), ["ReadStage", "GC"]);
    assert!((groups[0].cpus - 0.5).abs() < 1e-9);
    assert_eq!(live.series(window(0, 2), 10, None).groups[0].cpus, [0.5, 0.5]);
}

#[test]
fn a_slow_request_has_what_overlapped_it() {
    let mut live = Live::default();
    let fast = |port| rows::WireRequest { client_port: port, ..request(0, "fast", "c", 1) };
    live.take("wire", &batch((0..50).map(fast)));
    live.take("wire", &batch([request(0, "slow", "c", 400)]));
    let pause = |start_ns, kind, phase| rows::Pause {
        start_ns,
        duration_ns: SECOND / 5,
        node: "127.0.0.1",
        kind,
        phase,
        collector: Some("G1New"),
        ..rows::Pause::default()
    };
    let within = T0 + SECOND / 10;
    live.take(
        "pauses",
        &batch([pause(within, "gc", None), pause(within, "gc", Some("Evacuate")), pause(T0 + 5 * SECOND, "gc", None)]),
    );
    let event = rows::NodeEvent {
        time_ns: within,
        node: "127.0.0.1",
        kind: "compaction",
        what: "compaction of shop.orders began",
        ..rows::NodeEvent::default()
    };
    live.take("events", &batch([event]));
    let slowest = live.slowest(window(0, 2), None, 10);
    assert_eq!((slowest[0].statement.as_str(), slowest[0].duration_ms), ("slow", 400.0));
    assert!((8..=10).contains(&slowest.len()), "{slowest:?}");
    assert_eq!(live.slowest(window(0, 2), Some((LiveBy::Statement, "fast")), 10)[0].duration_ms, 1.0);
    assert_eq!(live.slowest(window(0, 2), Some((LiveBy::Statement, "other")), 10), []);
    let overlaps = live.overlaps(&slowest[0]);
    let told: Vec<(&str, f64)> = overlaps.iter().map(|one| (one.what.as_str(), one.overlap_ms)).collect();
    assert_eq!(told, [("collection G1New", 200.0), ("log: compaction of shop.orders began", 0.0)]);
    assert_eq!(live.pauses(window(0, 10)).len(), 2);
    assert!((live.totals(window(0, 1)).gc_share - 0.2).abs() < 1e-9);
}

#[test]
fn files_are_added_up_by_what_was_done_to_them() {
    let mut live = Live::default();
    let call = |call, bytes| rows::SyscallSummary {
        time_ns: T0 + SECOND,
        interval_ns: SECOND,
        call,
        file: "/var/lib/data/nb-1-big-Data.db",
        file_kind: "file",
        count: 10,
        total_ns: 5_000_000,
        bytes,
        ..rows::SyscallSummary::default()
    };
    live.take("syscall_summary", &batch([call("pread64", 4096), call("write", 100), call("fsync", 0)]));
    let files = live.files(window(0, 1));
    assert_eq!((files.len(), files[0].reads_per_s, files[0].read_bytes_per_s), (1, 10.0, 4096.0));
    assert_eq!((files[0].writes_per_s, files[0].others_per_s, files[0].ms_per_s), (10.0, 10.0, 15.0));
}

/// Recordings of other origin may contain anything.
#[test]
fn no_number_breaks_a_sum() {
    let mut live = Live::default();
    for time_ns in [i64::MIN, -1, 0, i64::MAX] {
        for value in [i64::MIN, i64::MAX] {
            let wire = rows::WireRequest {
                start_ns: time_ns,
                duration_ns: value,
                weight: Some(f64::NAN),
                ..request(0, "s", "c", 1)
            };
            live.take("wire", &batch([wire, wire]));
            let cpu = rows::CpuSample {
                time_ns,
                interval_ns: value,
                user_ns: value,
                idle_ns: value,
                ..rows::CpuSample::default()
            };
            live.take("cpus", &batch([cpu, cpu]));
            let pause = rows::Pause { start_ns: time_ns, duration_ns: value, kind: "gc", ..rows::Pause::default() };
            live.take("pauses", &batch([pause, pause]));
            let pool =
                rows::PoolSample { time_ns, completed: value, total_blocked: value, ..rows::PoolSample::default() };
            live.take("pools", &batch([pool, pool]));
        }
        let Some(window) = live.kept() else { continue };
        live.totals(window);
        live.series(window, 10, None);
        live.heat(window, 10, None);
        live.pools(window);
        live.pauses(window);
        live.slowest(window, None, 5).iter().for_each(|slow| drop(live.overlaps(slow)));
    }
}

#[test]
fn a_long_recording_has_longer_bins() {
    let options = LiveOptions::over(T0, T0 + 3600 * SECOND);
    assert!(options.bin_ns % SECOND == 0 && 3600 * SECOND / options.bin_ns < options.bins as i64);
    assert_eq!(LiveOptions::over(T0, T0 + 60 * SECOND), LiveOptions::default());
}

/// The numbers of the conditions that become true, each with the second at whose end it does.
fn judged(live: &Live, conditions: &[&str], seconds: i64) -> Vec<(i64, usize)> {
    let conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    let mut triggers = Triggers::new(conditions, T0 - 1);
    let mut fired = Vec::new();
    for second in 0..seconds {
        // Three seconds later all rows have come.
        let now_ns = T0 + (second + 4) * SECOND;
        fired.extend(triggers.judge(live, now_ns).into_iter().map(|number| (second, number)));
        assert!(triggers.judge(live, now_ns).is_empty(), "each second is judged once");
    }
    fired
}

#[test]
fn a_condition_comes_true_when_each_second_of_its_time_is_above_the_bound() {
    let mut live = Live::default();
    for second in 0..12 {
        let ms = if (3..6).contains(&second) || second >= 8 { 500 } else { 10 };
        live.take("wire", &batch((0..100).map(|_| request(second, "SELECT a FROM b", "c", ms))));
        live.take("wire", &batch((0..9).map(|_| request(second, "UPDATE b SET a = ?", "c", 2000))));
    }
    assert_eq!(
        judged(&live, &["p50(read) > 200ms for 3s", "p50(read) > 200ms for 4s"], 12),
        [(5, 0), (10, 0), (11, 0), (11, 1)]
    );
    let longest = ["max(read) > 600ms", "max(write) > 600ms", "max > 600ms"];
    // A request counts in the second of its answer.
    assert_eq!(judged(&live, &longest, 4), [(2, 1), (2, 2), (3, 1), (3, 2)]);
}

#[test]
fn conditions_are_about_errors_collections_pools_and_the_log() {
    let mut live = Live::default();
    let failed = |second, error| rows::WireRequest { error: Some(error), ..request(second, "INSERT", "c", 3) };
    live.take("wire", &batch([failed(0, "overloaded"), failed(1, "write_timeout"), failed(1, "read_timeout")]));
    assert_eq!(judged(&live, &["errors > 0", "errors > 1/s", "timeouts > 1/s"], 4), [(0, 0), (1, 0), (1, 1), (1, 2)]);
    let pause = |phase| rows::Pause {
        start_ns: T0 + 2 * SECOND,
        duration_ns: 3 * SECOND,
        node: "n",
        kind: "gc",
        phase,
        ..rows::Pause::default()
    };
    live.take("pauses", &batch([pause(None), pause(Some("mark"))]));
    // Three seconds of the last ten.
    assert_eq!(judged(&live, &["gc > 29% for 10s", "gc > 31%"], 14), [(11, 0)]);
    let pool = rows::PoolSample {
        time_ns: T0 + SECOND,
        node: "n",
        pool: "MutationStage",
        pending: 100,
        ..rows::PoolSample::default()
    };
    live.take("pools", &batch([pool]));
    let pending = ["pending(MutationStage) > 99", "pending(MutationStage) > 100", "pending(Other) > 0"];
    assert_eq!(judged(&live, &pending, 9), [(1, 0), (2, 0), (3, 0)]);
    let event = rows::NodeEvent {
        time_ns: T0 + SECOND,
        node: "n",
        kind: "tombstones",
        what: "Read 7 live rows and 90 Tombstone cells",
        ..rows::NodeEvent::default()
    };
    live.take("events", &batch([event]));
    assert_eq!(judged(&live, &["log(tombstone CELLS)", "log(overflow)"], 5), [(1, 0)]);
}

#[test]
fn what_a_machine_slept_through_is_not_judged() {
    let mut live = Live::default();
    for second in 0..3 {
        live.take("wire", &batch([request(second, "SELECT", "c", 500)]));
    }
    let mut triggers = Triggers::new(vec!["max > 1ms".parse().unwrap()], T0 - 1);
    assert_eq!(triggers.tables().into_iter().collect::<Vec<_>>(), ["wire"]);
    assert!(triggers.judge(&live, T0 + 3600 * SECOND).is_empty());
    live.take("wire", &batch([request(3600, "SELECT", "c", 500)]));
    assert!(!triggers.judge(&live, T0 + 3604 * SECOND).is_empty());
}

#[test]
fn each_node_of_a_ring_has_figures_of_its_own() {
    let mut live = Live::default();
    let (one, two) = ("127.0.0.1", "127.0.0.2");
    for second in 0..4 {
        let slow = rows::WireRequest { node: two, ..request(second, "SELECT", "10.0.0.1", 50) };
        // The second node comes after a second.
        let slow = (second > 0).then_some(slow);
        live.take("wire", &batch(slow.into_iter().chain([request(second, "INSERT", "10.0.0.1", 1)])));
        let pool = |node, pending| rows::PoolSample {
            time_ns: T0 + second * SECOND,
            node,
            pool: "ReadStage",
            completed: 1,
            pending,
            ..rows::PoolSample::default()
        };
        live.take("pools", &batch([pool(one, 0), pool(two, 7), pool("127.0.0.3", 0)]));
        let thread = |node, cpu_ns| rows::ThreadSample {
            time_ns: T0 + (second + 1) * SECOND,
            interval_ns: SECOND,
            node,
            process: "server",
            thread_group: "ReadStage",
            cpu_ns,
            ..rows::ThreadSample::default()
        };
        live.take("threads", &batch([thread(one, SECOND / 10), thread(two, SECOND / 2)]));
    }
    let gc =
        rows::Pause { start_ns: T0 + SECOND, duration_ns: SECOND, node: two, kind: "gc", ..rows::Pause::default() };
    live.take("pauses", &batch([gc]));
    // One stop, seen by the recorder and by the agent.
    let stall = |kind, ms: i64| rows::Stall {
        start_ns: T0 + 2 * SECOND,
        duration_ns: ms * 1_000_000,
        side: "server",
        node: two,
        kind,
        ..rows::Stall::default()
    };
    live.take("stalls", &batch([stall("stopped", 490), stall("watcher", 500)]));
    live.end();
    let all = window(0, 4);
    assert_eq!(live.series(all, 10, None).stall_ms_per_s, [0.0, 0.0, 500.0, 0.0]);
    let nodes = live.nodes(all);
    let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, [one, two, "127.0.0.3"]);
    assert_eq!((nodes[0].requests_per_s, nodes[1].requests_per_s, nodes[2].requests_per_s), (1.0, 0.75, 0.0));
    assert_eq!((nodes[0].cpus, nodes[1].cpus), (Some(0.1), Some(0.5)));
    assert_eq!((nodes[0].gc_share, nodes[1].gc_share), (0.0, 0.25));
    assert_eq!((nodes[1].fullest_pool.as_str(), nodes[1].most_pending), ("ReadStage", 7));
    let of_two = live.of_node(all, two).unwrap();
    assert_eq!(live.totals(of_two).requests, 3.0);
    let statements = live.traffic(of_two, LiveBy::Statement).rows;
    assert_eq!(statements.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["SELECT"]);
    assert_eq!(live.series(of_two, 10, None).requests_per_s, [0.0, 1.0, 1.0, 1.0]);
    assert!(live.slowest(of_two, None, 10).iter().all(|slow| slow.node == two));
    assert_eq!(live.groups(of_two).len(), 1);
    // Sums over nodes are those of the whole ring.
    assert_eq!(live.groups(all).iter().map(|group| group.cpus).sum::<f64>(), 0.6);
    assert_eq!(live.traffic(all, LiveBy::Statement).rows.iter().map(|row| row.requests).sum::<f64>(), 7.0);
    assert_eq!(live.of_node(all, "127.0.0.9"), None);
}

#[test]
fn the_figures_of_one_statement_are_its_own() {
    let mut live = Live::default();
    for second in 0..10 {
        live.take("wire", &batch([request(second, "SELECT", "10.0.0.1", 1), request(second, "INSERT", "10.0.0.2", 9)]));
    }
    let all = live.totals_of(window(0, 10), None);
    let inserts = live.totals_of(window(0, 10), Some((LiveBy::Statement, "INSERT")));
    assert_eq!((all.requests, inserts.requests, inserts.requests_per_s), (20.0, 10.0, 1.0));
    assert_eq!(inserts.latency_ms.max, Some(9.0));
    let of_client = live.totals_of(window(0, 10), Some((LiveBy::Client, "10.0.0.1")));
    assert_eq!((of_client.requests, of_client.latency_ms.max), (10.0, Some(1.0)));
    // Nobody sends it any more.
    assert_eq!(live.totals_of(window(0, 10), Some((LiveBy::Statement, "DELETE"))).requests, 0.0);
}

#[test]
fn a_loss_counts_as_serious_only_where_it_may_change_a_figure() {
    let mut live = Live::default();
    let source = |source, captured, lost| rows::SourceReport {
        time_ns: T0 + SECOND,
        source,
        captured,
        lost,
        ..rows::SourceReport::default()
    };
    live.take("sources", &batch([source("wire", 1_000_000, 1), source("stacks", 10, 90)]));
    let totals = live.totals(window(0, 10));
    let serious: Vec<(&str, bool)> = totals.sources.iter().map(|one| (one.source.as_str(), one.is_serious)).collect();
    assert_eq!(serious, [("stacks", true), ("wire", false)]);
}

#[test]
fn a_valve_that_was_removed_is_listed_no_longer() {
    let mut live = Live::default();
    let row = |second: i64, valve| rows::ValveWindow {
        time_ns: T0 + second * SECOND,
        interval_ns: SECOND,
        node: "127.0.0.1",
        valve,
        law: "fixed",
        state: "on",
        ..rows::ValveWindow::default()
    };
    for second in 0..60 {
        live.take("valves", &batch([row(second, "kept")]));
        if second < 30 {
            live.take("valves", &batch([row(second, "removed")]));
        }
    }
    let names =
        |from, to| -> Vec<String> { live.valves(window(from, to)).into_iter().map(|valve| valve.valve).collect() };
    assert_eq!(names(0, 60), ["kept"]);
    assert_eq!(names(0, 30), ["kept", "removed"]);
}
