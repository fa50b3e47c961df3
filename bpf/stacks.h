/*
 * The interface of the program in stacks.bpf.c and the reader in crates/observe/src/stacks/kernel/. The reader's side
 * of it is stacks/kernel/records.rs; the two change together.
 */
#pragma once
#include "process.h"

#define NAME_BYTES 16
/* As many frames as the kernel walks by default (kernel.perf_event_max_stack). */
#define USER_FRAMES 127
#define KERNEL_FRAMES 64

struct settings {
	/* The signal on which a thread takes its own stack; 0 to walk its stack here. */
	__u32 signal;
};

enum lost {
	LOST_RING,
	LOST_SIGNAL,
	LOST_REASONS,
};

/* Frames follow, innermost first: those of the process, unless it was sent a signal, then those of the kernel. */
struct sample_head {
	__u64 time_ns;
	__u32 tid;
	__u8 process;
	__u8 user_frames;
	__u8 kernel_frames;
	__u8 filler;
	char name[NAME_BYTES];
};

struct sample {
	struct sample_head head;
	__u64 frames[USER_FRAMES + KERNEL_FRAMES];
};
