#include "perf/pid_filter.h"

#include "base/alloc.h"
#include "perf/kernel_types.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PROC_PID_INIT_INO of the kernel (include/linux/proc_ns.h). */
#define FIRST_PID_NAMESPACE 0xeffffffcU

/* Linux 5.5; missing in older headers. */
enum { MAP_IS_MMAPABLE = 1 << 10 };

/* A set that BPF programs share. */
struct mapped_set {
	int map;
	struct pid_set *pids;
};

struct pid_filter {
	struct mapped_set dropped, kept;
	int program, probe_program; /* the filters of perf events and of probes */
	int follower, forks;	    /* the program that keeps children, and its link; -1: none */
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static bool is_in_first_pid_namespace(void)
{
	struct stat of;

	return stat("/proc/self/ns/pid", &of) == 0 && of.st_ino == FIRST_PID_NAMESPACE;
}

static int map_new(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint64_t),
		.max_entries = PIDS_MAX / PIDS_PER_WORD,
		.map_flags = MAP_IS_MMAPABLE,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* BPF_ADD and BPF_K are both 0, which linters take for a mistake. */
enum { ALU_ADD = 0 };

/* The word of the set with the pid in a register, as a pointer in r0; r1 to r5 are used. */
#define FIND_WORD(pid, set)                                                                        \
	{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = (pid)},             \
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 6},             \
		{.code = BPF_STX | BPF_MEM | BPF_W,                                                \
		 .dst_reg = BPF_REG_10,                                                            \
		 .src_reg = BPF_REG_0,                                                             \
		 .off = -4},                                                                       \
		{.code = BPF_ALU64 | BPF_MOV | BPF_X,                                              \
		 .dst_reg = BPF_REG_2,                                                             \
		 .src_reg = BPF_REG_10},                                                           \
		{.code = BPF_ALU64 | ALU_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},            \
		{.code = BPF_LD | BPF_IMM | BPF_DW,                                                \
		 .dst_reg = BPF_REG_1,                                                             \
		 .src_reg = BPF_PSEUDO_MAP_FD,                                                     \
		 .imm = (set)},                                                                    \
		{0}, /* the second half of the address */                                          \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem                        \
	}

#define CURRENT_PID(to)                                                                            \
	{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},                        \
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32},            \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = BPF_REG_0         \
	}

/* Linux 5.12: an atomic operation on the word at r0 with r1. */
#define CHANGE_WORD(operation)                                                                     \
	{                                                                                          \
		.code = BPF_STX | BPF_XADD | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1,   \
		.imm = (operation)                                                                 \
	}

#define RETURN                                                                                     \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}

static int load(enum bpf_prog_type type, const char *license, const struct bpf_insn *program,
		size_t count)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (uintptr_t)program,
		.insn_cnt = (uint32_t)count,
		.license = (uintptr_t)license,
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/*
 * word = bpf_map_lookup_elem(set, &(u32){pid / 64});
 * return !word ? otherwise : (*word >> pid % 64 & 1) == wanted;
 */
static int load_filter(enum bpf_prog_type type, int set, bool wanted)
{
	const struct bpf_insn program[] = {
		CURRENT_PID(BPF_REG_6),
		FIND_WORD(BPF_REG_6, set),
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 6},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0},
		/* A shift is by the lowest 6 bits. */
		{.code = BPF_ALU64 | BPF_RSH | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6},
		{.code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1},
		{.code = BPF_ALU64 | BPF_XOR | BPF_K, .dst_reg = BPF_REG_0, .imm = !wanted},
		RETURN,
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = !wanted},
		RETURN,
	};

	/* No helper here asks for a license. */
	return load(type, "", program, ARRAY_SIZE(program));
}

/*
 * At sched_process_fork(parent, child), in the parent: the child's process is in the set if the
 * parent's is. tgid: where that is in a task_struct.
 */
static int load_follower(int set, uint32_t tgid)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_9, .src_reg = BPF_REG_1},
		CURRENT_PID(BPF_REG_6),
		{.code = BPF_LDX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_3,
		 .src_reg = BPF_REG_9,
		 .off = sizeof(uint64_t)},
		{.code = BPF_ALU64 | ALU_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = (int32_t)tgid},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 4},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | ALU_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_LDX | BPF_MEM | BPF_W,
		 .dst_reg = BPF_REG_7,
		 .src_reg = BPF_REG_10,
		 .off = -8},
		/* r6: the parent's process, r7: the child's; r8: whether the parent is in the set
		 */
		FIND_WORD(BPF_REG_6, set),
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 19},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_8, .src_reg = BPF_REG_0},
		{.code = BPF_ALU64 | BPF_RSH | BPF_X, .dst_reg = BPF_REG_8, .src_reg = BPF_REG_6},
		{.code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = BPF_REG_8, .imm = 1},
		FIND_WORD(BPF_REG_7, set),
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 7},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_ALU64 | BPF_LSH | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_7},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_8, .off = 2},
		CHANGE_WORD(BPF_OR),
		{.code = BPF_JMP | BPF_JA, .off = 2},
		{.code = BPF_ALU64 | BPF_XOR | BPF_K, .dst_reg = BPF_REG_1, .imm = -1},
		CHANGE_WORD(BPF_AND),
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		RETURN,
	};

	return load(BPF_PROG_TYPE_RAW_TRACEPOINT, "Dual MIT/GPL", program, ARRAY_SIZE(program));
}

static int attach_to_forks(int program)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = (uintptr_t) "sched_process_fork",
		.raw_tracepoint.prog_fd = (uint32_t)program,
	};

	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

/* False: there is no such set. */
static bool set_open(struct mapped_set *set)
{
	void *at;

	set->map = map_new();
	if (set->map < 0)
		return false;
	at = mmap(NULL, sizeof(*set->pids), PROT_READ | PROT_WRITE, MAP_SHARED, set->map, 0);
	if (at == MAP_FAILED)
		return false;
	set->pids = at;
	return true;
}

static void set_close(struct mapped_set *set)
{
	close_fd(&set->map);
	if (set->pids)
		munmap(set->pids, sizeof(*set->pids));
}

static bool pid_filter_init(struct pid_filter *filter)
{
	if (!set_open(&filter->dropped))
		return false;
	filter->program = load_filter(BPF_PROG_TYPE_PERF_EVENT, filter->dropped.map, false);
	filter->probe_program = load_filter(BPF_PROG_TYPE_KPROBE, filter->dropped.map, false);
	return filter->program >= 0 && filter->probe_program >= 0;
}

struct pid_filter *pid_filter_new(void)
{
	CLEANUP(pid_filter_cleanup) struct pid_filter *filter = NULL;

	if (!is_in_first_pid_namespace())
		return NULL;
	filter = xcalloc(1, sizeof(*filter));
	filter->dropped.map = filter->kept.map = -1;
	filter->program = filter->probe_program = filter->follower = filter->forks = -1;
	return pid_filter_init(filter) ? STEAL(filter) : NULL;
}

void pid_filter_free(struct pid_filter *filter)
{
	if (!filter)
		return;
	close_fd(&filter->forks);
	close_fd(&filter->follower);
	close_fd(&filter->program);
	close_fd(&filter->probe_program);
	set_close(&filter->dropped);
	set_close(&filter->kept);
	free(filter);
}

struct pid_set *pid_filter_dropped(struct pid_filter *filter)
{
	return filter->dropped.pids;
}

struct pid_set *pid_filter_keep(struct pid_filter *filter)
{
	uint32_t tgid = 0;
	int program;

	if (!kernel_member_offset("task_struct", "tgid", &tgid) || !set_open(&filter->kept))
		return NULL;
	filter->follower = load_follower(filter->kept.map, tgid);
	filter->forks = filter->follower < 0 ? -1 : attach_to_forks(filter->follower);
	program = filter->forks < 0 ? -1
				    : load_filter(BPF_PROG_TYPE_KPROBE, filter->kept.map, true);
	if (program < 0)
		return NULL;
	close_fd(&filter->probe_program);
	filter->probe_program = program;
	return filter->kept.pids;
}

bool pid_filter_attach(const struct pid_filter *filter, int fd, bool is_probe)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF,
		     is_probe ? filter->probe_program : filter->program) == 0;
}
