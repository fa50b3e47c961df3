/*
 * The processes that the programs of a source follow. Written by the recorder (crates/observe/src/ebpf/process.rs).
 */
#pragma once

#define PROCESSES 64

struct process {
	/* The index of the process. */
	__u32 index;
	/* How many programs it has executed while watched: its descriptors are other ones then. */
	__u32 generation;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES);
	__type(key, __u32);
	__type(value, struct process);
} processes SEC(".maps");
