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
	/* Number of programs executed while watched: each execution changes the descriptors. */
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

/* Not static, so that the verifier checks it once, instead of at each call with all code that follows. */
__noinline __u32 place_of_process(__u32 tgid)
{
	__u32 zero = 0;
	struct followed *followed = bpf_map_lookup_elem(&processes, &zero);

	if (!followed)
		return PROCESSES;
	for (__u32 place = 0; place < PROCESSES; place++) {
		if (place >= followed->count)
			return PROCESSES;
		if (followed->processes[place].tgid == tgid)
			return place;
	}
	return PROCESSES;
}

static __always_inline struct process *process_of(__u32 tgid)
{
	__u32 zero = 0, place = place_of_process(tgid);
	struct followed *followed;

	if (place >= PROCESSES)
		return 0;
	followed = bpf_map_lookup_elem(&processes, &zero);
	return followed ? &followed->processes[place] : 0;
}
