#include "perf/wakeups.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "perf/attr.h"
#include "perf/cpus.h"
#include "perf/refusal.h"
#include "perf/ring_merge.h"
#include "perf/tracepoint.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TRACEPOINT "sched:sched_waking"

enum {
	/* Upper bound of one ring, which holds some tens of milliseconds of a
	 * busy CPU, and of all rings. */
	WAKEUPS_RING_BYTES_MAX = 8 << 20,
	WAKEUPS_RING_BYTES_MIN = 1 << 20,
	WAKEUPS_RINGS_BYTES = 128 << 20,
	/* Upper bound of the time from the timestamp of a record to the end of
	 * its write, if the kernel is not interrupted in between. */
	WAKEUPS_WRITTEN_NS = 20000,
	/* Bits of common_flags: include/linux/trace_events.h, enum
	 * trace_flag_type. */
	FLAG_HARD_INTERRUPT = 0x08,
	FLAG_SOFT_INTERRUPT = 0x10,
};

struct wakeups {
	unsigned *cpus;
	size_t cpu_count;
	struct ring *rings; /* one per CPU */
	int *fds;	    /* one per CPU */
	int epoll_fd;
	struct layouts layouts;
	struct ring_merge merge;
	struct tracepoint_format format;
	const struct tracepoint_field *woken, *flags; /* fields of the format */
	/* Records up to this time are in the batch. */
	uint64_t noted_ns;
	/* Number reported by loss records. */
	uint64_t lost;
};

static struct error *find_fields(struct wakeups *wakeups)
{
	struct error *err = tracepoint_read_format(TRACEPOINT, NULL, &wakeups->format);

	if (err)
		return err;
	wakeups->woken = tracepoint_format_find(&wakeups->format, "pid");
	wakeups->flags = tracepoint_format_find(&wakeups->format, "common_flags");
	return wakeups->woken && wakeups->flags ? NULL
						: error_new("the tracepoint " TRACEPOINT
							    " has no field pid or common_flags");
}

/* Returns a filter such as "pid == 12 || pid == 13". */
static char *filter_of(const struct wakeups_options *options)
{
	char *filter = xstrdup("");

	for (size_t i = 0; i < options->woken_count; i++) {
		CLEANUP(free_ptr) char *before = filter;

		filter = xasprintf("%s%spid == %d", before, i ? " || " : "",
				   (int)options->woken[i]);
	}
	return filter;
}

/* Old kernels may not support the filter; then unwanted wakeups are written as
 * well. */
static void filter_all(struct wakeups *wakeups, const struct wakeups_options *options)
{
	CLEANUP(free_ptr) char *filter = NULL;

	if (!options->woken_count || options->woken_count > WAKEUPS_FILTERED)
		return;
	filter = filter_of(options);
	for (size_t i = 0; i < wakeups->cpu_count; i++)
		ioctl(wakeups->fds[i], PERF_EVENT_IOC_SET_FILTER, filter);
}

static size_t ring_bytes(const struct wakeups *wakeups)
{
	size_t bytes = WAKEUPS_RING_BYTES_MAX;

	while (bytes > WAKEUPS_RING_BYTES_MIN && bytes * wakeups->cpu_count > WAKEUPS_RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

static struct error *wakeups_open_cpu(struct wakeups *wakeups, size_t cpu,
				      const struct event *event, const struct perf_event_attr *attr)
{
	struct epoll_event interest = {.events = EPOLLIN};
	struct ring *ring = &wakeups->rings[cpu];
	size_t bytes = ring_bytes(wakeups);
	struct error *err = ring_open(wakeups->cpus[cpu], bytes, (uint32_t)(bytes / 2), ring);
	int fd;

	if (err)
		return err;
	fd = attr_open(attr, -1, (int)wakeups->cpus[cpu]);
	if (fd < 0)
		return refusal_explain(&(struct refusal){
			.number = -fd, .event = event, .tid = -1, .cpu = wakeups->cpus[cpu]});
	wakeups->fds[cpu] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 ||
	    epoll_ctl(wakeups->epoll_fd, EPOLL_CTL_ADD, ring->fd, &interest) < 0)
		return error_errno(errno, "open the ring buffers of wakeups");
	return NULL;
}

static struct error *wakeups_open_cpus(struct wakeups *wakeups, struct event *event)
{
	struct attr_features features;
	struct perf_event_attr attr;
	struct record_layout layout;
	struct error *err = attr_probe(&features);

	if (err)
		return err;
	attr_samples(&attr, event, &features);
	layout = attr_layout(&attr);
	layouts_add(&wakeups->layouts, &layout);
	wakeups->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (wakeups->epoll_fd < 0)
		return error_errno(errno, "watch the ring buffers of wakeups");
	for (size_t i = 0; !err && i < wakeups->cpu_count; i++)
		err = wakeups_open_cpu(wakeups, i, event, &attr);
	return err;
}

static struct wakeups *wakeups_new(void)
{
	struct wakeups *wakeups = xcalloc(1, sizeof(*wakeups));

	wakeups->epoll_fd = -1;
	return wakeups;
}

static void init_cpus(struct wakeups *wakeups)
{
	wakeups->rings = xcalloc(wakeups->cpu_count, sizeof(*wakeups->rings));
	wakeups->fds = xcalloc(wakeups->cpu_count, sizeof(*wakeups->fds));
	for (size_t i = 0; i < wakeups->cpu_count; i++)
		wakeups->rings[i].fd = wakeups->fds[i] = -1;
	ring_merge_init(&wakeups->merge, wakeups->rings, (unsigned)wakeups->cpu_count,
			&wakeups->layouts);
}

struct error *wakeups_open(const struct wakeups_options *options, struct wakeups **ret)
{
	CLEANUP(wakeups_cleanup) struct wakeups *wakeups = wakeups_new();
	char name[] = TRACEPOINT;
	struct event event = {
		.name = name,
		.type = PERF_TYPE_TRACEPOINT,
		.period = 1,
		.is_tracepoint = true,
		.fields = options->fields,
	};
	struct error *err = tracepoint_id(TRACEPOINT, NULL, &event.config);

	event.fields.raw = true;
	if (!err)
		err = find_fields(wakeups);
	if (!err)
		err = cpus_online(&wakeups->cpus, &wakeups->cpu_count);
	if (err)
		return err;
	init_cpus(wakeups);
	err = wakeups_open_cpus(wakeups, &event);
	if (err)
		return err;
	filter_all(wakeups, options);
	*ret = STEAL(wakeups);
	return NULL;
}

void wakeups_free(struct wakeups *wakeups)
{
	if (!wakeups)
		return;
	for (size_t i = 0; wakeups->rings && i < wakeups->cpu_count; i++) {
		close_fd(&wakeups->fds[i]);
		ring_close(&wakeups->rings[i]);
	}
	close_fd(&wakeups->epoll_fd);
	ring_merge_deinit(&wakeups->merge);
	layouts_deinit(&wakeups->layouts);
	free(wakeups->rings);
	free(wakeups->fds);
	free(wakeups->cpus);
	tracepoint_format_deinit(&wakeups->format);
	free(wakeups);
}

struct error *wakeups_enable(struct wakeups *wakeups)
{
	for (size_t i = 0; i < wakeups->cpu_count; i++)
		if (ioctl(wakeups->fds[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			return error_errno(errno, "record wakeups");
	return NULL;
}

void wakeups_disable(struct wakeups *wakeups)
{
	for (size_t i = 0; i < wakeups->cpu_count; i++)
		ioctl(wakeups->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

int wakeups_fd(const struct wakeups *wakeups)
{
	return wakeups->epoll_fd;
}

/* Returns the next record that is due. */
static const struct ring_head *next_head(struct wakeups *wakeups, uint64_t until_ns)
{
	const struct ring_head *head;

	wakeups->merge.until_ns = until_ns;
	head = ring_merge_next(&wakeups->merge);
	if (head || until_ns <= wakeups->noted_ns)
		return head;
	wakeups->noted_ns = clock_now_ns() - WAKEUPS_WRITTEN_NS;
	ring_merge_batch(&wakeups->merge, until_ns);
	return ring_merge_next(&wakeups->merge);
}

static bool read_wakeup(const struct wakeups *wakeups, const struct record *record,
			struct wakeup *ret)
{
	struct bytes data = record->sample.raw_data;
	uint64_t woken, flags;

	if (!tracepoint_field_number(wakeups->woken, data, &woken) ||
	    !tracepoint_field_number(wakeups->flags, data, &flags))
		return false;
	*ret = (struct wakeup){
		.woken = (pid_t)woken,
		.in_interrupt = flags & FLAG_HARD_INTERRUPT,
		.in_soft_interrupt = flags & FLAG_SOFT_INTERRUPT,
		.waker = record,
	};
	return true;
}

bool wakeups_next(struct wakeups *wakeups, uint64_t until_ns, struct wakeup *ret)
{
	const struct ring_head *head;

	while ((head = next_head(wakeups, until_ns))) {
		const struct record *record = &head->record;

		if (record->type == RECORD_LOST)
			wakeups->lost += record->lost.count;
		else if (record->type == RECORD_SAMPLE && read_wakeup(wakeups, record, ret))
			return true;
	}
	return false;
}

/* The kernel reports losses by a record before the next one that fits, and
 * since Linux 6.0 also by a counter. */
uint64_t wakeups_lost(const struct wakeups *wakeups)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < wakeups->cpu_count; i++) {
		struct {
			uint64_t value, lost;
		} counted = {0};

		if (read(wakeups->fds[i], &counted, sizeof(counted)) == sizeof(counted))
			lost += counted.lost;
	}
	return lost > wakeups->lost ? lost : wakeups->lost;
}
