#include "perf/descriptors.h"

#include "base/alloc.h"
#include "perf/refusal.h"
#include "perf/threads.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * A listing shows all threads but those that are being started. A thread stays unseen only when
 * its parent was itself new to the last listing, so after a few of them none can be, although a
 * program that starts threads all the time never gives two equal ones.
 */
enum { LISTINGS_MAX = 8 };

/* Descriptors that the rest of the program may need at the same time; and one a process, to wait
 * for its end. */
enum { SPARE_DESCRIPTORS = 128 };

static void close_all(struct fd_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		close(list->items[i]);
	free(list->items);
	free(list->cpus);
}

void descriptors_deinit(struct descriptors *descriptors)
{
	close_all(&descriptors->samples);
	close_all(&descriptors->side);
	free(descriptors->sample_attrs);
	free(descriptors->ids);
	coverage_deinit(&descriptors->coverage);
}

/* Best effort: what is still missing then shows as EMFILE. */
static void raise_descriptor_limit(size_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= needed)
		return;
	/* Only root may. */
	limit.rlim_cur = limit.rlim_max = needed;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void reserve_descriptors(const struct descriptors *d, size_t threads)
{
	raise_descriptor_limit(d->side.count + d->samples.count + SPARE_DESCRIPTORS +
			       threads * (d->cpu_count * (d->event_count + 1) + 1));
}

/* What happens in the kernel only shows nothing when the kernel is left out. */
static bool happens_in_kernel(const struct event *event)
{
	return event->exclude_user || event->type == PERF_TYPE_TRACEPOINT ||
	       (event->type == PERF_TYPE_SOFTWARE &&
		(event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		 event->config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

/* Without the kernel from now on, if that may help after an error; or else false. */
static bool give_up_kernel(struct descriptors *d, int number)
{
	if ((number != EACCES && number != EPERM) || d->kernel_excluded || d->samples.count)
		return false;
	for (size_t i = 0; i < d->event_count; i++) {
		if (happens_in_kernel(&d->events[i]))
			return false;
	}
	for (size_t i = 0; i < d->event_count; i++)
		attr_exclude_kernel(&d->sample_attrs[i]);
	d->kernel_excluded = true;
	return true;
}

static void add_fd(struct fd_list *list, int fd, unsigned cpu)
{
	size_t old_room = list->room;

	GROW(list->items, list->count, list->room);
	if (list->room != old_room)
		list->cpus = xreallocarray(list->cpus, list->room, sizeof(*list->cpus));
	list->cpus[list->count] = cpu;
	list->items[list->count++] = fd;
}

/* Opens one descriptor on the CPU of that index and redirects it. The caller knows which list it
 * belongs to. */
static int open_into(const struct descriptors *d, const struct perf_event_attr *attr, pid_t tid,
		     unsigned cpu, const struct ring *ring, struct fd_list *list)
{
	int fd = attr_open(attr, tid, (int)d->cpus[cpu]);

	if (fd < 0)
		return -fd;
	add_fd(list, fd, cpu);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 ? errno : 0;
}

/* Notes the id of the sample descriptor that was opened last. 0 or an errno. */
static int note_id(struct descriptors *d, unsigned event, uint32_t late)
{
	struct event_id id = {.event = event};

	if (d->event_count == 1 && late == IDMAP_NONE)
		return 0;
	if (ioctl(d->samples.items[d->samples.count - 1], PERF_EVENT_IOC_ID, &id.id) < 0)
		return errno;
	if (late != IDMAP_NONE)
		coverage_add_descriptor(&d->coverage, late, id.id);
	if (d->event_count > 1) {
		GROW(d->ids, d->id_count, d->id_room);
		d->ids[d->id_count++] = id;
	}
	return 0;
}

static int open_samples(struct descriptors *d, unsigned event, pid_t tid, unsigned cpu,
			uint32_t late)
{
	int number = 0;

	do
		number = open_into(d, &d->sample_attrs[event], tid, cpu, &d->sample_rings[cpu],
				   &d->samples);
	while (number && give_up_kernel(d, number));
	return number ? number : note_id(d, event, late);
}

/*
 * tid -1: everyone. late: its number in the coverage. ESRCH: it has exited. The side band of all
 * CPUs comes first: it must tell of every child that inherits any of the samples.
 */
static struct error *open_thread(struct descriptors *d, pid_t tid, uint32_t late)
{
	for (unsigned cpu = 0; cpu < d->cpu_count; cpu++) {
		int number = open_into(d, &d->side_attr, tid, cpu, &d->side_rings[cpu], &d->side);

		if (number)
			return refusal_explain(&(struct refusal){
				.number = number, .tid = tid, .cpu = d->cpus[cpu]});
	}
	for (unsigned cpu = 0; cpu < d->cpu_count; cpu++) {
		for (unsigned event = 0; event < d->event_count; event++) {
			int number = open_samples(d, event, tid, cpu, late);

			if (number)
				return refusal_explain(&(struct refusal){.number = number,
									 .event = &d->events[event],
									 .tid = tid,
									 .cpu = d->cpus[cpu]});
		}
	}
	return NULL;
}

/* The same for one of many threads, whose end is no error. */
static struct error *open_listed(struct descriptors *d, pid_t tid, bool is_late)
{
	uint32_t late = is_late ? coverage_add(&d->coverage, tid) : IDMAP_NONE;
	struct error *err = open_thread(d, tid, late);

	if (!err || error_number(err) != ESRCH)
		return err;
	error_free(err);
	return NULL;
}

static struct error *list_processes(const struct target *target, bool is_first,
				    struct thread_list *list)
{
	for (size_t i = 0; i < target->id_count; i++) {
		struct error *err = thread_list_add_process(list, target->ids[i]);
		bool may_be_wrong = is_first && !target->were_found;

		/* A wrong number at first; later on the process has come to its end. */
		if (err && (may_be_wrong || error_number(err) != ESRCH))
			return err;
		error_free(err);
	}
	return NULL;
}

static bool is_denial(const struct error *err)
{
	return error_number(err) == EACCES || error_number(err) == EPERM;
}

static struct error *open_processes(struct descriptors *d, const struct target *target)
{
	CLEANUP(thread_list_deinit) struct thread_list list = {0};
	CLEANUP(error_cleanup) struct error *denial = NULL;
	size_t opened = 0;

	for (unsigned listing = 0; listing < LISTINGS_MAX; listing++) {
		bool is_first = listing == 0;
		struct error *err = list_processes(target, is_first, &list);

		if (err)
			return err;
		if (opened == list.count)
			break;
		reserve_descriptors(d, list.count - opened);
		for (; opened < list.count; opened++) {
			/* Without inheritance a thread can only be counted once. */
			err = open_listed(d, list.items[opened], !is_first && target->inherit);
			if (err && !(target->were_found && is_denial(err)))
				return err;
			if (err) {
				error_free(denial);
				denial = err;
			}
		}
	}
	if (d->samples.count)
		return NULL;
	return denial ? STEAL(denial) : error_errno(ESRCH, "process %d", (int)target->ids[0]);
}

static struct error *open_threads(struct descriptors *d, const struct target *target)
{
	CLEANUP(thread_list_deinit) struct thread_list list = {0};

	for (size_t i = 0; i < target->id_count; i++)
		thread_list_add(&list, target->ids[i]);
	reserve_descriptors(d, list.count);
	for (size_t i = 0; i < list.count; i++) {
		struct error *err = open_thread(d, list.items[i], IDMAP_NONE);

		if (err)
			return err;
	}
	return NULL;
}

struct error *descriptors_open(struct descriptors *descriptors, const struct target *target)
{
	assert(descriptors->event_count > 0 && descriptors->cpu_count > 0);
	switch (target->kind) {
	case TARGET_PROCESSES:
		return open_processes(descriptors, target);
	case TARGET_COMMAND:
	case TARGET_THREADS:
		return open_threads(descriptors, target);
	case TARGET_SYSTEM:
		break;
	}
	reserve_descriptors(descriptors, 1);
	return open_thread(descriptors, -1, IDMAP_NONE);
}

struct error *descriptors_enable(const struct descriptors *descriptors)
{
	for (size_t i = 0; i < descriptors->samples.count; i++) {
		if (ioctl(descriptors->samples.items[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			return error_errno(errno, "start sampling");
	}
	return NULL;
}

void descriptors_disable(const struct descriptors *descriptors)
{
	for (size_t i = 0; i < descriptors->samples.count; i++)
		ioctl(descriptors->samples.items[i], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t descriptors_lost(const struct descriptors *descriptors)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < descriptors->samples.count; i++) {
		/* read_format: PERF_FORMAT_LOST alone */
		struct {
			uint64_t count, lost;
		} values;

		if (read(descriptors->samples.items[i], &values, sizeof(values)) == sizeof(values))
			lost += values.lost;
	}
	return lost;
}
