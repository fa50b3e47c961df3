/*
 * Sums in two halves of a table: one is added to while the other is read, so that nothing is lost between. Included after
 * struct sum_key and struct sum are known.
 *
 * A thread looks up the index of its sum in a hash once per half, and keeps it in a few slots. Code that runs at every
 * call must touch little memory, most of which is not in a cache.
 */
#pragma once

/* Number of sums of one half. */
#define SUMS (1 << 16)
/* Number of slots; a power of two. */
#define SLOTS 64

/* Cached indices of a thread's sums: a guess that the sum itself confirms. */
struct slots {
	__u32 entry[SLOTS];
};

struct sum_entry {
	struct sum_key key;
	/* The generation of the half in which the sum was begun; it is invalid in another one. */
	__u32 turn;
	struct sum sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * SUMS);
	__type(key, __u32);
	__type(value, struct sum_entry);
} sums SEC(".maps");

struct sum_indices {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SUMS);
	__type(key, struct sum_key);
	__type(value, __u32);
};

struct sum_indices sum_indices_0 SEC(".maps");
struct sum_indices sum_indices_1 SEC(".maps");

/* How many sums of each half were begun, including those for which there was no space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} sums_begun SEC(".maps");

/* The number of the turn, which the reader counts up from 1; its last bit is the half that is added to. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sums_turn SEC(".maps");

static __always_inline bool is_sum_of(struct sum_entry *entry, struct sum_key *key, __u32 turn)
{
	__u32 *there = (__u32 *)&entry->key, *wanted = (__u32 *)key, differing = entry->turn ^ turn;

	_Static_assert(sizeof(struct sum_key) % 4 == 0, "compared by words");
#pragma unroll
	for (__u32 word = 0; word < sizeof(struct sum_key) / 4; word++)
		differing |= there[word] ^ wanted[word];
	return !differing;
}

/* The index of a key's sum in this generation; begins it if needed. 2 * SUMS if the table is full. */
static __noinline __u32 sum_index(struct sum_key *key, __u32 turn)
{
	__u32 half = turn & 1, *known, *begun, index;
	struct sum_entry *entry;
	void *indices;

	indices = half ? &sum_indices_1 : &sum_indices_0;
	known = bpf_map_lookup_elem(indices, key);
	if (known) {
		index = *known;
		entry = bpf_map_lookup_elem(&sums, &index);
		/* Otherwise the entry is of another generation. */
		if (entry && entry->turn == turn)
			return index;
	}
	begun = bpf_map_lookup_elem(&sums_begun, &half);
	if (!begun || *begun >= SUMS)
		return 2 * SUMS;
	index = __sync_fetch_and_add(begun, 1);
	if (index >= SUMS)
		return 2 * SUMS;
	index += half * SUMS;
	entry = bpf_map_lookup_elem(&sums, &index);
	if (!entry || bpf_map_update_elem(indices, key, &index, BPF_ANY))
		return 2 * SUMS;
	__builtin_memset(&entry->sum, 0, sizeof(entry->sum));
	entry->key = *key;
	entry->turn = turn;
	return index;
}

/*
 * The index of a key's sum, through the thread's slots if it has any. Not static, so that the verifier checks it once,
 * instead of on every path to it.
 */
__noinline __u32 sum_at(struct sum_key *key, struct slots *slots, __u32 slot)
{
	__u32 zero = 0, *turn = bpf_map_lookup_elem(&sums_turn, &zero), index;
	struct sum_entry *entry;

	if (!turn || !key)
		return 2 * SUMS;
	if (!slots)
		return sum_index(key, *turn);
	slot &= SLOTS - 1;
	index = slots->entry[slot];
	entry = bpf_map_lookup_elem(&sums, &index);
	if (entry && is_sum_of(entry, key, *turn))
		return index;
	index = sum_index(key, *turn);
	slots->entry[slot] = index;
	return index;
}

/* The sum of a key, to which only this caller may add meanwhile; NULL if the table is full. */
static __always_inline struct sum *sum_of(struct sum_key *key, struct slots *slots, __u32 slot)
{
	__u32 index = sum_at(key, slots, slot);
	struct sum_entry *entry = bpf_map_lookup_elem(&sums, &index);

	return entry ? &entry->sum : 0;
}
