/* Uses CPU time in two functions, 70 % in one and 30 % in the other, by its own CPU clock. The second
 * function is in the kernel all the time, or, with the argument `compiled`, in code that this process
 * generates and names in /tmp/perf-PID.map. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static void (*compiled)(void);

/* Makes the system call directly: a function of libc has no frame pointer and would hide its caller. */
static inline long ask(long number, long first, long second, long third)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;
	register long x2 __asm__("x2") = third;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}

static int64_t used_ns(void)
{
	struct timespec time;

	ask(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&time, 0);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((noinline)) static void seven(int64_t until_ns)
{
	while (used_ns() < until_ns)
		for (int i = 0; i < 50000; i++)
			sink += i * 31;
}

__attribute__((noinline)) static void three(int64_t until_ns)
{
	static char random[1 << 16];

	while (used_ns() < until_ns)
		ask(SYS_getrandom, (long)random, sizeof(random), 0);
}

__attribute__((noinline)) static void run_compiled(int64_t until_ns)
{
	while (used_ns() < until_ns)
		compiled();
}

/* A function that counts down from 200,000, in memory that belongs to no file. */
static int compile(void)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {
		0x55, 0x48, 0x89, 0xe5,             /* push %rbp; mov %rsp, %rbp */
		0xb9, 0x40, 0x0d, 0x03, 0x00,       /* mov $200000, %ecx */
		0xff, 0xc9, 0x75, 0xfc,             /* dec %ecx; jnz back to it */
		0x5d, 0xc3,                         /* pop %rbp; ret */
	};
#elif defined(__aarch64__)
	static const uint32_t code[] = {
		0xa9bf7bfd, 0x910003fd,             /* stp x29, x30, [sp, #-16]!; mov x29, sp */
		0x52881a00, 0x72a00060,             /* mov w0, #0x40d0; movk w0, #0x3, lsl #16 */
		0x71000400, 0x54ffffe1,             /* subs w0, w0, #1; b.ne back to it */
		0xa8c17bfd, 0xd65f03c0,             /* ldp x29, x30, [sp], #16; ret */
	};
#endif
	char path[64];
	FILE *map;
	void *place = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		return 0;
	memcpy(place, code, sizeof(code));
	if (mprotect(place, 4096, PROT_READ | PROT_EXEC))
		return 0;
	__builtin___clear_cache(place, (char *)place + sizeof(code));
	compiled = (void (*)(void))place;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return 0;
	fprintf(map, "%lx %zx example.Compiled::three\n", (unsigned long)place, sizeof(code));
	return fclose(map) == 0;
}

static void *work(void *other)
{
	void (*run)(int64_t) = (void (*)(int64_t))other;

	while (1) {
		seven(used_ns() + 7000000);
		run(used_ns() + 3000000);
	}
	return 0;
}

int main(int count, char **arguments)
{
	void (*other)(int64_t) = three;
	pthread_t worker;

	if (count > 1 && !strcmp(arguments[1], "compiled")) {
		if (!compile())
			return 1;
		other = run_compiled;
	}
	if (pthread_create(&worker, 0, work, (void *)other))
		return 1;
	pthread_setname_np(worker, "Worker-7");
	puts("ready");
	fflush(stdout);
	/* Runs until the other end of the pipe is closed. */
	while (getchar() != EOF)
		;
	return 0;
}
