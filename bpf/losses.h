/*
 * Losses of a source, by process and reason. Included after enum lost is known.
 */
#pragma once
#include "process.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROCESSES * LOST_REASONS);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

/* Counts a lost event of the process with this index. */
static __always_inline void lose(__u32 process, enum lost reason)
{
	__u32 key = process * LOST_REASONS + reason;
	__u64 *lost = bpf_map_lookup_elem(&losses, &key);

	if (lost)
		*lost += 1;
}
