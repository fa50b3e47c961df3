//! The tables of a processed profile.

use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Serialize)]
pub(super) struct Profile {
    pub(super) meta: Value,
    pub(super) libs: [(); 0],
    pub(super) shared: Shared,
    pub(super) threads: Vec<Thread>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shared {
    pub(super) stack_table: StackTable,
    pub(super) frame_table: FrameTable,
    pub(super) func_table: FuncTable,
    pub(super) resource_table: Value,
    pub(super) native_symbols: Value,
    pub(super) sources: Value,
    pub(super) string_array: Vec<String>,
    #[serde(skip)]
    pub(super) strings: HashMap<String, usize>,
    #[serde(skip)]
    pub(super) frames: HashMap<(usize, usize, usize), usize>,
    #[serde(skip)]
    pub(super) stacks: HashMap<(Option<usize>, usize), usize>,
}

#[derive(Default, Serialize)]
pub(super) struct StackTable {
    pub(super) frame: Vec<usize>,
    pub(super) prefix: Vec<Option<usize>>,
    pub(super) length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTable {
    pub(super) address: Vec<i64>,
    pub(super) inline_depth: Vec<u8>,
    pub(super) category: Vec<usize>,
    pub(super) subcategory: Vec<usize>,
    pub(super) func: Vec<usize>,
    pub(super) native_symbol: Vec<Option<usize>>,
    #[serde(rename = "innerWindowID")]
    pub(super) inner_window_id: Vec<Option<usize>>,
    pub(super) line: Vec<Option<usize>>,
    pub(super) column: Vec<Option<usize>>,
    pub(super) length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FuncTable {
    pub(super) name: Vec<usize>,
    #[serde(rename = "isJS")]
    pub(super) is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    pub(super) relevant_for_js: Vec<bool>,
    pub(super) resource: Vec<i64>,
    pub(super) source: Vec<Option<usize>>,
    pub(super) line_number: Vec<Option<usize>>,
    pub(super) column_number: Vec<Option<usize>>,
    pub(super) length: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    pub(super) process_type: &'static str,
    pub(super) process_name: String,
    pub(super) process_startup_time: f64,
    pub(super) process_shutdown_time: Option<f64>,
    pub(super) register_time: f64,
    pub(super) unregister_time: Option<f64>,
    pub(super) paused_ranges: [(); 0],
    pub(super) show_markers_in_timeline: bool,
    pub(super) name: String,
    pub(super) is_main_thread: bool,
    pub(super) pid: String,
    pub(super) tid: String,
    pub(super) samples: SampleTable,
    pub(super) markers: MarkerTable,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SampleTable {
    pub(super) stack: Vec<Option<usize>>,
    pub(super) time: Vec<f64>,
    pub(super) weight: Vec<f64>,
    pub(super) weight_type: &'static str,
    /// CPU time since the previous sample, in ns; empty for weights of other units.
    #[serde(rename = "threadCPUDelta", skip_serializing_if = "Option::is_none")]
    pub(super) cpu_ns: Option<Vec<i64>>,
    pub(super) length: usize,
    /// Time of the last sample, since the profile's start.
    #[serde(skip)]
    pub(super) last_ns: i64,
}

impl SampleTable {
    pub(super) fn add(&mut self, stack: Option<usize>, (at_ns, cpu_ns): (i64, i64), weight: f64) {
        self.stack.push(stack);
        self.time.push(at_ns as f64 / 1e6);
        self.weight.push(weight);
        self.cpu_ns.iter_mut().for_each(|deltas| deltas.push(cpu_ns));
        self.length += 1;
        self.last_ns = at_ns;
    }

    /// The profiler spreads a sample's CPU time over the time since the previous sample. CPU samples are taken only
    /// while a thread runs, so the thread was idle before the time that the sample covers. Gaps shorter than half of
    /// that time are ignored.
    pub(super) fn add_idle(&mut self, at_ns: i64, weight: i64) {
        let busy_ns = at_ns.saturating_sub(weight).max(0);
        let is_gap = busy_ns.saturating_sub(self.last_ns) > weight / 2;
        if self.cpu_ns.is_some() && (self.length == 0 || is_gap) {
            self.add(None, (busy_ns, 0), 0.0);
        }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MarkerTable {
    pub(super) data: Vec<Value>,
    pub(super) name: Vec<usize>,
    pub(super) start_time: Vec<f64>,
    pub(super) end_time: Vec<f64>,
    pub(super) phase: Vec<u8>,
    pub(super) category: Vec<usize>,
    pub(super) length: usize,
}

/// The value in the table of markers that stands for a marker with a beginning and an end.
pub(super) const INTERVAL: u8 = 1;

impl Shared {
    pub(super) fn string(&mut self, text: &str) -> usize {
        if let Some(number) = self.strings.get(text) {
            return *number;
        }
        self.string_array.push(text.to_string());
        self.strings.insert(text.to_string(), self.string_array.len() - 1);
        self.string_array.len() - 1
    }

    pub(super) fn frame(&mut self, name: &str, (category, part): (usize, usize)) -> usize {
        let name = self.string(name);
        if let Some(frame) = self.frames.get(&(name, category, part)) {
            return *frame;
        }
        let (frames, functions) = (&mut self.frame_table, &mut self.func_table);
        functions.name.push(name);
        functions.is_js.push(false);
        functions.relevant_for_js.push(false);
        functions.resource.push(-1);
        functions.source.push(None);
        functions.line_number.push(None);
        functions.column_number.push(None);
        functions.length += 1;
        frames.address.push(-1);
        frames.inline_depth.push(0);
        frames.category.push(category);
        frames.subcategory.push(part);
        frames.func.push(functions.length - 1);
        frames.native_symbol.push(None);
        frames.inner_window_id.push(None);
        frames.line.push(None);
        frames.column.push(None);
        frames.length += 1;
        self.frames.insert((name, category, part), frames.length - 1);
        frames.length - 1
    }

    /// The index of the stack that extends the stack `prefix` by the callee `frame`.
    pub(super) fn stack(&mut self, prefix: Option<usize>, frame: usize) -> usize {
        let table = &mut self.stack_table;
        *self.stacks.entry((prefix, frame)).or_insert_with(|| {
            table.frame.push(frame);
            table.prefix.push(prefix);
            table.length += 1;
            table.length - 1
        })
    }
}
