/*
 * The interface of the program in page_cache.bpf.c and the reader in crates/observe/src/page_cache/. The reader's side of it
 * is page_cache/records.rs; the two change together.
 */
#pragma once
#include "process.h"

#define NAME_BYTES 16
/* An upper bound for the numbers of system calls. */
#define CALLS 512

struct settings {
	__u32 page_bytes;
	/* System calls that add pages to the cache in order to write them. */
	__u8 writes[CALLS];
};

enum lost {
	LOST_SUMS,
	LOST_REASONS,
};

enum how {
	/* By an access to memory that the file is mapped to. */
	HOW_MAPPING,
	/* By a system call. */
	HOW_CALL,
};

struct sum_key {
	__u64 inode;
	__u32 device;
	__u32 tid;
	__u8 process;
	__u8 how;
	__u8 filler[6];
	char name[NAME_BYTES];
};

struct sum {
	__u64 faults;
	__u64 bytes;
};
