#include "perf/descriptors.h"

#include "base/alloc.h"
#include "base/descendants.h"
#include "perf/cpus.h"
#include "perf/group_counts.h"
#include "perf/refusal.h"
#include "perf/threads.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Maximum number of listings. A listing of /proc/PID/task misses only threads
 * that are being created. A thread remains unseen only if its parent was new in
 * the last listing, so a few listings suffice. Two equal listings may never
 * occur if a program creates threads all the time.
 */
enum { LISTINGS_MAX = 8 };

/* Reserved for the rest of prof. */
enum { SPARE_DESCRIPTORS = 128 };

static void close_list(struct fd_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		close(list->items[i]);
	free(list->items);
	free(list->cpus);
	free(list->events);
	*list = (struct fd_list){0};
}

static void descriptors_close_all(struct descriptors *d)
{
	close_list(&d->samples);
	close_list(&d->side);
	close_list(&d->switches);
	for (size_t i = 0; i < d->opened_count; i++)
		opened_event_forget(&d->opened[i]);
	command_counters_free(STEAL(d->counters));
	late_threads_deinit(&d->late_threads);
	d->late_threads = (struct late_threads){0};
	d->denied_count = 0;
}

void descriptors_deinit(struct descriptors *descriptors)
{
	descriptors_close_all(descriptors);
	free(descriptors->opened);
}

/* Best effort: if the limit remains too low, opening fails with EMFILE. */
static void raise_descriptor_limit(size_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= needed)
		return;
	/* Only root may raise the hard limit. */
	limit.rlim_cur = limit.rlim_max = needed;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void reserve_descriptors(const struct descriptors *d, size_t threads)
{
	raise_descriptor_limit(
		d->side.count + d->samples.count + d->switches.count + SPARE_DESCRIPTORS +
		threads * d->cpu_count * (d->opened_count + d->needs_switches + !d->is_joint));
}

/* Returns whether the event occurs only in the kernel, so that it has no
 * samples if the kernel is excluded. */
static bool happens_in_kernel(const struct event *event)
{
	return event->exclude_user || event->type == PERF_TYPE_TRACEPOINT ||
	       (event->type == PERF_TYPE_SOFTWARE &&
		(event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		 event->config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

/* Excludes the kernel from now on. Returns false if that does not help after
 * this error. */
static bool give_up_kernel(struct descriptors *d, int number)
{
	if ((number != EACCES && number != EPERM) || d->kernel_excluded || d->samples.count)
		return false;
	for (size_t i = 0; i < d->event_count; i++) {
		if (happens_in_kernel(&d->events[i]))
			return false;
	}
	for (size_t i = 0; i < d->opened_count; i++)
		attr_exclude_kernel(&d->opened[i].attr);
	d->kernel_excluded = true;
	return true;
}

static void add_fd(struct fd_list *list, int fd, unsigned cpu)
{
	size_t old_room = list->room;

	GROW(list->items, list->count, list->room);
	if (list->room != old_room) {
		list->cpus = xreallocarray(list->cpus, list->room, sizeof(*list->cpus));
		list->events = xreallocarray(list->events, list->room, sizeof(*list->events));
	}
	list->cpus[list->count] = cpu;
	list->events[list->count] = 0;
	list->items[list->count++] = fd;
}

/* Adds a descriptor on the CPU with this index and redirects it to the ring.
 * Returns 0 or an errno. */
static int add_redirected(struct fd_list *list, int fd, unsigned cpu, const struct ring *ring)
{
	if (fd < 0)
		return -fd;
	add_fd(list, fd, cpu);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 ? errno : 0;
}

/* Stores the id of the sampling descriptor that was opened last. Returns 0 or
 * an errno. */
static int note_id(struct descriptors *d, struct opened_event *opened, uint32_t late)
{
	uint64_t id = 0;

	d->samples.events[d->samples.count - 1] = opened->event;
	if (d->opened_count == 1 && late == IDMAP_NONE)
		return 0;
	if (ioctl(d->samples.items[d->samples.count - 1], PERF_EVENT_IOC_ID, &id) < 0)
		return errno;
	if (late != IDMAP_NONE)
		late_threads_add_descriptor(&d->late_threads, late, id);
	if (d->opened_count > 1)
		opened_event_add_id(opened, id);
	return 0;
}

/* Returns the descriptor of the group's leader, or -1. */
static int descriptors_group_of(struct descriptors *d, const struct opened_event *opened)
{
	enum event_role role = d->events[opened->event].role;

	if (role == EVENT_ALONE || role == EVENT_LEADS)
		d->leader_fd = -1;
	return d->leader_fd;
}

static int open_samples(struct descriptors *d, struct opened_event *opened, pid_t tid, unsigned cpu,
			uint32_t late)
{
	int number = 0;

	do
		number = add_redirected(&d->samples,
					opened_event_open(opened, tid, d->cpus[cpu],
							  descriptors_group_of(d, opened)),
					cpu, &d->sample_rings[cpu]);
	while (number && give_up_kernel(d, number));
	if (!number && d->events[opened->event].role == EVENT_LEADS)
		d->leader_fd = d->samples.items[d->samples.count - 1];
	return number ? number : note_id(d, opened, late);
}

/* Returns a probe among the events, to explain why a dummy event was
 * refused. */
static const struct event *probe_of(const struct descriptors *d)
{
	for (size_t i = 0; i < d->event_count; i++)
		if (d->events[i].is_probe)
			return &d->events[i];
	return NULL;
}

static struct error *descriptors_explain(const struct descriptors *d, int number,
					 const struct event *event, pid_t tid, unsigned cpu)
{
	if (!event)
		event = probe_of(d);
	return refusal_explain(&(struct refusal){
		.number = number, .event = event, .tid = tid, .cpu = d->cpus[cpu]});
}

/* Returns whether other CPUs may have the counter that this CPU lacks. */
static bool may_lack(const struct event *event, int number)
{
	return !event->is_probe &&
	       (number == ENOENT || number == ENODEV || number == EOPNOTSUPP || number == ENXIO ||
		(number == EINVAL && event->variant_count > 1));
}

static bool samples_write_side_band(const struct descriptors *d)
{
	return d->is_joint && !d->needs_switches;
}

/* Filters the sampling descriptor that was opened last. Descriptors that
 * inherit from it have the same filter. */
static struct error *descriptors_filter_samples(const struct descriptors *d,
						const struct event *event)
{
	if (ioctl(d->samples.items[d->samples.count - 1], PERF_EVENT_IOC_SET_FILTER,
		  event->filter) == 0)
		return NULL;
	return error_errno(errno, "the kernel refuses the filter \"%s\" of %s", event->filter,
			   event->name);
}

/* Opens the variant of the event for the CPU. A CPU that lacks the counter is
 * not an error. */
static struct error *open_variant(struct descriptors *d, struct opened_event *opened, pid_t tid,
				  unsigned cpu, uint32_t late)
{
	const struct event *event = &d->events[opened->event];
	int number = 0;

	if (!event_variant_is_of(event, opened->variant, d->cpus[cpu]) ||
	    opened_event_lacks(opened, cpu))
		return NULL;
	number = open_samples(d, opened, tid, cpu, late);
	if (!number)
		return event->filter ? descriptors_filter_samples(d, event) : NULL;
	if (!may_lack(event, number) || samples_write_side_band(d))
		return descriptors_explain(d, number, event, tid, cpu);
	opened_event_note_lack(opened, cpu, number, d->cpu_count);
	return NULL;
}

/* For an event of one PMU of which no CPU was chosen. */
static struct error *explain_no_cpu(const struct event *event)
{
	const struct event_variant *variant = &event->variants[0];
	CLEANUP(free_ptr) char *cpus = cpus_text(variant->cpus, variant->cpu_count);

	return error_new("%s is counted on CPUs %s only", event->name, cpus);
}

/* Fails if the event is open on no CPU. */
static struct error *check_open(const struct descriptors *d, unsigned event, pid_t tid)
{
	const struct opened_event *first = NULL;

	for (size_t i = 0; i < d->opened_count; i++) {
		const struct opened_event *opened = &d->opened[i];

		if (opened->event != event)
			continue;
		if (opened->is_open)
			return NULL;
		if (!first && opened->lacks)
			first = opened;
	}
	return first ? descriptors_explain(d, first->lack_number, &d->events[event], tid,
					   first->lack_cpu)
		     : explain_no_cpu(&d->events[event]);
}

/* Returns 0 or an errno. */
static int open_switch(struct descriptors *d, pid_t tid, unsigned cpu, uint32_t late)
{
	int fd = attr_open(&d->switch_attr, tid, (int)d->cpus[cpu]);
	int number = add_redirected(&d->switches, fd, cpu, &d->switch_rings[cpu]);
	uint64_t id = 0;

	if (number || late == IDMAP_NONE)
		return number;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return errno;
	late_threads_add_descriptor(&d->late_threads, late, id);
	return 0;
}

static struct error *open_needed_switches(struct descriptors *d, pid_t tid, uint32_t late)
{
	for (unsigned cpu = 0; d->needs_switches && cpu < d->cpu_count; cpu++) {
		int number = open_switch(d, tid, cpu, late);

		if (number)
			return descriptors_explain(d, number, NULL, tid, cpu);
	}
	return NULL;
}

static struct error *open_samples_of(struct descriptors *d, pid_t tid, uint32_t late)
{
	struct error *err = NULL;

	for (unsigned cpu = 0; cpu < d->cpu_count; cpu++) {
		d->leader_fd = -1;
		for (size_t i = 0; !err && i < d->opened_count; i++)
			err = open_variant(d, &d->opened[i], tid, cpu, late);
	}
	for (unsigned event = 0; !err && event < d->event_count; event++)
		err = check_open(d, event, tid);
	return err;
}

/*
 * Opens all events of a thread; tid is -1 for all processes. `switching` is the
 * thread whose switches are recorded, usually tid. `late` is its number among
 * the late threads, or IDMAP_NONE. The error number is ESRCH if the thread has
 * exited. The side band is opened on all CPUs first, because it must report
 * every child that inherits another event.
 */
static struct error *open_thread(struct descriptors *d, pid_t tid, pid_t switching, uint32_t late)
{
	struct error *err;

	for (unsigned cpu = 0; cpu < d->cpu_count && !d->is_joint; cpu++) {
		int fd = attr_open(&d->side_attr, tid, (int)d->cpus[cpu]);
		int number = add_redirected(&d->side, fd, cpu, &d->side_rings[cpu]);

		if (number)
			return descriptors_explain(d, number, NULL, tid, cpu);
	}
	err = open_needed_switches(d, switching, late);
	return err ? err : open_samples_of(d, tid, late);
}

/* Like open_thread(), for a thread from a listing. Ignores threads that have
 * exited. */
static struct error *open_listed(struct descriptors *d, pid_t tid, bool is_late)
{
	uint32_t late = is_late ? late_threads_add(&d->late_threads, tid) : IDMAP_NONE;
	struct error *err = open_thread(d, tid, tid, late);

	if (!err || error_number(err) != ESRCH)
		return err;
	error_free(err);
	return NULL;
}

static size_t asked_count(const struct target *target)
{
	return target->id_count - target->found_count;
}

static struct error *list_children(const struct target *target, struct thread_list *list)
{
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;
	struct error *err = NULL;

	descendants_list(target->ids, target->id_count, &children, &count);
	for (size_t i = 0; !err && i < count; i++) {
		err = thread_list_add_process(list, children[i]);
		if (!err || error_number(err) != ESRCH)
			continue;
		error_free(err);
		err = NULL;
	}
	return err;
}

static struct error *list_processes(const struct target *target, bool is_first,
				    struct thread_list *list)
{
	for (size_t i = 0; i < target->id_count; i++) {
		struct error *err = thread_list_add_process(list, target->ids[i]);
		bool may_be_wrong = is_first && i < asked_count(target);

		/* On the first try the tid may be wrong. Later ESRCH means that
		 * the process has exited. */
		if (err && (may_be_wrong || error_number(err) != ESRCH))
			return err;
		error_free(err);
	}
	return target->with_children ? list_children(target, list) : NULL;
}

/* Returns whether the thread belongs to a process that was requested by pid. */
static bool is_asked_for(const struct target *target, pid_t tid)
{
	for (size_t i = 0; i < asked_count(target); i++) {
		CLEANUP(free_ptr)
		char *path = xasprintf("/proc/%d/task/%d", (int)target->ids[i], (int)tid);

		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool descriptors_is_denial(const struct error *err)
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
			/* Without inheritance no thread is counted twice. */
			err = open_listed(d, list.items[opened], !is_first && target->inherit);
			if (err && !(descriptors_is_denial(err) &&
				     !is_asked_for(target, list.items[opened])))
				return err;
			if (err) {
				error_free(denial);
				denial = err;
				d->denied_count++;
			}
		}
	}
	if (d->samples.count || (!d->event_count && d->switches.count) || !target->id_count)
		return NULL;
	return denial ? STEAL(denial) : error_errno(ESRCH, "process %d", (int)target->ids[0]);
}

static void enable_from(const struct fd_list *list, size_t first)
{
	for (size_t i = first; i < list->count; i++)
		ioctl(list->items[i], PERF_EVENT_IOC_ENABLE, 0);
}

void descriptors_add_process(struct descriptors *d, pid_t pid, bool is_enabled)
{
	const struct target target = {.kind = TARGET_PROCESSES,
				      .ids = &pid,
				      .id_count = 1,
				      .inherit = d->side_attr.inherit,
				      .found_count = 1};
	size_t samples = d->samples.count, switches = d->switches.count;

	error_free(open_processes(d, &target));
	if (is_enabled)
		enable_from(&d->samples, samples);
	if (is_enabled || d->needs_switches)
		enable_from(&d->switches, switches);
}

/* Best effort: without switches, only the CPU time of short-lived processes is
 * less accurate. */
static void open_switches(struct descriptors *d, pid_t tid)
{
	reserve_descriptors(d, 1);
	for (unsigned cpu = 0; cpu < d->cpu_count; cpu++) {
		if (!open_switch(d, tid, cpu, IDMAP_NONE))
			continue;
		descriptors_end_switches(d);
		return;
	}
}

static struct error *open_threads(struct descriptors *d, const struct target *target)
{
	CLEANUP(thread_list_deinit) struct thread_list list = {0};

	for (size_t i = 0; i < target->id_count; i++)
		thread_list_add(&list, target->ids[i]);
	reserve_descriptors(d, list.count);
	for (size_t i = 0; i < list.count; i++) {
		struct error *err = open_thread(d, list.items[i], list.items[i], IDMAP_NONE);

		if (err)
			return err;
	}
	return NULL;
}

/* Fails if a process does not exist. */
static struct error *check_processes(const struct target *target)
{
	CLEANUP(thread_list_deinit) struct thread_list list = {0};

	return target->kind == TARGET_PROCESSES ? list_processes(target, true, &list) : NULL;
}

/* Serves commands, whose switches are recorded per thread, and processes as
 * well. */
static struct error *descriptors_open_cpus(struct descriptors *d, const struct target *target)
{
	pid_t switching = target->kind == TARGET_COMMAND ? target->ids[0] : -1;
	struct error *err = check_processes(target);

	if (err)
		return err;
	reserve_descriptors(d, 1);
	return open_thread(d, -1, switching, IDMAP_NONE);
}

static struct error *descriptors_open_target(struct descriptors *d, const struct target *target)
{
	if (d->whole_cpus)
		return descriptors_open_cpus(d, target);
	if (target->kind == TARGET_PROCESSES)
		return open_processes(d, target);
	if (d->switch_rings && !d->needs_switches)
		open_switches(d, target->ids[0]);
	return open_threads(d, target);
}

static bool is_counted_on(const struct event *event, unsigned cpu)
{
	for (size_t i = 0; i < event_variant_count(event); i++)
		if (event_variant_is_of(event, i, cpu))
			return true;
	return false;
}

static void write_side_band(const struct descriptors *d, struct perf_event_attr *attr)
{
	attr_add_side_band(attr);
	attr->mmap_data = d->side_attr.mmap_data;
}

/* Makes another event write the side band. Returns false if some CPUs do not
 * count that event, or if it samples only one of several cgroups. */
static bool descriptors_join(struct descriptors *d)
{
	if (d->needs_switches) {
		write_side_band(d, &d->switch_attr);
		return d->is_joint = true;
	}
	if (d->opened[0].cgroup != d->opened[d->opened_count - 1].cgroup)
		return false;
	for (size_t cpu = 0; cpu < d->cpu_count; cpu++)
		if (!is_counted_on(&d->events[0], d->cpus[cpu]))
			return false;
	for (size_t i = 0; i < d->opened_count && d->opened[i].event == 0; i++)
		write_side_band(d, &d->opened[i].attr);
	return d->is_joint = true;
}

void descriptors_count_command(struct descriptors *d, pid_t command, bool starts_at_exec)
{
	command_counters_add(d->counters, d->events, d->opened, d->opened_count, command,
			     starts_at_exec);
}

/* Best effort: samples do not depend on them. */
static void open_counters(struct descriptors *d, const struct target *target)
{
	if (target->kind != TARGET_COMMAND || !(d->whole_cpus || target->commands_later))
		return;
	d->counters = command_counters_new(d->event_count);
	if (!target->commands_later)
		descriptors_count_command(d, target->ids[0], d->starts_at_exec);
}

struct error *descriptors_open(struct descriptors *descriptors, const struct target *target)
{
	bool has_many_threads = target->kind == TARGET_PROCESSES || target->kind == TARGET_THREADS;
	struct error *err;

	assert(descriptors->event_count > 0 || descriptors->needs_switches);
	assert(descriptors->cpu_count > 0);
	err = descriptors_open_target(descriptors, target);
	if (!err)
		open_counters(descriptors, target);
	if (!err || error_number(err) != EMFILE || !has_many_threads ||
	    !descriptors_join(descriptors))
		return err;
	error_free(err);
	descriptors_close_all(descriptors);
	return descriptors_open_target(descriptors, target);
}

static bool is_lacking(const struct descriptors *d, unsigned event, unsigned cpu)
{
	for (size_t i = 0; i < d->opened_count; i++)
		if (d->opened[i].event == event && opened_event_lacks(&d->opened[i], cpu))
			return true;
	/* For an event of a single PMU, the other CPUs are not missing. */
	return d->events[event].variant_count > 1 &&
	       !is_counted_on(&d->events[event], d->cpus[cpu]);
}

char *descriptors_lacking_cpus(const struct descriptors *d, unsigned event)
{
	CLEANUP(free_ptr) unsigned *cpus = xcalloc(d->cpu_count, sizeof(*cpus));
	size_t count = 0;

	for (unsigned cpu = 0; cpu < d->cpu_count; cpu++)
		if (is_lacking(d, event, cpu))
			cpus[count++] = d->cpus[cpu];
	return count ? cpus_text(cpus, count) : NULL;
}

/* Returns whether the event is enabled and disabled by its group's leader. */
static bool is_led(const struct descriptors *d, unsigned event)
{
	return d->events[event].role == EVENT_FOLLOWS || d->events[event].role == EVENT_COUNTED;
}

/* Makes two passes: if a thread forks while its creator's event changes, the
 * child's event can keep the old state. A pass that changes nothing is
 * cheap. */
static bool set_enabled(const struct descriptors *d, const struct fd_list *list, bool enabled)
{
	bool is_set = true;

	for (size_t i = 0; i < 2 * list->count; i++) {
		if (list == &d->samples && is_led(d, list->events[i % list->count]))
			continue;
		is_set &= ioctl(list->items[i % list->count],
				enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) == 0;
	}
	return is_set;
}

struct error *descriptors_enable(const struct descriptors *descriptors)
{
	/* For a command that starts at its exec, the exec enables switches and
	 * counters. */
	if (!descriptors->starts_at_exec)
		set_enabled(descriptors, &descriptors->switches, true);
	if (descriptors->counters && !descriptors->starts_at_exec)
		command_counters_enable(descriptors->counters);
	if (!set_enabled(descriptors, &descriptors->samples, true))
		return error_errno(errno, "start sampling");
	return NULL;
}

void descriptors_disable(const struct descriptors *descriptors)
{
	set_enabled(descriptors, &descriptors->samples, false);
	set_enabled(descriptors, &descriptors->switches, false);
}

void descriptors_pause(const struct descriptors *descriptors)
{
	set_enabled(descriptors, &descriptors->samples, false);
	if (descriptors->counters)
		command_counters_disable(descriptors->counters);
	if (!descriptors->needs_switches)
		set_enabled(descriptors, &descriptors->switches, false);
}

void descriptors_enable_switches(const struct descriptors *descriptors)
{
	if (descriptors->needs_switches)
		set_enabled(descriptors, &descriptors->switches, true);
}

void descriptors_end_switches(struct descriptors *descriptors)
{
	if (descriptors->needs_switches)
		return;
	close_list(&descriptors->switches);
}

struct counted {
	uint64_t value, lost;
};

/* Reads a counter. Its read_format is PERF_FORMAT_LOST or 0, or with
 * PERF_FORMAT_TOTAL_TIME_ENABLED before it. For the leader of a counted group,
 * which has at least two members, it is PERF_FORMAT_GROUP and _ID: the number of events, then a
 * value and an id for each. */
static struct counted read_counter(int fd)
{
	uint64_t words[1 + 2 * GROUP_MEMBERS_MAX] = {0};
	ssize_t len = read(fd, words, sizeof(words));

	if (len < 0)
		return (struct counted){0};
	if ((size_t)len > 3 * sizeof(words[0]))
		return (struct counted){.value = words[1]};
	if ((size_t)len > sizeof(struct counted))
		return (struct counted){.value = words[0], .lost = words[2]};
	return (struct counted){.value = words[0], .lost = words[1]};
}

bool descriptors_counted(const struct descriptors *descriptors, unsigned event, uint64_t *ret)
{
	const struct fd_list *list = &descriptors->samples;
	bool is_counted = false;

	*ret = 0;
	if (descriptors->counters)
		return command_counters_read(descriptors->counters, event, ret);
	if (descriptors->whole_cpus)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		if (list->events[i] != event)
			continue;
		*ret += read_counter(list->items[i]).value;
		is_counted = true;
	}
	return is_counted && descriptors->late_threads.late_count == 0;
}

uint64_t descriptors_lost(const struct fd_list *list)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < list->count; i++)
		lost += read_counter(list->items[i]).lost;
	return lost;
}
