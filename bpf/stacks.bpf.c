/*
 * Takes the stacks of the threads of some processes at every tick of a CPU's clock that meets one of them running. A sample
 * goes whole through the ring buffer: a table of stacks in the kernel would mix those up whose hashes collide, and the
 * reader has to know each stack anyway.
 *
 * Alternatively, the program sends the thread a signal of the profiler, which unwinds the stack better than frame
 * pointers do when the thread leaves the kernel. Then only kernel frames are taken here.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "stacks.h"
#include "losses.h"

/* The kernel's number for the stack of the process, among the flags of bpf_get_stack. */
#define BPF_F_USER_STACK (1ULL << 8)

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} records SEC(".maps");

/* Buffer for a sample, which does not fit on a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample);
} rooms SEC(".maps");

const volatile struct settings settings SEC(".rodata.settings") = {};

/**
 * Whether the process handles the signal. Without a handler, for example after executing another program, the signal
 * would end the process.
 */
static __always_inline bool is_handled(__u32 signal)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct sighand_struct *sighand = BPF_CORE_READ(task, sighand);
	void *actions = (void *)__builtin_preserve_access_index(&sighand->action);
	/* Use the kernel's size of an entry, not the size of the part that is declared here. */
	struct k_sigaction *action = actions + (signal - 1) * bpf_core_type_size(struct k_sigaction);

	/* Neither SIG_DFL nor SIG_IGN. */
	return (__u64)BPF_CORE_READ(action, sa.sa_handler) > 1;
}

SEC("perf_event")
int tick(void *ctx)
{
	__u64 ids = bpf_get_current_pid_tgid();
	__u32 tgid = ids >> 32, zero = 0;
	struct process *process;
	struct sample *sample;
	__u64 bytes;
	long got;

	/* The idle threads have pid 0. */
	if (!tgid)
		return 0;
	process = process_of(tgid);
	if (!process)
		return 0;
	if (settings.signal && (!is_handled(settings.signal) || bpf_send_signal_thread(settings.signal))) {
		lose(process->index, LOST_SIGNAL);
		return 0;
	}
	sample = bpf_map_lookup_elem(&rooms, &zero);
	if (!sample)
		return 0;
	sample->head.time_ns = bpf_ktime_get_ns();
	sample->head.tid = (__u32)ids;
	sample->head.process = process->index;
	bpf_get_current_comm(sample->head.name, sizeof(sample->head.name));

	got = settings.signal ? 0 : bpf_get_stack(ctx, sample->frames, USER_FRAMES * sizeof(__u64), BPF_F_USER_STACK);
	/* A thread that is ending has no memory any more. The verifier needs this bound. */
	bytes = got > 0 && got <= USER_FRAMES * sizeof(__u64) ? got : 0;
	sample->head.user_frames = bytes / sizeof(__u64);
	/* There are no kernel frames if the tick came outside of the kernel. */
	got = bpf_get_stack(ctx, (void *)sample->frames + bytes, KERNEL_FRAMES * sizeof(__u64), 0);
	got = got > 0 && got <= KERNEL_FRAMES * sizeof(__u64) ? got : 0;
	sample->head.kernel_frames = got / sizeof(__u64);
	bytes += sizeof(sample->head) + got;
	if (bytes > sizeof(*sample))
		return 0;
	if (bpf_ringbuf_output(&records, sample, bytes, BPF_RB_NO_WAKEUP))
		lose(process->index, LOST_RING);
	return 0;
}
