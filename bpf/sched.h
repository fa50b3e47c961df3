/*
 * The interface of the programs in sched.bpf.c and the reader in crates/observe/src/sched/. The reader's side of it
 * is sched/records.rs; the two change together.
 */
#pragma once
#include "process.h"

#define NAME_BYTES 16
#define FRAMES 32

struct settings {
	/* Off-CPU times shorter than this get no record. */
	__u64 off_cpu_above_ns;
	__u32 stacks;
	/* Whether the switch event has the thread's previous state, as since Linux 5.18. */
	__u32 tells_state;
};

enum lost {
	LOST_RING,
	LOST_THREADS,
	LOST_SUMS,
	/* A thread was switched in or out, and no program was run for that. */
	LOST_SWITCH,
	LOST_REASONS,
};

enum record {
	RECORD_OFF_CPU,
	RECORD_OFF_CPU_WITH_STACK,
	RECORD_THREAD,
};

enum reason {
	REASON_PREEMPTED,
	REASON_BLOCKED,
	REASON_DISK,
	REASON_UNINTERRUPTIBLE,
	REASON_STOPPED,
};

struct record_head {
	__u8 record;
	__u8 process;
	/* Reason of an off-CPU time. */
	__u8 reason;
	__u8 filler;
	__u32 tid;
};

/* A thread of any process. */
struct other {
	/* Thread id; 0 in an interrupt, or if unknown. */
	__u32 tid;
	__u32 tgid;
	char name[NAME_BYTES];
};

struct off_cpu_record {
	struct record_head head;
	__u64 start_ns;
	__u64 duration_ns;
	__u64 run_queue_ns;
	__u32 from_cpu;
	__u32 to_cpu;
	/* The thread that got the CPU of a preempted thread, or that woke any other. */
	struct other by;
};

struct stack {
	/* How many bytes of `frames` are filled. */
	__u64 bytes;
	__u64 frames[FRAMES];
};

struct off_cpu_with_stack_record {
	struct off_cpu_record off_cpu;
	struct stack stack;
};

struct thread_record {
	struct record_head head;
	char name[NAME_BYTES];
};

enum sum_kind {
	/* Run-queue delays: `first` is the cause, `second` the bin. */
	SUM_DELAY,
	/* Migrations: from the CPU `first` to the CPU `second`. */
	SUM_MIGRATION,
};

enum after {
	AFTER_WAKEUP,
	AFTER_PREEMPTION,
};

struct sum_key {
	__u32 tid;
	__u8 process;
	__u8 kind;
	__u16 first;
	/* For a bin of delays: 0 is 0 ns, n is from 2^(n-1) to below 2^n. */
	__u16 second;
	__u16 filler;
};

struct sum {
	__u64 count;
	__u64 total_ns;
};
