#include "perf/pid_filter.h"

#include "base/alloc.h"

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

struct pid_filter {
	int map, program;
	struct pid_set *dropped;
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

/*
 * pid = bpf_get_current_pid_tgid() >> 32;
 * word = bpf_map_lookup_elem(map, &(u32){pid / 64});
 * return !(word && *word >> pid % 64 & 1);
 */
static int program_load(int map)
{
	const struct bpf_insn program[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0},
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 6},
		{.code = BPF_STX | BPF_MEM | BPF_W,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_0,
		 .off = -4},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
		/* NOLINTNEXTLINE(misc-redundant-expression): BPF_ADD and BPF_K are both 0 */
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = map},
		{0}, /* the second half of the address */
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 5},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0},
		/* A shift is by the lowest 6 bits. */
		{.code = BPF_ALU64 | BPF_RSH | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6},
		{.code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = 1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)program,
		.insn_cnt = ARRAY_SIZE(program),
		.license = (uintptr_t) "", /* no helper here asks for one */
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static bool pid_filter_init(struct pid_filter *filter)
{
	void *at;

	filter->map = map_new();
	if (filter->map < 0)
		return false;
	at = mmap(NULL, sizeof(*filter->dropped), PROT_READ | PROT_WRITE, MAP_SHARED, filter->map,
		  0);
	if (at == MAP_FAILED)
		return false;
	filter->dropped = at;
	filter->program = program_load(filter->map);
	return filter->program >= 0;
}

struct pid_filter *pid_filter_new(void)
{
	CLEANUP(pid_filter_cleanup) struct pid_filter *filter = NULL;

	if (!is_in_first_pid_namespace())
		return NULL;
	filter = xcalloc(1, sizeof(*filter));
	filter->map = filter->program = -1;
	return pid_filter_init(filter) ? STEAL(filter) : NULL;
}

void pid_filter_free(struct pid_filter *filter)
{
	if (!filter)
		return;
	close_fd(&filter->program);
	close_fd(&filter->map);
	if (filter->dropped)
		munmap(filter->dropped, sizeof(*filter->dropped));
	free(filter);
}

struct pid_set *pid_filter_dropped(struct pid_filter *filter)
{
	return filter->dropped;
}

bool pid_filter_attach(const struct pid_filter *filter, int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, filter->program) == 0;
}
