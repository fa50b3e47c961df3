/*
 * The system call that a thread is in, from the registers that it came into the kernel with.
 */
#pragma once

/* Less than 0 where it came by no call: by a fault, or by an interrupt while it ran outside of the kernel. */
static __always_inline int call_of(struct task_struct *task)
{
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);

#if defined(__TARGET_ARCH_x86)
	return (int)registers->orig_ax;
#else
	return registers->syscallno;
#endif
}
