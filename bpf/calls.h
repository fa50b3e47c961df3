/* The system call that a thread is in, read from the registers with which it entered the kernel. */
#pragma once

/* Negative if the thread did not enter by a system call, but by a fault or an interrupt. */
static __always_inline int call_of(struct task_struct *task)
{
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);

#if defined(__TARGET_ARCH_x86)
	return (int)registers->orig_ax;
#else
	return registers->syscallno;
#endif
}
