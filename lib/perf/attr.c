#include "perf/attr.h"

#include "perf/refusal.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* PERF_FORMAT_LOST. It is an enumerator, so #ifdef cannot detect whether the
 * headers define it (Linux 6.0). */
static const uint64_t attr_format_lost = 1U << 4;

/*
 * defer_callchain and defer_output (Linux 6.19), which older headers lack. They
 * are in the bit field after read_format.
 */
static const uint64_t defer_flags = UINT64_C(3) << 38;

static void attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = type,
		.config = config,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/* Initializes an event that counts nothing and needs no privileges. */
static void init_dummy(struct perf_event_attr *attr)
{
	attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->exclude_kernel = 1;
}

void attr_ring_owner(struct perf_event_attr *attr, uint32_t watermark_bytes)
{
	init_dummy(attr);
	attr->disabled = 1;
	/* wakeup_events counts only samples, and the side band has none. */
	attr->watermark = 1;
	attr->wakeup_watermark = watermark_bytes;
}

/*
 * Does not set build_id: records with a build-id lack device and inode, and the
 * build-id in a file can be forged.
 */
void attr_add_side_band(struct perf_event_attr *attr)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

void attr_side_band(struct perf_event_attr *attr, bool inherit)
{
	init_dummy(attr);
	attr->inherit = inherit;
	attr_add_side_band(attr);
}

void attr_switches(struct perf_event_attr *attr, bool inherit, const struct attr_features *features)
{
	init_dummy(attr);
	attr->disabled = 1;
	attr->inherit = inherit;
	attr->context_switch = 1;
	attr->read_format = features->lost ? attr_format_lost : 0;
}

void attr_wake(struct perf_event_attr *attr)
{
	attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
	attr->disabled = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = 1;
}

void attr_run_clock(struct perf_event_attr *attr)
{
	init_dummy(attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
}

static void ask_for_fields(struct perf_event_attr *attr, const struct sample_fields *fields,
			   const struct attr_features *features)
{
	if (fields->kernel_chain || fields->user_chain) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_kernel = !fields->kernel_chain;
		attr->exclude_callchain_user = !fields->user_chain;
	}
	if (fields->group_values) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	}
	if (fields->running_time && !fields->group_values && features->reads_times) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED;
	}
	if (fields->branch_filter) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = fields->branch_filter;
	}
	if (fields->data_source)
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	if (fields->raw)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (fields->regs_mask) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = fields->regs_mask;
	}
	if (fields->stack_bytes) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = fields->stack_bytes;
	}
}

/*
 * The sampling event also writes the deferred user chains. A side-band event
 * would wake the reader for each of them. comm_exec makes the kernel consider a
 * per-CPU event for deferred chains (is_sb_event() in kernel/events/core.c);
 * without comm it has no other effect.
 */
static void defer_chains(struct perf_event_attr *attr)
{
	unsigned char *at = (unsigned char *)attr + offsetof(struct perf_event_attr, read_format) +
			    sizeof(attr->read_format);
	uint64_t flags;

	attr->comm_exec = 1;
	memcpy(&flags, at, sizeof(flags));
	flags |= defer_flags;
	memcpy(at, &flags, sizeof(flags));
}

/*
 * Does not request PERF_SAMPLE_PERIOD for a fixed period, which the layout
 * holds. For a software event the kernel would otherwise take one sample per
 * occurrence to report the period (perf_swevent_event() in
 * kernel/events/core.c).
 */
static void attr_set_rate(struct perf_event_attr *attr, const struct event *event)
{
	if (event->role == EVENT_COUNTED)
		return;
	attr->freq = event->period == 0;
	attr->sample_period = event->period ? event->period : event->frequency_hz;
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
}

void attr_samples(struct perf_event_attr *attr, const struct event *event,
		  const struct attr_features *features)
{
	assert(event->period || event->frequency_hz || event->role == EVENT_COUNTED);
	attr_init(attr, event->type, event->config);
	attr->config1 = event->config1;
	attr->config2 = event->config2;
#ifdef PERF_ATTR_SIZE_VER8
	attr->config3 = event->config3;
#endif
	/* The state of a group is that of its leader. */
	attr->disabled = event->role == EVENT_ALONE || event->role == EVENT_LEADS;
	attr->sample_type |= PERF_SAMPLE_IP;
	attr_set_rate(attr, event);
	attr->exclude_user = event->exclude_user;
	attr->exclude_kernel = event->exclude_kernel;
	attr->exclude_hv = event->exclude_hypervisor;
	attr->exclude_host = event->exclude_host;
	attr->exclude_guest = event->exclude_guest;
	attr->precise_ip = event->precise & 3;
	attr->read_format = features->lost ? attr_format_lost : 0;
	attr->context_switch = event->switches;
	ask_for_fields(attr, &event->fields, features);
	if (event->fields.may_defer_chain && features->defers_chains)
		defer_chains(attr);
}

void attr_choose_variant(struct perf_event_attr *attr, const struct event *event, size_t variant)
{
	const struct event_variant *chosen;

	if (variant >= event->variant_count)
		return;
	chosen = &event->variants[variant];
	attr->type = chosen->type;
	attr->config = chosen->config;
	if (!chosen->place)
		return;
	attr->config1 = (uintptr_t)chosen->place;
	attr->config2 = chosen->offset;
	if (!chosen->is_other_end)
		return;
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER);
	attr->sample_stack_user = 0;
	attr->exclude_callchain_kernel = attr->exclude_callchain_user = 0;
	if (!event->follows_calls)
		return;
	attr->sample_type |= PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = sizeof(uint64_t);
	attr->freq = 0;
	attr->sample_period = 1;
}

bool attr_relax(struct perf_event_attr *attr, bool may_be_less_precise, int number)
{
	bool is_generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	if (number != ENOENT && number != EINVAL && number != EOPNOTSUPP)
		return false;
	if (attr->precise_ip && may_be_less_precise)
		attr->precise_ip--;
	else if (is_generic && attr->config > UINT32_MAX)
		attr->config &= UINT32_MAX;
	else
		return false;
	return true;
}

struct record_layout attr_layout(const struct perf_event_attr *attr)
{
	return (struct record_layout){
		.sample_type = attr->sample_type,
		.regs_mask = attr->sample_regs_user,
		.read_format = attr->read_format,
		.branch_type = attr->branch_sample_type,
		.period = attr->freq ? 1 : attr->sample_period,
		.build_ids = attr->build_id,
		.bare = !attr->sample_id_all,
	};
}

void attr_exclude_kernel(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	attr->exclude_callchain_kernel = 1;
}

static int attr_open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd,
			   unsigned long flags)
{
	for (;;) {
		long fd = syscall(SYS_perf_event_open, attr, pid, cpu, leader_fd,
				  flags | PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			return (int)fd;
		if (errno != EINTR)
			return -errno;
	}
}

int attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return attr_open_event(attr, pid, cpu, -1, 0);
}

int attr_open_in_group(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd)
{
	return attr_open_event(attr, pid, cpu, leader_fd, 0);
}

int attr_open_cgroup(const struct perf_event_attr *attr, int cgroup, int cpu, int leader_fd)
{
	return attr_open_event(attr, cgroup, cpu, leader_fd, PERF_FLAG_PID_CGROUP);
}

static bool kernel_takes(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	CLEANUP(close_fd) int fd = attr_open(attr, pid, cpu);

	return fd >= 0;
}

bool attr_may_sample_cpu(unsigned cpu)
{
	struct perf_event_attr attr;

	attr_side_band(&attr, false);
	return kernel_takes(&attr, -1, (int)cpu);
}

bool attr_may_sample_cgroup(int cgroup, unsigned cpu)
{
	struct perf_event_attr attr;
	CLEANUP(close_fd) int fd = -1;

	attr_side_band(&attr, false);
	fd = attr_open_cgroup(&attr, cgroup, (int)cpu, -1);
	return fd >= 0;
}

void attr_counts_only(struct perf_event_attr *attr)
{
	attr->freq = 0;
	attr->sample_period = 0;
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	attr->read_format &= ~(uint64_t)(PERF_FORMAT_GROUP | PERF_FORMAT_ID |
					 PERF_FORMAT_TOTAL_TIME_ENABLED);
	attr->precise_ip = 0;
	attr->exclude_idle = 0;
	attr->context_switch = 0;
}

/* On an idle CPU hardware counters stop anyway. Some PMUs reject the bit. */
void attr_exclude_idle(struct perf_event_attr *attr)
{
	attr->exclude_idle = attr->type == PERF_TYPE_SOFTWARE;
}

struct error *attr_probe(struct attr_features *ret)
{
	struct perf_event_attr attr;
	CLEANUP(close_fd) int fd = -1;

	attr_ring_owner(&attr, 1);
	fd = attr_open(&attr, 0, -1);
	if (fd < 0)
		return refusal_explain(&(struct refusal){.number = -fd});
	attr.read_format = attr_format_lost;
	ret->lost = kernel_takes(&attr, 0, -1);
	attr.inherit = 1;
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	ret->reads_times = ret->lost && kernel_takes(&attr, 0, -1);
	attr.inherit = 0;
	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	attr.read_format = 0;
	defer_chains(&attr);
	ret->defers_chains = kernel_takes(&attr, 0, -1);
	return NULL;
}
