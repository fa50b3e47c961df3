/*
 * The output of the program in threads.bpf.c for its reader in crates/observe/src/threads/kernel.rs; the two change together.
 */
#pragma once

#define NAME_BYTES 16

struct settings {
	/* The process whose threads are wanted. */
	__u32 tgid;
};

/* A thread's counters since it began. */
struct thread_record {
	__u32 tid;
	/* Whether the kernel has run_queue_ns. */
	__u32 knows_run_queue;
	__u64 cpu_ns;
	__u64 run_queue_ns;
	__u64 migrations;
	__u64 voluntary_switches;
	__u64 involuntary_switches;
	char name[NAME_BYTES];
};
