/*
 * Adds up what the threads of some processes have the kernel read from disks, by file: every page that they make it take into
 * the page cache, whether they touch mapped memory or call. A page that is there already is no event.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "calls.h"
#include "page_cache.h"
#include "losses.h"
#include "sums.h"

#define THREADS 16384

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct settings settings SEC(".rodata.settings") = {};

/* The number of faults of a thread when it last added a page, plus 1. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u32);
	__type(value, __u64);
} faults SEC(".maps");

/* Whether this is the first page of its fault. The kernel counts a fault when it is over. */
static __always_inline bool is_new_fault(struct task_struct *task, __u32 tid)
{
	__u64 now = task->min_flt + task->maj_flt + 1;
	__u64 *before = bpf_map_lookup_elem(&faults, &tid);

	if (before && *before == now)
		return 0;
	bpf_map_update_elem(&faults, &tid, &now, BPF_ANY);
	return 1;
}

SEC("tp/filemap/mm_filemap_add_to_page_cache")
int taken(struct trace_event_raw_mm_filemap_op_page_cache *page)
{
	__u64 ids = bpf_get_current_pid_tgid();
	__u32 tgid = ids >> 32;
	struct process *process = process_of(tgid);
	struct task_struct *task;
	struct sum_key key = {};
	struct sum *sum;
	__u64 bytes;
	int call;

	if (!process)
		return 0;
	task = bpf_get_current_task_btf();
	call = call_of(task);
	if (call >= 0 && call < CALLS && settings.writes[call])
		return 0;
	bytes = settings.page_bytes;
	if (bpf_core_field_exists(page->order))
		bytes <<= page->order & 31;
	key.inode = page->i_ino;
	key.device = page->s_dev;
	key.tid = (__u32)ids;
	key.process = process->index;
	key.how = call < 0 ? HOW_MAPPING : HOW_CALL;
	bpf_get_current_comm(key.name, sizeof(key.name));
	/* Each sum belongs to one thread, whose events follow each other. */
	sum = sum_of(&key, 0, 0);
	if (!sum) {
		lose(process->index, LOST_SUMS);
		return 0;
	}
	sum->bytes += bytes;
	if (key.how == HOW_MAPPING && is_new_fault(task, key.tid))
		sum->faults += 1;
	return 0;
}
