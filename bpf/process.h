/*
 * The processes that the programs of a source follow. Written by the recorder (crates/observe/src/ebpf/process.rs).
 *
 * Every call and every switch asks whose it is, and mostly there are one or two to compare with: a list is faster than a
 * hash.
 */
#pragma once

#define PROCESSES 64

struct process {
	__u32 tgid;
	/* How many programs it has executed while watched: its descriptors are other ones then. */
	__u32 generation;
	/* The index of the process. */
	__u32 index;
};

struct followed {
	__u32 count;
	struct process processes[PROCESSES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct followed);
} processes SEC(".maps");

static __always_inline struct process *process_of(__u32 tgid)
{
	__u32 zero = 0;
	struct followed *followed = bpf_map_lookup_elem(&processes, &zero);

	if (!followed)
		return 0;
	for (__u32 i = 0; i < PROCESSES; i++) {
		if (i >= followed->count)
			return 0;
		if (followed->processes[i].tgid == tgid)
			return &followed->processes[i];
	}
	return 0;
}
