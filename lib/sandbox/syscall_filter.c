#include "sandbox/syscall_filter.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the architecture's number in <linux/audit.h>"
#endif

#ifndef MAP_TYPE
#define MAP_TYPE 0x0f
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/*
 * The lower 32 bits of an argument, under `mask`, must equal `value` or the id
 * of the process.
 */
struct test {
	unsigned argument;
	uint32_t mask, value;
	bool is_self;
};

enum { TESTS_MAX = 2 };

/* Allows a call if its tests pass. The first rule of a call whose tests pass
 * applies. */
struct syscall_filter_rule {
	uint32_t number;
	int error; /* errno with which the call fails; 0 if it is allowed */
	unsigned tests;
	struct test test[TESTS_MAX];
};

/* Maximum size of a rule: load and compare the number, three per test,
 * return. */
enum { RULE_STEPS = 2 + 3 * TESTS_MAX + 1, PROGRAM_STEPS = 1024 };

struct syscall_filter_program {
	struct sock_filter steps[PROGRAM_STEPS];
	unsigned short len;
};

static void syscall_filter_add(struct syscall_filter_program *program, struct sock_filter step)
{
	program->steps[program->len++] = step;
}

/* Loads a word of struct seccomp_data. On little-endian machines the lower half
 * comes first. */
static void syscall_filter_load(struct syscall_filter_program *program, size_t offset)
{
	syscall_filter_add(
		program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Continues if equal, otherwise skips this many steps. */
static void need(struct syscall_filter_program *program, uint32_t value, unsigned skip)
{
	syscall_filter_add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value,
								 0, (unsigned char)skip));
}

static void syscall_filter_leave(struct syscall_filter_program *program, uint32_t action)
{
	syscall_filter_add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static uint32_t fail_with(int number)
{
	return SECCOMP_RET_ERRNO | ((uint32_t)number & SECCOMP_RET_DATA);
}

static void add_rule(struct syscall_filter_program *program, const struct syscall_filter_rule *rule)
{
	unsigned rest = 3 * rule->tests + 1;

	assert(program->len + RULE_STEPS < PROGRAM_STEPS);
	syscall_filter_load(program, offsetof(struct seccomp_data, nr));
	need(program, rule->number, rest);
	for (unsigned i = 0; i < rule->tests; i++) {
		const struct test *test = &rule->test[i];

		syscall_filter_load(program, offsetof(struct seccomp_data, args[test->argument]));
		syscall_filter_add(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
									 test->mask));
		rest -= 3;
		need(program, test->is_self ? (uint32_t)getpid() : test->value, rest);
	}
	syscall_filter_leave(program, rule->error ? fail_with(rule->error) : SECCOMP_RET_ALLOW);
}

#define ALLOW(name)                                                                                \
	{                                                                                          \
		.number = SYS_##name                                                               \
	}
#define ALLOW_IF(name, ...)                                                                        \
	{                                                                                          \
		.number = SYS_##name,                                                              \
		.tests = sizeof((struct test[]){__VA_ARGS__}) / sizeof(struct test), .test = {     \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define FAIL(name, number_)                                                                        \
	{                                                                                          \
		.number = SYS_##name, .error = (number_)                                           \
	}
#define TEST(argument_, mask_, value_)                                                             \
	{                                                                                          \
		.argument = (argument_), .mask = (uint32_t)(mask_), .value = (uint32_t)(value_)    \
	}
#define IS(argument_, value_) TEST(argument_, UINT32_MAX, value_)
#define IS_SELF(argument_)                                                                         \
	{                                                                                          \
		.argument = (argument_), .mask = UINT32_MAX, .is_self = true                       \
	}

static const struct syscall_filter_rule rules[] = {
	ALLOW(futex),
	/* RLIMIT_DATA does not count growing stack mappings and shared
	 * memory. */
	ALLOW_IF(mmap, TEST(2, PROT_EXEC, 0), TEST(3, MAP_TYPE | MAP_GROWSDOWN, MAP_PRIVATE)),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(brk),
	/* RLIMIT_DATA would no longer count memory that was written and then
	 * made read-only. */
	ALLOW_IF(mprotect, IS(2, PROT_READ | PROT_WRITE)),

	ALLOW(recvmsg),
	ALLOW(sendmsg),
	ALLOW(read),
	ALLOW(write),
	ALLOW(pread64),
	ALLOW(lseek),
	ALLOW(close),
	/* For fdopen(3). */
	ALLOW_IF(fcntl, IS(1, F_GETFL)),
	ALLOW(ppoll),
#ifdef SYS_poll
	ALLOW(poll),
#endif
	ALLOW(fstat),
	ALLOW(fstatfs),
	/* For fstat(3) of glibc. The path is in memory, which filters cannot
	 * read: file names can be tested for existence, with the permissions of
	 * the user. */
	ALLOW_IF(newfstatat, IS(3, AT_EMPTY_PATH)),

	ALLOW_IF(clone, TEST(0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)),
	/* Its flags are in memory, which filters cannot read. glibc falls back
	 * to clone(). */
	FAIL(clone3, ENOSYS),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(set_robust_list),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
#ifdef SYS_rseq
	ALLOW(rseq),
#endif
	/* For names of threads and of memory. */
	ALLOW_IF(prctl, IS(0, PR_SET_NAME)),
	ALLOW_IF(prctl, IS(0, PR_SET_VMA)),

	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(sigaltstack),
	ALLOW(restart_syscall),
	/* For abort(3). */
	ALLOW_IF(tgkill, IS_SELF(0)),
	ALLOW(getpid),
	ALLOW(gettid),
	ALLOW(getuid),
	ALLOW(geteuid),

	ALLOW(clock_gettime),
	ALLOW(clock_getres),
	ALLOW(clock_nanosleep),
	ALLOW(nanosleep),
	ALLOW(gettimeofday),
	ALLOW(getrandom),
	/* Reads its own memory where a mapped file may have been truncated. */
	ALLOW_IF(process_vm_readv, IS_SELF(0)),
};

struct error *syscall_filter_install(void)
{
	struct syscall_filter_program program = {.len = 0};
	struct sock_fprog filter = {.filter = program.steps};

	syscall_filter_load(&program, offsetof(struct seccomp_data, arch));
	need(&program, NATIVE_ARCH, 1);
	syscall_filter_add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
	syscall_filter_leave(&program, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		add_rule(&program, &rules[i]);
	syscall_filter_leave(&program, fail_with(EPERM));
	filter.len = program.len;
	/*
	 * Without the flag, kernels before 5.16 disable speculative store
	 * bypass, which slows down all code. That protection is against code
	 * inside the process, which is not needed here.
	 */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) <
	    0)
		return error_errno(errno, "install a filter of system calls");
	return NULL;
}
