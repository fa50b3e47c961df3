/*
 * Two tables of sums: one is added to while the other is read and emptied, so that nothing is lost between. Included after
 * struct sum_key and struct sum are known.
 */
#pragma once

struct sums {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct sum_key);
	__type(value, struct sum);
};

struct sums sums_0 SEC(".maps");
struct sums sums_1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} added_to SEC(".maps");

/* The sum of a key in the table that is added to now; none where that is full. */
static __always_inline struct sum *sum_of(struct sum_key *key)
{
	__u32 zero = 0;
	__u32 *second = bpf_map_lookup_elem(&added_to, &zero);
	struct sum *sum, none = {};
	void *sums;

	if (!second)
		return 0;
	sums = *second ? &sums_1 : &sums_0;
	sum = bpf_map_lookup_elem(sums, key);
	if (!sum) {
		bpf_map_update_elem(sums, key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(sums, key);
	}
	return sum;
}
