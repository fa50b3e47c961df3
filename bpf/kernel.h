/*
 * The parts of the kernel's types that the programs read. Fields are found by name in the running kernel (CO-RE), so that only
 * those that are read are named here, in any order.
 */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef signed short __s16;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

/* Numbers of the interface between the kernel and its users, which don't change. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
#if defined(__TARGET_ARCH_x86)
	unsigned long di, si, dx, r10, r8, orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	__u64 regs[31];
	int syscallno;
#else
#error "no registers are known for this architecture"
#endif
};


struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	struct sock *sk;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct thread_info {
	__u32 cpu;
};

struct sigaction {
	void (*sa_handler)(int);
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 nr_migrations;
};

struct sched_info {
	unsigned long long run_delay;
};

struct task_struct {
	struct files_struct *files;
	struct sighand_struct *sighand;
	__s32 pid;
	__s32 tgid;
	char comm[16];
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned int flags;
	unsigned int __state;
	unsigned in_iowait : 1;
	unsigned long min_flt;
	unsigned long maj_flt;
	/* The field is in one of the two structs, depending on the kernel's version. */
	unsigned int cpu;
	struct thread_info thread_info;
};

/* The struct as it was before Linux 5.14. */
struct task_struct___before_5_14 {
	long state;
};

struct seq_file;

/* The argument of a program that is called for each thread. */
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* A page, or several at once, was taken into the page cache of a file. */
struct trace_event_raw_mm_filemap_op_page_cache {
	unsigned long i_ino;
	__u32 s_dev;
	/* If the kernel has this field, the number of pages is 2 to the power of it. */
	__u8 order;
};

#pragma clang attribute pop
