/*
 * A set of process or thread ids that is shared with BPF programs: a bitmap in
 * a BPF array. One thread may change it; any thread may read it.
 */
#ifndef PROF_PERF_PID_SET_H
#define PROF_PERF_PID_SET_H

#include "perf/bpf.h"

#include <stdatomic.h>
#include <sys/types.h>

/* PID_MAX_LIMIT of the kernel (include/linux/threads.h). */
enum { PIDS_MAX = 4 << 20, PIDS_PER_WORD = 64 };

struct pid_set {
	_Atomic uint64_t words[PIDS_MAX / PIDS_PER_WORD];
};

/* Opens the array of an empty set, which is at array->at. */
static inline bool pid_set_open(struct bpf_array *array)
{
	return bpf_array_open(array, sizeof(uint64_t), PIDS_MAX / PIDS_PER_WORD);
}

static inline bool pid_set_may_have(pid_t pid)
{
	return pid > 0 && pid < PIDS_MAX;
}

static inline bool pid_set_has(const struct pid_set *set, pid_t pid)
{
	uint64_t word;

	if (!pid_set_may_have(pid))
		return false;
	word = atomic_load_explicit(&set->words[pid / PIDS_PER_WORD], memory_order_relaxed);
	return word >> pid % PIDS_PER_WORD & 1;
}

static inline void pid_set_put(struct pid_set *set, pid_t pid, bool is_in)
{
	uint64_t bit, word;

	if (!pid_set_may_have(pid))
		return;
	bit = UINT64_C(1) << pid % PIDS_PER_WORD;
	word = atomic_load_explicit(&set->words[pid / PIDS_PER_WORD], memory_order_relaxed);
	atomic_store_explicit(&set->words[pid / PIDS_PER_WORD], is_in ? word | bit : word & ~bit,
			      memory_order_relaxed);
}

/* Returns in r0 a pointer to the word of the set that contains the id, which is
 * in a register. Clobbers r1 to r5. */
#define INSNS_FIND_WORD(set, id)                                                                   \
	INSN_MOVE(BPF_REG_0, id), INSN_CALCULATE_NUMBER(BPF_RSH, BPF_REG_0, 6),                    \
		INSNS_FIND(set, BPF_REG_0)

#endif
