/*
 * Follows how the threads of some processes come onto CPUs and off them: times off the CPU as records in a ring buffer,
 * delays before running and moves between CPUs added up in a table.
 *
 * All of this runs while the kernel switches threads, with the lock of a CPU's run queue held. So the programs allocate
 * no memory: every table is preallocated.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bins.h"
#include "calls.h"
#include "sched.h"
#include "losses.h"
#include "sums.h"

/* States of a thread, as the kernel has them: the same numbers since Linux 4.14. */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED 0x4
#define TASK_TRACED 0x8
#define TASK_DEAD 0x80

/* Flag of a thread that belongs to the kernel itself. */
#define PF_KTHREAD 0x00200000

#define THREADS 16384
/* Number of slots; a power of two. */
#define NEAR_THREADS 8192

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct settings settings SEC(".rodata.settings") = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} records SEC(".maps");

struct thread {
	/* When, where and why it left its CPU; 0 while it is on a CPU, or if it left before it was followed. */
	__u64 off_ns;
	/* When it became ready to run; 0 if it is running or not ready. */
	__u64 ready_ns;
	__u32 cpu;
	__u8 reason;
	/* Whether the reader knows the thread's name. */
	__u8 named;
	__u8 seen;
	__u8 filler;
	/* The thread that took its CPU, or that woke it since it ran. */
	struct other by;
	struct slots sums;
};

/* The last known state of a thread. */
enum seen {
	SEEN_NEVER,
	SEEN_ON,
	SEEN_OFF,
};

/* A direct-mapped table: thread ids of a process are mostly consecutive, so most threads need no hash lookup. */
struct near_thread {
	/* Thread id of the slot; 0 for a free slot, whose other fields are 0 as well. */
	__u32 tid;
	struct thread thread;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NEAR_THREADS);
	__type(key, __u32);
	__type(value, struct near_thread);
} near_threads SEC(".maps");

/* Threads whose slot in the direct-mapped table is used by another thread. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u32);
	__type(value, struct thread);
} far_threads SEC(".maps");

/* Kernel stacks at switches off the CPU, if they are requested. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u32);
	__type(value, struct stack);
} stacks SEC(".maps");

/* Each sum belongs to one thread, and the kernel's lock serializes the thread's events. */
static __always_inline void add_up(struct process *process, struct thread *thread, struct sum_key *key, __u64 total_ns)
{
	struct sum *sum = sum_of(key, &thread->sums, key->kind + 32 * key->first + key->second);

	if (!sum) {
		lose(process->index, LOST_SUMS);
		return;
	}
	sum->count += 1;
	sum->total_ns += total_ns;
}

static __always_inline bool tell_name(struct process *process, __u32 tid, const char *name)
{
	struct thread_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record)
		return 0;
	record->head.record = RECORD_THREAD;
	record->head.process = process->index;
	record->head.reason = 0;
	record->head.filler = 0;
	record->head.tid = tid;
	__builtin_memset(record->name, 0, sizeof(record->name));
	bpf_probe_read_kernel_str(record->name, sizeof(record->name), name);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 1;
}

static __always_inline struct near_thread *near_thread(__u32 tid)
{
	__u32 place = tid & (NEAR_THREADS - 1);

	return bpf_map_lookup_elem(&near_threads, &place);
}

/* The state of a thread, if it is known. */
static __always_inline struct thread *known_thread(__u32 tid)
{
	struct near_thread *near = near_thread(tid);

	return near && near->tid == tid ? &near->thread : bpf_map_lookup_elem(&far_threads, &tid);
}

static __noinline struct thread *new_thread(__u32 tid)
{
	struct near_thread *near = near_thread(tid);
	struct thread none = {};

	if (near && __sync_val_compare_and_swap(&near->tid, 0, tid) == 0)
		return &near->thread;
	bpf_map_update_elem(&far_threads, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&far_threads, &tid);
}

static __always_inline void forget_thread(__u32 tid)
{
	struct near_thread *near = near_thread(tid);

	if (near && near->tid == tid) {
		__builtin_memset(&near->thread, 0, sizeof(near->thread));
		near->tid = 0;
	} else {
		bpf_map_delete_elem(&far_threads, &tid);
	}
}

/* The state of a thread, whose name the reader knows from here on. */
static __always_inline struct thread *thread_of(struct process *process, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct thread *thread = known_thread(tid);

	if (!thread)
		thread = new_thread(tid);
	if (!thread) {
		lose(process->index, LOST_THREADS);
		return 0;
	}
	if (!thread->named)
		thread->named = tell_name(process, tid, task->comm);
	return thread;
}

static __always_inline unsigned int state_of(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

static __always_inline enum reason reason_of(struct task_struct *task, bool preempted, unsigned int state)
{
	/* A thread that yields stays ready as well, and cannot be distinguished. */
	if (preempted || !(state & 0xff))
		return REASON_PREEMPTED;
	if (state & (TASK_STOPPED | TASK_TRACED))
		return REASON_STOPPED;
	if (state & TASK_UNINTERRUPTIBLE)
		return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? REASON_DISK : REASON_UNINTERRUPTIBLE;
	return REASON_BLOCKED;
}

static __always_inline void keep_stack(void *ctx, __u32 tid)
{
	struct stack *stack = bpf_map_lookup_elem(&stacks, &tid);
	long bytes;

	if (!stack) {
		struct stack none = {};

		bpf_map_update_elem(&stacks, &tid, &none, BPF_NOEXIST);
		stack = bpf_map_lookup_elem(&stacks, &tid);
		if (!stack)
			return;
	}
	bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), 0);
	stack->bytes = bytes > 0 ? bytes : 0;
}

/* A thread leaves its CPU to another thread. */
static __always_inline void leave(void *ctx, struct process *process, struct task_struct *task, struct task_struct *to,
				  bool preempted, unsigned int state, __u64 now_ns)
{
	struct thread *thread;
	__u32 tid = task->pid;

	if (!preempted && state & TASK_DEAD) {
		thread = known_thread(tid);
		/* The thread was scheduled in only to exit, and no event reported that. */
		if (thread && thread->seen == SEEN_OFF)
			lose(process->index, LOST_SWITCH);
		forget_thread(tid);
		if (settings.stacks)
			bpf_map_delete_elem(&stacks, &tid);
		return;
	}
	thread = thread_of(process, task);
	if (!thread)
		return;
	if (thread->seen == SEEN_OFF)
		lose(process->index, LOST_SWITCH);
	thread->seen = SEEN_OFF;
	thread->reason = reason_of(task, preempted, state);
	thread->cpu = bpf_get_smp_processor_id();
	/* A thread that goes to sleep may be woken before it has left the CPU. */
	if (thread->reason == REASON_PREEMPTED) {
		thread->by.tid = to->pid;
		thread->by.tgid = to->tgid;
		bpf_probe_read_kernel_str(thread->by.name, sizeof(thread->by.name), to->comm);
	}
	if (settings.stacks)
		keep_stack(ctx, tid);
	thread->off_ns = now_ns;
	thread->ready_ns = thread->reason == REASON_PREEMPTED ? thread->off_ns : 0;
}

static __always_inline void fill(struct off_cpu_record *record, __u8 kind, struct process *process, __u32 tid,
				 struct thread *thread, __u64 now_ns)
{
	record->head.record = kind;
	record->head.process = process->index;
	record->head.reason = thread->reason;
	record->head.filler = 0;
	record->head.tid = tid;
	record->start_ns = thread->off_ns;
	record->duration_ns = now_ns - thread->off_ns;
	record->run_queue_ns = thread->ready_ns ? now_ns - thread->ready_ns : 0;
	record->from_cpu = thread->cpu;
	record->to_cpu = bpf_get_smp_processor_id();
	record->by = thread->by;
}

static __always_inline void tell_off_cpu(struct process *process, __u32 tid, struct thread *thread, __u64 now_ns)
{
	struct off_cpu_record *record;

	if (settings.stacks) {
		struct stack *stack = bpf_map_lookup_elem(&stacks, &tid);

		if (stack && stack->bytes) {
			struct off_cpu_with_stack_record *with = bpf_ringbuf_reserve(&records, sizeof(*with), 0);

			if (!with) {
				lose(process->index, LOST_RING);
				return;
			}
			fill(&with->off_cpu, RECORD_OFF_CPU_WITH_STACK, process, tid, thread, now_ns);
			__builtin_memcpy(&with->stack, stack, sizeof(*stack));
			bpf_ringbuf_submit(with, BPF_RB_NO_WAKEUP);
			return;
		}
	}
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		lose(process->index, LOST_RING);
		return;
	}
	fill(record, RECORD_OFF_CPU, process, tid, thread, now_ns);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* A thread gets a CPU. */
static __always_inline void come(struct process *process, struct task_struct *task, __u64 now_ns)
{
	struct thread *thread;
	struct sum_key key = {};
	__u32 tid = task->pid;

	/* Without a record it has been off the CPU since before it was followed, for an unknown time. */
	thread = known_thread(tid);
	if (!thread)
		return;
	if (thread->seen == SEEN_ON)
		lose(process->index, LOST_SWITCH);
	thread->seen = SEEN_ON;
	if (thread->off_ns && !thread->ready_ns)
		/* Either the thread slept and the wake-up was not reported, or a signal kept it from sleeping. */
		lose(process->index, LOST_SWITCH);
	if (thread->ready_ns) {
		__u64 delay_ns = now_ns - thread->ready_ns;

		key.tid = tid;
		key.process = process->index;
		key.kind = SUM_DELAY;
		key.first = thread->off_ns && thread->reason == REASON_PREEMPTED ? AFTER_PREEMPTION : AFTER_WAKEUP;
		key.second = bits_of(delay_ns);
		add_up(process, thread, &key, delay_ns);
	}
	if (thread->off_ns && now_ns - thread->off_ns >= settings.off_cpu_above_ns)
		tell_off_cpu(process, tid, thread, now_ns);
	thread->off_ns = 0;
	thread->ready_ns = 0;
	thread->by.tid = 0;
	thread->by.tgid = 0;
	thread->by.name[0] = 0;
}

SEC("tp_btf/sched_switch")
int switched(__u64 *ctx)
{
	bool preempted = ctx[0];
	struct task_struct *from = (void *)ctx[1];
	struct task_struct *to = (void *)ctx[2];
	struct process *process;
	unsigned int state;
	__u64 now_ns = 0;

	process = process_of(from->tgid);
	if (process) {
		now_ns = bpf_ktime_get_ns();
		/* Use the state of the event if the kernel has it: once the thread is off the CPU, others may change its state. */
		if (settings.tells_state)
			state = ctx[3];
		else
			state = state_of(from);
		leave(ctx, process, from, to, preempted, state, now_ns);
	}
	process = process_of(to->tgid);
	if (process)
		come(process, to, now_ns ? now_ns : bpf_ktime_get_ns());
	return 0;
}

static __always_inline void ready(struct task_struct *task)
{
	struct process *process = process_of(task->tgid);
	struct thread *thread;

	if (!process)
		return;
	thread = thread_of(process, task);
	/* A thread that was preempted on its way to sleep is already runnable when it is woken. */
	if (thread && !thread->ready_ns)
		thread->ready_ns = bpf_ktime_get_ns();
}

/*
 * Whether it is an interrupt that runs, and not the thread that the kernel calls the current one: that idles, or is not in the
 * kernel of its own accord. An interrupt that comes while a thread is in a system call is not told from the thread. Nor should
 * all be: what is sent over loopback wakes its receiver in an interrupt of software that the sender's call begins.
 */
static __always_inline bool in_interrupt(struct task_struct *current)
{
	return !current->pid || (!(current->flags & PF_KTHREAD) && call_of(current) < 0);
}

/* Runs on the CPU of the waker; sched_wakeup may run on another one. */
SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct process *process = process_of(task->tgid);
	struct thread *thread;
	struct task_struct *current;
	__u32 tid = task->pid;

	if (!process)
		return 0;
	thread = known_thread(tid);
	/* For a preempted thread, the reader wants the thread that took its CPU, so the waker is not stored. */
	if (!thread || (thread->off_ns && thread->reason == REASON_PREEMPTED))
		return 0;
	current = bpf_get_current_task_btf();
	if (in_interrupt(current)) {
		thread->by.tid = 0;
		thread->by.tgid = 0;
		__builtin_memcpy(thread->by.name, "interrupt", sizeof("interrupt"));
		return 0;
	}
	thread->by.tid = current->pid;
	thread->by.tgid = current->tgid;
	__builtin_memcpy(thread->by.name, current->comm, sizeof(thread->by.name));
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *task)
{
	ready(task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(made, struct task_struct *task)
{
	ready(task);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(moved, struct task_struct *task, int to)
{
	struct process *process = process_of(task->tgid);
	struct thread *thread = process ? thread_of(process, task) : 0;
	struct sum_key key = {};

	if (!thread)
		return 0;
	key.tid = task->pid;
	key.process = process->index;
	key.kind = SUM_MIGRATION;
	if (bpf_core_field_exists(task->thread_info.cpu))
		key.first = BPF_CORE_READ(task, thread_info.cpu);
	else
		key.first = BPF_CORE_READ(task, cpu);
	key.second = to;
	add_up(process, thread, &key, 0);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *name)
{
	struct process *process = process_of(task->tgid);
	struct thread *thread;
	__u32 tid = task->pid;

	if (!process)
		return 0;
	thread = known_thread(tid);
	/* An unknown thread reports its new name when it becomes known. */
	if (thread)
		thread->named = tell_name(process, tid, name);
	return 0;
}
