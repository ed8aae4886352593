#include "perf/attr.h"

#include "perf/refusal.h"

#include <assert.h>
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* PERF_FORMAT_LOST; an enumerator, so headers older than Linux 6.0 cannot be asked for it. */
static const uint64_t format_lost = 1U << 4;

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

void attr_ring_owner(struct perf_event_attr *attr, uint32_t watermark_bytes)
{
	attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	/* Not wakeup_events: that counts samples alone, and the side band has none. */
	attr->watermark = 1;
	attr->wakeup_watermark = watermark_bytes;
}

void attr_side_band(struct perf_event_attr *attr, const struct attr_features *features,
		    bool inherit)
{
	attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->exclude_kernel = 1;
	attr->inherit = inherit;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = features->build_id;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

static void ask_for_chains(struct perf_event_attr *attr, const struct sampler_options *options)
{
	if (!options->kernel_chain && !options->user_chain)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = !options->kernel_chain;
	attr->exclude_callchain_user = !options->user_chain;
}

void attr_samples(struct perf_event_attr *attr, const struct event *event,
		  const struct sampler_options *options, const struct attr_features *features)
{
	assert(event->period || event->frequency_hz);
	attr_init(attr, event->type, event->config);
	attr->disabled = 1;
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	attr->freq = event->period == 0;
	attr->sample_period = event->period ? event->period : event->frequency_hz;
	attr->exclude_user = event->exclude_user;
	attr->exclude_kernel = event->exclude_kernel;
	attr->precise_ip = event->precise & 3;
	/* The addresses of a virtual machine's guest mean nothing here. */
	attr->exclude_guest = event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_RAW;
	attr->read_format = features->lost ? format_lost : 0;
	attr->build_id = features->build_id; /* so a file of the records says how to read them */
	ask_for_chains(attr, options);
	if (options->regs_mask) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = options->regs_mask;
	}
	if (options->stack_bytes) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = options->stack_bytes;
	}
}

void attr_exclude_kernel(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	attr->exclude_callchain_kernel = 1;
}

int attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	for (;;) {
		long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			return (int)fd;
		if (errno != EINTR)
			return -errno;
	}
}

static bool kernel_takes(const struct perf_event_attr *attr)
{
	CLEANUP(close_fd) int fd = attr_open(attr, 0, -1);

	return fd >= 0;
}

struct error *attr_probe(struct attr_features *ret)
{
	struct perf_event_attr attr;
	CLEANUP(close_fd) int fd = -1;

	attr_ring_owner(&attr, 1);
	fd = attr_open(&attr, 0, -1);
	if (fd < 0)
		return refusal_explain(&(struct refusal){.number = -fd});
	attr.read_format = format_lost;
	ret->lost = kernel_takes(&attr);
	attr_side_band(&attr, &(struct attr_features){.build_id = true}, false);
	ret->build_id = kernel_takes(&attr);
	return NULL;
}
