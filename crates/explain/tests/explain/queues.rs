//! Requests that waited for a thread of the node, and requests that timed out.

use crate::traffic::{ORDERS, SECONDS, Sent, explained, record_beside};
use crate::world::{MS, NODE, S, T0};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use helenus_explain::{Engine, Provider, Severity};
use helenus_recording::{Recorder, rows};
use std::cell::{Cell, RefCell};

/// The node has one thread, which each request holds until it is answered.
fn one_at_a_time() -> impl Fn(&mut Sent) {
    let free_ns = Cell::new(0);
    move |sent| {
        let work_ns = if sent.number % 331 == 0 { 60 * MS } else { 300_000 };
        let done_ns = sent.at.max(free_ns.get()) + work_ns;
        free_ns.set(done_ns);
        sent.duration_ns = done_ns - sent.at;
    }
}

/// Samples that see the thread at work, and nothing waiting.
fn one_thread(recorder: &Recorder) {
    for second in 1..SECONDS {
        recorder.append(rows::PoolSample {
            time_ns: T0 + second * S,
            node: NODE,
            pool: "Native-Transport-Requests",
            kind: "transport",
            active: 1,
            max_size: Some(1),
            ..rows::PoolSample::default()
        });
    }
}

/// With one thread, each request that takes long keeps those behind it waiting. The pool's samples show none of it.
#[test]
fn a_queue_before_a_thread_is_seen_though_samples_miss_it() {
    let (recording, _folder) = record_beside(7, one_at_a_time(), one_thread);
    let explanation = explained(&recording);
    let top = &explanation.findings[0];
    assert_eq!(top.finding, "pool-queue", "{explanation}");
    assert!(top.severity > Severity::Information && top.next.contains("native_transport_max_threads"), "{top:?}");
    let engine = Engine::open(&[recording]).unwrap();
    let rows = engine.sql(&top.query).unwrap();
    let in_node = rows.batches()[0].column_by_name("in_node").unwrap().as_primitive::<Int64Type>().value(0);
    assert!(top.detail.contains(&format!("Up to {} tasks waited", in_node - 1)), "{}\n{}", top.detail, top.query);
}

/// The times of our own driver are its own. The queue is on the wire.
#[test]
fn a_queue_before_a_thread_is_seen_for_the_driver_too() {
    let (with_queue, sent) = (one_at_a_time(), RefCell::new(Vec::new()));
    let change = |one: &mut Sent| {
        with_queue(one);
        sent.borrow_mut().push(*one);
    };
    let (recording, _folder) = record_beside(7, change, |recorder| {
        one_thread(recorder);
        for one in sent.borrow().iter() {
            recorder.append(rows::Request {
                intended_start_ns: T0 + one.at - MS / 10,
                start_ns: T0 + one.at - MS / 10,
                end_ns: T0 + one.at + one.duration_ns + MS / 10,
                node: NODE,
                operation: "read",
                outcome: "ok",
                ..rows::Request::default()
            });
        }
    });
    let explanation = explained(&recording);
    assert_eq!(explanation.provider, Provider::Load);
    assert_eq!(explanation.findings[0].finding, "pool-queue", "{explanation}");
}

/// Requests that fail because of a setting come before slow ones, and the setting is named.
#[test]
fn timeouts_that_are_too_short_are_told_with_their_setting() {
    let cut_short = |sent: &mut Sent| {
        if sent.number % 33 == 0 {
            (sent.statement, sent.duration_ns) = (ORDERS, 30 * MS + sent.duration_ns);
            if sent.number % 5 == 0 {
                (sent.duration_ns, sent.error) = (40 * MS, Some("read_timeout"));
            }
        }
    };
    let explanation = |limit: &'static str| {
        let (recording, _folder) = record_beside(7, cut_short, |recorder| {
            for setting in ["read_request_timeout", "range_request_timeout", "write_request_timeout"] {
                let value = if setting.starts_with("read") { limit } else { "10000ms" };
                recorder.append(rows::Setting { time_ns: T0, node: NODE, setting, value, source: "jmx" });
            }
            recorder.append(rows::TableSample {
                time_ns: T0 + 15 * S,
                node: NODE,
                keyspace: "shop",
                table_name: "orders",
                ..rows::TableSample::default()
            });
            for (second, timeouts) in [(0, 0), (15, 60)] {
                for scope in ["Read", "RangeSlice", "Write"] {
                    recorder.append(rows::NodeMetric {
                        time_ns: T0 + second * S,
                        node: NODE,
                        kind: "ClientRequest",
                        scope,
                        metric: "Timeouts",
                        attribute: "Count",
                        value: if scope == "Read" { timeouts } else { 0 },
                    });
                }
            }
        });
        explained(&recording)
    };
    let short = explanation("40ms");
    let top = &short.findings[0];
    assert_eq!(top.finding, "errors", "{short}");
    assert!(top.detail.contains("read_request_timeout is 40 ms"), "{}", top.detail);
    assert!(top.next.contains("nodetool settimeout read"), "{}", top.next);
    assert!(short.answer.contains("Next: Give these requests more time"), "{}", short.answer);
    let usual = explanation("5000ms");
    assert_eq!(usual.findings[0].finding, "in-common", "{usual}");
}
