//! Why the slow requests of a recording were slow: SQL over recordings, the findings, and the figures of the report.
//!
//! ```text
//! Recording ─▶ Engine (SQL) ─▶ Evidence ─▶ findings ─▶ Explanation ─┐
//!                  ├──────────────────────────────────▶ Report ◀────┘
//!                  └─▶ runs of variants ─▶ Comparison ────┘
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod advice;
mod anatomy;
mod answer;
mod association;
mod command;
mod compaction_options;
mod compare;
mod cql;
mod engine;
mod error;
mod evidence;
mod explanation;
mod export;
mod findings;
mod flame;
mod gc;
mod io;
mod live;
mod options;
mod percentiles;
mod query;
mod random;
mod report;
mod requests;
mod severity;
mod spectrogram;
mod sstables;
mod statements;
mod tables;
mod text;
mod threads;
mod timeline;
mod traffic;
mod workbench;
mod workloads;

pub use advice::{Advice, AdviceReport, Evidence as AdviceEvidence, NotChecked, advise, by_reason, rules_as_markdown};
pub use anatomy::{Knee, Limit, Phase, Resource, Step};
pub use association::Association;
pub use command::{Command, filled_in};
pub use compare::{
    Better, CompareOptions, Comparison, FigureChange, FrameChange, METRICS, MeasuredRun, Metric, READ_METRICS, Ratio,
    SettingChange, Side, StatementChange, StatementRate, Verdict, WindowChanges, compare, judge, judge_reads,
    window_changes,
};
pub use engine::{Batches, Engine, Provider, RECORDING_COLUMN, limit_spill_files, memory_left_bytes};
pub use error::Error;
pub use evidence::{FullPool, Usage};
pub use explanation::{Explanation, JudgedWindow, MissingData, explain, judge_requests};
pub use export::{ExportFormat, ExportOptions, Exported, export};
pub use findings::{Claim, Finding, contradictions};
pub use flame::{Flame, FlameNode, FlameOptions, FlameTree};
pub use gc::{GcFigures, NodeGc, gc};
pub use io::{FileIo, Io, MappedReads, StatementIo, TableIo, Traffic};
pub use live::{
    BadCondition, Condition, Live, LiveBy, LiveCpu, LiveDisk, LiveDropped, LiveEvent, LiveFile, LiveGroup,
    LiveGroupSeries, LiveHeat, LiveNode, LiveOptions, LiveOutcome, LiveOverlap, LivePause, LivePool, LivePressure,
    LiveSeries, LiveSlow, LiveSource, LiveTable, LiveTotals, LiveTraffic, LiveTrafficRow, LiveValve, LiveView,
    LiveWindow, Triggers,
};
pub use options::{Options, SlowThreshold};
pub use percentiles::Percentiles;
pub use report::{Report, ReportFinding};
pub use severity::Severity;
pub use spectrogram::{
    Area, Event, Of, Selection, SourceLoss, Spectrogram, SpectrogramFilter, Total, TotalsBy, Traces, highest_ns,
};
pub use sstables::{Sstable, SstableGroup, sstable_groups, sstables};
pub use statements::{Select, selects};
pub use tables::{TableHealth, tables};
pub use text::time_of_day;
pub use traffic::{
    ClientFigures, LatencyCell, PartitionFigures, PartitionMeasure, PartitionTraffic, SAMPLED, SharedValue,
    SharedValues, SlowRequest, StatementDetail, StatementFigures, TableSkew, TrafficFigures, TrafficFilter,
    TrafficTable, client_traffic, partition_traffic, shared_values, slowest_requests, statement_detail,
    statement_traffic,
};
pub use workbench::{
    Answer, Controlled, Controls, Happened, Listed, LiveFindings, Queried, Saved, Schema, SettingChoice, SettingNow,
    SourceChoice, happened, query, schema, window,
};
