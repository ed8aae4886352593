#include "perf/copier_wakes.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/cpus.h"
#include "perf/pid_set.h"
#include "perf/ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

/* A ring that is never read. It is mapped read-only, so that the kernel
 * overwrites old records. */
struct wake_ring {
	int fd;
	void *at; /* NULL if not mapped */
};

struct copier_wakes {
	struct bpf_array set;
	int events; /* the map: CPU → descriptor */
	bool is_allowed;
	size_t count;
	struct wake_ring rings[]; /* one per CPU */
};

static size_t wake_ring_bytes(void)
{
	return 2 * ring_control_bytes(); /* the smallest: a page of data */
}

static bool wake_ring_open(struct wake_ring *ring, unsigned cpu)
{
	struct perf_event_attr attr;
	void *at;

	attr_wake(&attr);
	ring->fd = attr_open(&attr, -1, (int)cpu);
	if (ring->fd < 0)
		return false;
	at = mmap(NULL, wake_ring_bytes(), PROT_READ, MAP_SHARED, ring->fd, 0);
	ring->at = at == MAP_FAILED ? NULL : at;
	return ring->at;
}

static bool copier_wakes_open(struct copier_wakes *wakes, const unsigned *cpus)
{
	wakes->events = bpf_events_open(cpus_end(cpus, wakes->count));
	if (wakes->events < 0 || !pid_set_open(&wakes->set))
		return false;
	for (size_t i = 0; i < wakes->count; i++)
		if (!wake_ring_open(&wakes->rings[i], cpus[i]) ||
		    !bpf_events_put(wakes->events, cpus[i], wakes->rings[i].fd))
			return false;
	return true;
}

struct copier_wakes *copier_wakes_new(const unsigned *cpus, size_t cpu_count)
{
	CLEANUP(copier_wakes_cleanup)
	struct copier_wakes *wakes = xcalloc(1,
					     sizeof(*wakes) + cpu_count * sizeof(wakes->rings[0]));

	wakes->set.fd = wakes->events = -1;
	wakes->count = cpu_count;
	for (size_t i = 0; i < cpu_count; i++)
		wakes->rings[i].fd = -1;
	return copier_wakes_open(wakes, cpus) ? STEAL(wakes) : NULL;
}

void copier_wakes_free(struct copier_wakes *wakes)
{
	if (!wakes)
		return;
	for (size_t i = 0; i < wakes->count; i++) {
		if (wakes->rings[i].at)
			munmap(wakes->rings[i].at, wake_ring_bytes());
		close_fd(&wakes->rings[i].fd);
	}
	close_fd(&wakes->events);
	bpf_array_close(&wakes->set);
	free(wakes);
}

/*
 * if ((set[tid / 64] >> tid % 64 | set[tgid / 64] >> tgid % 64) & 1)
 *	perf_event_output(ctx, events, BPF_F_CURRENT_CPU, &tgid_tid, sizeof(tgid_tid));
 */
void copier_wakes_append(const struct copier_wakes *wakes, struct bpf_code *code)
{
	int set = wakes->set.fd;
	const struct bpf_insn insns[] = {
		INSN_MOVE(BPF_REG_9, BPF_REG_1),
		INSN_MOVE_NUMBER(BPF_REG_6, 0),
		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN_STORE(BPF_DW, BPF_REG_10, -16, BPF_REG_0),
		INSN_MOVE_HALF(BPF_REG_7, BPF_REG_0),
		INSN_MOVE(BPF_REG_8, BPF_REG_0),
		INSN_CALCULATE_NUMBER(BPF_RSH, BPF_REG_8, 32),
		INSNS_FIND_WORD(set, BPF_REG_7),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 2),
		INSN_LOAD(BPF_DW, BPF_REG_6, BPF_REG_0, 0),
		INSN_CALCULATE(BPF_RSH, BPF_REG_6, BPF_REG_7),
		INSNS_FIND_WORD(set, BPF_REG_8),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_0, 0, 3),
		INSN_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, 0),
		INSN_CALCULATE(BPF_RSH, BPF_REG_1, BPF_REG_8),
		INSN_CALCULATE(BPF_OR, BPF_REG_6, BPF_REG_1),
		INSN_CALCULATE_NUMBER(BPF_AND, BPF_REG_6, 1),
		INSN_JUMP_IF_NUMBER(BPF_JEQ, BPF_REG_6, 0, 8),
		INSN_MOVE(BPF_REG_1, BPF_REG_9),
		INSNS_MAP(BPF_REG_2, wakes->events),
		INSN_MOVE_HALF_NUMBER(BPF_REG_3, -1), /* BPF_F_CURRENT_CPU */
		INSN_MOVE(BPF_REG_4, BPF_REG_10),
		INSN_CALCULATE_NUMBER(INSN_ADD, BPF_REG_4, -16),
		INSN_MOVE_NUMBER(BPF_REG_5, sizeof(uint64_t)),
		INSN_CALL(BPF_FUNC_perf_event_output),
	};

	bpf_append(code, insns, ARRAY_SIZE(insns));
}

int copier_wakes_fd(const struct copier_wakes *wakes, size_t cpu)
{
	return wakes->rings[cpu].fd;
}

void copier_wakes_allow(struct copier_wakes *wakes, bool allow)
{
	if (!wakes || allow == wakes->is_allowed)
		return;
	for (size_t i = 0; i < wakes->count; i++)
		ioctl(wakes->rings[i].fd, allow ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
		      0);
	wakes->is_allowed = allow;
}

void copier_wakes_put(struct copier_wakes *wakes, pid_t id, bool is_in)
{
	if (wakes)
		pid_set_put(wakes->set.at, id, is_in);
}

bool copier_wakes_have(const struct copier_wakes *wakes, const struct record *sample)
{
	return wakes->is_allowed &&
	       (pid_set_has(wakes->set.at, sample->tid) || pid_set_has(wakes->set.at, sample->pid));
}
