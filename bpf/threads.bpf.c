/*
 * Reads the counters of all threads of one process at once, which /proc has in three files per thread.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "threads.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct settings settings SEC(".rodata.settings") = {};

SEC("iter/task")
int each(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct thread_record record = {};

	/* After the last thread the kernel calls once without a thread. */
	if (!task || (__u32)task->tgid != settings.tgid)
		return 0;
	record.tid = task->pid;
	record.cpu_ns = task->se.sum_exec_runtime;
	if (bpf_core_field_exists(task->sched_info.run_delay)) {
		record.knows_run_queue = 1;
		record.run_queue_ns = task->sched_info.run_delay;
	}
	record.migrations = task->se.nr_migrations;
	record.voluntary_switches = task->nvcsw;
	record.involuntary_switches = task->nivcsw;
	__builtin_memcpy(record.name, task->comm, sizeof(record.name));
	/* If there is no space, the kernel calls again with this thread. */
	bpf_seq_write(context->meta->seq, &record, sizeof(record));
	return 0;
}
