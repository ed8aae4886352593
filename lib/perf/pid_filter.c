#include "perf/pid_filter.h"

#include "base/alloc.h"
#include "perf/kernel_types.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pid_filter {
	struct bpf_array dropped, kept;
	int program, probe_program; /* the filters of perf events and of probes */
	/* The program that tracks forks, and its link; -1 if there is none. */
	int follower, forks;
};

#define INSNS_CURRENT_PID(to)                                                                      \
	INSN_CALL(BPF_FUNC_get_current_pid_tgid), INSN_CALCULATE_NUMBER(BPF_RSH, BPF_REG_0, 32),   \
		INSN_MOVE(to, BPF_REG_0)

/*
 * word = bpf_map_lookup_elem(set, &(u32){pid / 64});
 * r0 = !word ? otherwise : (*word >> pid % 64 & 1) == wanted;
 */
static void append_filter(struct bpf_code *code, int set, bool wanted)
{
	const struct bpf_insn insns[] = {
		INSNS_CURRENT_PID(BPF_REG_6),
		INSNS_FIND_WORD(set, BPF_REG_6),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 6),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, 0),
		/* The shift uses only the lowest 6 bits. */
		INSN_CALCULATE(BPF_RSH, BPF_REG_1, BPF_REG_6),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_1, 1),
		INSN_MOVE(BPF_REG_0, BPF_REG_1),
		INSN_CALCULATE_NUMBER(BPF_XOR, BPF_REG_0, !wanted),
		INSN_SKIP(1),
		INSN_MOVE_NUMBER(BPF_REG_0, !wanted),
	};

	bpf_append(code, insns, ARRAY_SIZE(insns));
}

/* next: instructions that follow for a sample that is kept, or NULL. They expect
 * the context in r1. */
static int load_filter(enum bpf_prog_type type, int set, bool wanted, const struct bpf_code *next)
{
	const struct bpf_insn begin[] = {INSN_MOVE(BPF_REG_9, BPF_REG_1)}, end[] = {INSN_EXIT};
	const struct bpf_insn go_on[] = {
		INSN_JUMP_IF_NUMBER(BPF_JNE, BPF_REG_0, 0, 1),
		INSN_EXIT,
		INSN_MOVE(BPF_REG_1, BPF_REG_9),
	};
	struct bpf_code code = {.count = 0};

	bpf_append(&code, begin, ARRAY_SIZE(begin));
	append_filter(&code, set, wanted);
	if (next) {
		bpf_append(&code, go_on, ARRAY_SIZE(go_on));
		bpf_append(&code, next->insns, next->count);
	} else {
		bpf_append(&code, end, ARRAY_SIZE(end));
	}
	return bpf_load(type, &code);
}

/*
 * Runs at sched_process_fork(parent, child) in the parent, and adds the child's
 * process to the set if the parent's is a member. tgid is its offset in
 * task_struct.
 */
static int load_follower(int set, uint32_t tgid)
{
	const struct bpf_insn insns[] = {
		INSN_MOVE(BPF_REG_9, BPF_REG_1),
		INSNS_CURRENT_PID(BPF_REG_6),
		INSN_LOAD(BPF_DW, BPF_REG_3, BPF_REG_9, sizeof(uint64_t)),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_3, (int32_t)tgid),
		INSN_MOVE_NUMBER(BPF_REG_2, 4),
		INSN_MOVE(BPF_REG_1, BPF_REG_10),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_1, -8),
		INSN_CALL(BPF_FUNC_probe_read_kernel),
		INSN_LOAD(BPF_W, BPF_REG_7, BPF_REG_10, -8),
		/* r6: the parent's process; r7: the child's; r8: whether the
		 * parent is in the set. */
		INSNS_FIND_WORD(set, BPF_REG_6),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 19),
		INSN_LOAD(BPF_DW, BPF_REG_8, BPF_REG_0, 0),
		INSN_CALCULATE(BPF_RSH, BPF_REG_8, BPF_REG_6),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_8, 1),
		INSNS_FIND_WORD(set, BPF_REG_7),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 7),
		INSN_MOVE_NUMBER(BPF_REG_1, 1),
		INSN_CALCULATE(BPF_LSH, BPF_REG_1, BPF_REG_7),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_8, 0, 2),
		INSN_ATOMIC(BPF_OR, BPF_REG_0, 0, BPF_REG_1),
		INSN_SKIP(2),
		INSN_CALCULATE_NUMBER(BPF_XOR, BPF_REG_1, -1),
		INSN_ATOMIC(BPF_AND, BPF_REG_0, 0, BPF_REG_1),
		INSN_MOVE_NUMBER(BPF_REG_0, 0),
		INSN_EXIT,
	};
	struct bpf_code code = {.count = 0};

	bpf_append(&code, insns, ARRAY_SIZE(insns));
	return bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
}

static int attach_to_forks(int program)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = (uintptr_t) "sched_process_fork",
		.raw_tracepoint.prog_fd = (uint32_t)program,
	};

	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

static bool pid_filter_init(struct pid_filter *filter, const struct bpf_code *next)
{
	if (!pid_set_open(&filter->dropped))
		return false;
	filter->program = load_filter(BPF_PROG_TYPE_PERF_EVENT, filter->dropped.fd, false, next);
	filter->probe_program = load_filter(BPF_PROG_TYPE_KPROBE, filter->dropped.fd, false, NULL);
	return filter->program >= 0 && filter->probe_program >= 0;
}

struct pid_filter *pid_filter_new(const struct bpf_code *next)
{
	CLEANUP(pid_filter_cleanup) struct pid_filter *filter = NULL;

	if (!bpf_is_in_first_pid_namespace())
		return NULL;
	filter = xcalloc(1, sizeof(*filter));
	filter->dropped.fd = filter->kept.fd = -1;
	filter->program = filter->probe_program = filter->follower = filter->forks = -1;
	return pid_filter_init(filter, next) ? STEAL(filter) : NULL;
}

void pid_filter_free(struct pid_filter *filter)
{
	if (!filter)
		return;
	close_fd(&filter->forks);
	close_fd(&filter->follower);
	close_fd(&filter->program);
	close_fd(&filter->probe_program);
	bpf_array_close(&filter->dropped);
	bpf_array_close(&filter->kept);
	free(filter);
}

struct pid_set *pid_filter_dropped(struct pid_filter *filter)
{
	return filter->dropped.at;
}

struct pid_set *pid_filter_keep(struct pid_filter *filter)
{
	uint32_t tgid = 0;
	int program;

	if (!kernel_member_offset("task_struct", "tgid", &tgid) || !pid_set_open(&filter->kept))
		return NULL;
	filter->follower = load_follower(filter->kept.fd, tgid);
	filter->forks = filter->follower < 0 ? -1 : attach_to_forks(filter->follower);
	program = filter->forks < 0
			  ? -1
			  : load_filter(BPF_PROG_TYPE_KPROBE, filter->kept.fd, true, NULL);
	if (program < 0)
		return NULL;
	close_fd(&filter->probe_program);
	filter->probe_program = program;
	return filter->kept.at;
}

bool pid_filter_attach(const struct pid_filter *filter, int fd, bool is_probe)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF,
		     is_probe ? filter->probe_program : filter->program) == 0;
}
