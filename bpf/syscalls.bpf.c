/*
 * Follows the system calls of some processes: each call as a record in a ring buffer, or added up in a table.
 *
 * A descriptor's number says little, as it is used again after a close. So whatever a descriptor stands for gets an
 * identity when it is made or first seen, told once in a record of its own, and calls carry that.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bins.h"
#include "syscalls.h"
#include "losses.h"
#include "sums.h"

#define ONE_SECOND_NS 1000000000ULL
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define AF_INET 2
#define AF_INET6 10
#define F_DUPFD 0
#define F_DUPFD_CLOEXEC 1030

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct settings settings SEC(".rodata.settings") = {};

__u32 identities = 0;
__u64 limited_second = 0;
__u64 limited_events = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} records SEC(".maps");

/* The current call of a thread. Stored with the thread, so that a thread that ends in a call leaves nothing behind. */
struct thread {
	__u64 start_ns;
	__u64 pointer;
	__u32 call;
	__u32 identity;
	__s32 fd;
	__u32 command;
	char name[NAME_BYTES];
	struct slots sums;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __s32);
	__type(value, struct thread);
} threads SEC(".maps");

struct descriptor_key {
	__u32 process;
	__u32 generation;
	__s32 fd;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct descriptor_key);
	__type(value, __u32);
} descriptors SEC(".maps");

static __always_inline __u64 argument(struct pt_regs *regs, __u32 index)
{
#if defined(__TARGET_ARCH_x86)
	switch (index) {
	case 0:
		return regs->di;
	case 1:
		return regs->si;
	case 2:
		return regs->dx;
	case 3:
		return regs->r10;
	default:
		return regs->r8;
	}
#else
	switch (index) {
	case 0:
		return regs->regs[0];
	case 1:
		return regs->regs[1];
	case 2:
		return regs->regs[2];
	case 3:
		return regs->regs[3];
	default:
		return regs->regs[4];
	}
#endif
}

/* The kernel's own data of a descriptor, read while the descriptor can't have been replaced. */
static __always_inline void describe(struct descriptor_record *record, __s32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd);
	struct file *file = 0;

	if ((__u32)fd >= BPF_CORE_READ(table, max_fds))
		return;
	bpf_probe_read_kernel(&file, sizeof(file), files + (__u32)fd);
	if (!file)
		return;
	record->mode = BPF_CORE_READ(file, f_inode, i_mode);
	record->inode = BPF_CORE_READ(file, f_inode, i_ino);
	if ((record->mode & S_IFMT) != S_IFSOCK)
		return;

	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);

	record->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	if (record->family == AF_INET) {
		__be32 local = BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr);
		__be32 remote = BPF_CORE_READ(sock, __sk_common.skc_daddr);

		__builtin_memcpy(record->local, &local, sizeof(local));
		__builtin_memcpy(record->remote, &remote, sizeof(remote));
	} else if (record->family == AF_INET6) {
		BPF_CORE_READ_INTO(&record->local, sock, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&record->remote, sock, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
	} else {
		return;
	}
	record->local_port = BPF_CORE_READ(sock, __sk_common.skc_num);
	record->remote_port = BPF_CORE_READ(sock, __sk_common.skc_dport);
}

/* Gives a descriptor's current file a new identity, and reports it; 0 if the buffer is full. */
static __noinline __u32 identify(struct process *process, __s32 fd, __u32 call, __u32 from, const char *path)
{
	struct descriptor_key key = {};
	struct descriptor_record *record;
	__u32 identity;

	if (!process)
		return 0;
	key.process = process->index;
	key.generation = process->generation;
	key.fd = fd;
	identity = __sync_fetch_and_add(&identities, 1) + 1;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		/* If the buffer is full, the next call on the descriptor tries again. */
		bpf_map_delete_elem(&descriptors, &key);
		return 0;
	}
	__builtin_memset(record, 0, __builtin_offsetof(struct descriptor_record, path) + 8);
	record->head.record = RECORD_DESCRIPTOR;
	record->head.process = process->index;
	record->head.call = call;
	record->head.tid = (__u32)bpf_get_current_pid_tgid();
	record->identity = identity;
	record->from = from;
	record->fd = fd;
	describe(record, fd);
	if (path)
		bpf_probe_read_user_str(record->path, PATH_BYTES, path);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&descriptors, &key, &identity, BPF_ANY);
	return identity;
}

static __always_inline __u32 identity_of(struct process *process, __s32 fd)
{
	struct descriptor_key key = {
		.process = process->index,
		.generation = process->generation,
		.fd = fd,
	};
	__u32 *known = bpf_map_lookup_elem(&descriptors, &key);

	return known ? *known : identify(process, fd, CALLS, 0, 0);
}

static __always_inline void forget(struct process *process, __s32 fd, __u32 identity, __u32 tid)
{
	struct descriptor_key key = {
		.process = process->index,
		.generation = process->generation,
		.fd = fd,
	};
	struct closed_record *record;

	bpf_map_delete_elem(&descriptors, &key);
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record)
		return;
	record->head.record = RECORD_CLOSED;
	record->head.process = process->index;
	record->head.call = 0;
	record->head.tid = tid;
	record->identity = identity;
	record->filler = 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Reports the name of a thread that is new or was renamed. */
static __always_inline void follow_name(struct process *process, struct thread *thread, __u32 tid)
{
	__u64 *name = (__u64 *)bpf_get_current_task_btf()->comm;
	__u64 *told = (__u64 *)thread->name, now[] = { name[0], name[1] };
	struct thread_record *record;

	if (told[0] == now[0] && told[1] == now[1])
		return;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record)
		return;
	record->head.record = RECORD_THREAD;
	record->head.process = process->index;
	record->head.call = 0;
	record->head.tid = tid;
	__builtin_memcpy(record->name, now, sizeof(now));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	told[0] = now[0];
	told[1] = now[1];
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct process *process = process_of(task->tgid);
	struct thread *thread;
	__u32 tid = task->pid;
	struct call_kind kind = {};

	if (!process)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		lose(process->index, LOST_START);
		return 0;
	}
	follow_name(process, thread, tid);
	thread->call = (__u64)call < CALLS ? call : CALLS;
	thread->identity = 0;
	thread->fd = -1;
	if (thread->call < CALLS) {
		__u32 index = thread->call & (CALLS - 1);

		kind.descriptor = settings.calls[index].descriptor;
		kind.pointer = settings.calls[index].pointer;
		kind.result = settings.calls[index].result;
		kind.flags = settings.calls[index].flags;
	}
	if (kind.descriptor) {
		thread->fd = argument(regs, kind.descriptor - 1);
		if (thread->fd >= 0) {
			thread->identity = identity_of(process, thread->fd);
			/* Reported before the close, because right after it another thread may get the same number. */
			if (kind.flags & FLAG_CLOSES)
				forget(process, thread->fd, thread->identity, tid);
		}
	}
	if (kind.pointer)
		thread->pointer = argument(regs, kind.pointer - 1);
	/* No call has both a pointer and a position. */
	if (kind.flags & FLAG_POSITION)
		thread->pointer = argument(regs, 3);
	if (kind.result == RESULT_FCNTL)
		thread->command = argument(regs, 1);
	thread->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* Reports the descriptors that a call has created, and returns the identity of the call's descriptor. */
static __always_inline __u32 follow_result(struct process *process, struct thread *thread, struct call_kind *kind,
					   long returned)
{
	const char *path = kind->flags & FLAG_PATH ? (const char *)thread->pointer : 0;
	__u32 identity = thread->identity;
	__s32 pair[2] = {};

	if (returned < 0) {
		/* A connect that continues in the background has its addresses already. */
		if (kind->result == RESULT_RENAMED && thread->fd >= 0)
			return identify(process, thread->fd, thread->call, identity, 0);
		return identity;
	}
	switch (kind->result) {
	case RESULT_FCNTL:
		if (thread->command == F_DUPFD || thread->command == F_DUPFD_CLOEXEC)
			identify(process, returned, thread->call, identity, 0);
		return identity;
	case RESULT_DESCRIPTOR: {
		__u32 made = identify(process, returned, thread->call, identity, path);

		return path || !kind->descriptor ? made : identity;
	}
	case RESULT_PAIR:
		bpf_probe_read_user(pair, sizeof(pair), (void *)thread->pointer);
		identify(process, pair[1], thread->call, 0, 0);
		return identify(process, pair[0], thread->call, 0, 0);
	case RESULT_RENAMED:
		return identify(process, thread->fd, thread->call, identity, 0);
	}
	return identity;
}

static __always_inline bool over_limit(__u64 now_ns)
{
	__u64 second = now_ns / ONE_SECOND_NS;

	if (!settings.max_events_per_s)
		return 0;
	if (limited_second != second) {
		limited_second = second;
		limited_events = 0;
	}
	return __sync_fetch_and_add(&limited_events, 1) >= settings.max_events_per_s;
}

static __always_inline void add_up(struct thread *thread, struct sum_key *key, __u64 duration_ns,
				   struct call_kind *kind, long returned)
{
	struct sum *sum = sum_of(key, &thread->sums, 7 * key->identity + key->call + 13 * key->bin);

	if (!sum) {
		lose(key->process, LOST_SUMS);
		return;
	}
	/* The key contains the thread, and a thread ends one call at a time, so nobody else adds to this sum. */
	sum->count += 1;
	sum->total_ns += duration_ns;
	if (returned < 0)
		sum->errors += 1;
	else if (kind->result == RESULT_BYTES)
		sum->bytes += returned;
}

static __always_inline void fill(struct call_record *record, __u8 kind, struct process *process,
				 struct thread *thread, __u32 tid)
{
	record->head.record = kind;
	record->head.process = process->index;
	record->head.call = thread->call;
	record->head.tid = tid;
	record->filler = 0;
	record->start_ns = thread->start_ns;
	record->position = thread->pointer;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long returned)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct process *process = process_of(task->tgid);
	struct thread *thread;
	__u32 tid = task->pid;
	struct call_kind kind = {};
	__u64 now_ns, duration_ns;
	__u32 identity;

	if (!process)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	/* Without a start, the call began before the recording. */
	if (!thread || !thread->start_ns)
		return 0;
	now_ns = bpf_ktime_get_ns();
	duration_ns = now_ns - thread->start_ns;
	if (thread->call < CALLS) {
		__u32 index = thread->call & (CALLS - 1);

		kind.descriptor = settings.calls[index].descriptor;
		kind.result = settings.calls[index].result;
		kind.flags = settings.calls[index].flags;
	}
	if (kind.flags & FLAG_EXECUTES && returned == 0)
		__sync_fetch_and_add(&process->generation, 1);
	identity = follow_result(process, thread, &kind, returned);

	if (settings.only_chosen && !(kind.flags & FLAG_CHOSEN)) {
		/* The call is followed for its effect on descriptors, but not recorded. */
	} else if (settings.summary) {
		struct sum_key key = {
			.tid = tid,
			.identity = identity,
			.call = thread->call,
			.process = process->index,
			.bin = bits_of(duration_ns),
		};

		add_up(thread, &key, duration_ns, &kind, returned);
	} else if (over_limit(now_ns)) {
		lose(process->index, LOST_LIMIT);
	} else if (kind.flags & FLAG_PATH && (returned < 0 || kind.result != RESULT_DESCRIPTOR)) {
		struct call_with_path_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

		if (!record) {
			lose(process->index, LOST_RING);
		} else {
			fill(&record->call, RECORD_CALL_WITH_PATH, process, thread, tid);
			record->call.identity = identity;
			record->call.duration_ns = duration_ns;
			record->call.returned = returned;
			record->path[0] = 0;
			bpf_probe_read_user_str(record->path, PATH_BYTES, (void *)thread->pointer);
			bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
		}
	} else {
		struct call_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

		if (!record) {
			lose(process->index, LOST_RING);
		} else {
			fill(record, RECORD_CALL, process, thread, tid);
			record->identity = identity;
			record->duration_ns = duration_ns;
			record->returned = returned;
			bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
		}
	}
	thread->start_ns = 0;
	return 0;
}
