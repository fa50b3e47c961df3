/*
 * The interface of the programs in syscalls.bpf.c and the reader in crates/observe/src/syscalls/. The reader's
 * side of it is syscalls/records.rs; the two change together.
 */
#pragma once
#include "process.h"

#define CALLS 512
#define NAME_BYTES 16
#define PATH_BYTES 256

/* The effect of a call on descriptors. Written by the reader, which knows the numbers of the calls. */
struct call_kind {
	/* Index of the descriptor argument plus one; 0 if there is none. */
	__u8 descriptor;
	/* Index plus one of the argument that points to a path, or to the memory for two new descriptors. */
	__u8 pointer;
	__u8 result;
	__u8 flags;
};

enum result {
	RESULT_PLAIN,
	RESULT_BYTES,
	RESULT_DESCRIPTOR,
	/* The result is a new descriptor if the second argument is one of the two fcntl commands that make one. */
	RESULT_FCNTL,
	RESULT_PAIR,
	/* The call changes what the descriptor refers to. */
	RESULT_RENAMED,
};

enum flags {
	FLAG_PATH = 1,
	FLAG_CLOSES = 2,
	FLAG_EXECUTES = 4,
	/* The call is recorded if only some calls are. For other calls only their effect on descriptors is followed. */
	FLAG_CHOSEN = 8,
	/* The fourth argument is the position in the file. */
	FLAG_POSITION = 16,
};

struct settings {
	__u32 summary;
	__u32 max_events_per_s;
	/* Calls without FLAG_CHOSEN are not recorded. */
	__u32 only_chosen;
	struct call_kind calls[CALLS];
};

enum lost {
	LOST_RING,
	LOST_START,
	LOST_SUMS,
	LOST_LIMIT,
	LOST_REASONS,
};

enum record {
	RECORD_CALL,
	RECORD_CALL_WITH_PATH,
	RECORD_THREAD,
	RECORD_DESCRIPTOR,
	RECORD_CLOSED,
};

struct record_head {
	__u8 record;
	__u8 process;
	__u16 call;
	__u32 tid;
};

struct call_record {
	struct record_head head;
	__u32 identity;
	__u32 filler;
	__u64 start_ns;
	__u64 duration_ns;
	__s64 returned;
	/* Position in the file, for calls with FLAG_POSITION. */
	__s64 position;
};

struct call_with_path_record {
	struct call_record call;
	char path[PATH_BYTES];
};

struct thread_record {
	struct record_head head;
	char name[NAME_BYTES];
};

/* A descriptor that was created, or is seen for the first time (then `call` is CALLS). */
struct descriptor_record {
	struct record_head head;
	__u32 identity;
	/* The identity of the descriptor among the arguments; 0 if there is none. */
	__u32 from;
	__s32 fd;
	__u32 mode;
	__u64 inode;
	__u16 family;
	__u16 local_port;
	/* Port in big endian, as the kernel stores it. */
	__u16 remote_port;
	__u16 filler;
	__u8 local[16];
	__u8 remote[16];
	char path[PATH_BYTES];
};

struct closed_record {
	struct record_head head;
	__u32 identity;
	__u32 filler;
};

struct sum_key {
	__u32 tid;
	__u32 identity;
	__u16 call;
	__u8 process;
	/* Bin of the duration: 0 is 0 ns, n is from 2^(n-1) to below 2^n. */
	__u8 bin;
};

struct sum {
	__u64 count;
	__u64 total_ns;
	__u64 bytes;
	__u64 errors;
};
