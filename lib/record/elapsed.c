#include "record/elapsed.h"

#include "base/alloc.h"
#include "profile/unsampled.h"
#include "waiting/critical_path.h"
#include "waiting/elapsed_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The labels of a thread that has ended. The session forgets its name. */
struct elapsed_ended {
	struct profile_thread thread;
	label_set_id labels; /* valid in this generation of the profile */
	uint32_t generation;
};

struct elapsed {
	struct session *session;
	struct elapsed_times *times;
	struct critical_path *path; /* NULL if not wanted */
	struct elapsed_ended *ended;
	uint32_t ended_count, ended_room;
	const char *critical_thread; /* NULL for the main thread */
	enum critical_result result; /* of the profile that was settled last */
	uint64_t settled_ns;
};

/* Returns the labels of the thread with the parallelism. */
static label_set_id elapsed_labels(struct elapsed *elapsed, const struct elapsed_part *part)
{
	struct profile *profile = session_profile(elapsed->session);

	return profile_add_label(
		profile, session_labels(elapsed->session, part->pid, part->tid),
		&(struct profile_label){
			.key = strtab_add(profile_strings(profile), PARALLELISM_LABEL),
			.number = part->parallelism,
		});
}

static stack_id elapsed_stack(struct elapsed *elapsed, wait_place place, bool has_run)
{
	struct profile *profile = session_profile(elapsed->session);

	if (place != PLACE_UNKNOWN)
		return place;
	return profile_push(
		profile, STACK_EMPTY,
		profile_synthetic_frame(profile, has_run ? UNSAMPLED_FRAME : "[unknown]"));
}

static void elapsed_put(struct elapsed *elapsed, const char *event, label_set_id labels,
			stack_id stack, struct profile_interval interval)
{
	struct profile *profile = session_profile(elapsed->session);
	event_id id = profile_add_event(
		profile,
		&(struct profile_event){.name = strtab_add(profile_strings(profile), event),
					.kind = VALUE_WALL_TIME});

	interval.sample = profile_add_samples(profile, labels, stack, id, 1, interval.weight);
	profile_add_interval(profile, &interval);
}

static void elapsed_add_part(void *user, const struct elapsed_part *part)
{
	struct elapsed *elapsed = user;

	elapsed_put(elapsed, VALUE_ELAPSED_EVENT, elapsed_labels(elapsed, part),
		    elapsed_stack(elapsed, part->place, part->parallelism),
		    (struct profile_interval){.start_ns = part->start_ns,
					      .end_ns = part->end_ns,
					      .weight = part->weight_ns});
}

static critical_names elapsed_end_names(struct elapsed *elapsed, pid_t pid, pid_t tid)
{
	struct profile *profile = session_profile(elapsed->session);
	label_set_id labels = session_labels(elapsed->session, pid, tid);

	GROW(elapsed->ended, elapsed->ended_count, elapsed->ended_room);
	elapsed->ended[elapsed->ended_count] = (struct elapsed_ended){
		.thread = *profile_thread_of(profile, labels),
		.labels = labels,
		.generation = profile_generation(profile),
	};
	return elapsed->ended_count++;
}

static label_set_id elapsed_critical_labels(struct elapsed *elapsed,
					    const struct critical_part *part)
{
	struct profile *profile = session_profile(elapsed->session);
	const struct elapsed_ended *ended;

	if (part->names == CRITICAL_NAMES_NONE)
		return session_labels(elapsed->session, part->pid, part->tid);
	ended = &elapsed->ended[part->names];
	return ended->generation == profile_generation(profile)
		       ? ended->labels
		       : profile_label_set(profile, &ended->thread, NULL, 0);
}

/* The kernel cuts names of threads to NAME_BYTES. */
static bool elapsed_is_critical_end(void *user, const struct critical_part *last)
{
	enum { NAME_BYTES = 15 };
	struct elapsed *elapsed = user;
	const struct profile *profile = session_profile(elapsed->session);
	const struct profile_thread *thread =
		profile_thread_of(profile, elapsed_critical_labels(elapsed, last));
	char tid[16];

	snprintf(tid, sizeof(tid), "%d", (int)last->tid);
	return !strcmp(elapsed->critical_thread, tid) ||
	       !strncmp(elapsed->critical_thread, profile_string(profile, thread->name),
			NAME_BYTES);
}

static void elapsed_add_critical_part(void *user, const struct critical_part *part)
{
	struct elapsed *elapsed = user;

	elapsed_put(elapsed, VALUE_CRITICAL_PATH_EVENT, elapsed_critical_labels(elapsed, part),
		    elapsed_stack(elapsed, part->place, part->has_run),
		    (struct profile_interval){.start_ns = part->start_ns,
					      .end_ns = part->end_ns,
					      .weight = part->end_ns - part->start_ns});
}

struct elapsed *elapsed_new(struct session *session, bool finds_critical_path,
			    const char *critical_thread)
{
	struct elapsed *elapsed = xcalloc(1, sizeof(*elapsed));

	elapsed->session = session;
	elapsed->critical_thread = critical_thread;
	elapsed->path = finds_critical_path ? critical_path_new() : NULL;
	elapsed->times = elapsed_times_new((struct elapsed_sink){elapsed_add_part, elapsed});
	return elapsed;
}

void elapsed_free(struct elapsed *elapsed)
{
	if (!elapsed)
		return;
	elapsed_times_free(elapsed->times);
	critical_path_free(elapsed->path);
	free(elapsed->ended);
	free(elapsed);
}

/* ---- Records ---- */

void elapsed_begin_thread(struct elapsed *elapsed, pid_t pid, pid_t tid, pid_t creator,
			  uint64_t time_ns)
{
	if (!elapsed)
		return;
	elapsed_times_begin(elapsed->times, pid, tid, time_ns, false);
	if (elapsed->path)
		critical_path_begin(elapsed->path, pid, tid, creator, time_ns);
}

static void elapsed_feed_path(struct elapsed *elapsed, const struct record *record)
{
	struct critical_path *path = elapsed->path;

	if (record->type == RECORD_SWITCH)
		critical_path_switch(path, record->tid, record->time_ns, record->switched.is_out);
	else if (record->type == RECORD_EXIT)
		critical_path_end(path, record->tid, record->time_ns,
				  elapsed_end_names(elapsed, record->pid, record->tid));
	else if (record->type == RECORD_COMM && record->comm.exec)
		critical_path_exec(path, record->pid, record->tid, record->time_ns,
				   elapsed_end_names(elapsed, record->pid, record->tid));
}

void elapsed_feed(struct elapsed *elapsed, const struct record *record)
{
	if (!elapsed)
		return;
	if (record->type == RECORD_SWITCH)
		elapsed_times_switch(elapsed->times, record->tid, record->time_ns,
				     record->switched.is_out);
	else if (record->type == RECORD_EXIT)
		elapsed_times_end(elapsed->times, record->tid, record->time_ns);
	else if (record->type == RECORD_COMM && record->comm.exec)
		elapsed_times_exec(elapsed->times, record->pid, record->tid, record->time_ns);
	if (elapsed->path)
		elapsed_feed_path(elapsed, record);
}

void elapsed_feed_again(struct elapsed *elapsed, const struct record *record)
{
	stack_id stack;

	/* The other events do not sample all running threads alike. */
	if (!elapsed || record->type != RECORD_SAMPLE || record->sample.event != 0)
		return;
	stack = session_last_stack(elapsed->session);
	elapsed_times_sampled(elapsed->times, record->tid, record->time_ns, stack);
	if (elapsed->path)
		critical_path_sampled(elapsed->path, record->tid, record->time_ns, stack);
}

void elapsed_feed_wakeup(struct elapsed *elapsed, pid_t woken, uint64_t time_ns, pid_t waker)
{
	if (elapsed && elapsed->path)
		critical_path_woken(elapsed->path, woken, time_ns, waker);
}

void elapsed_feed_holder(struct elapsed *elapsed, pid_t tid, uint64_t time_ns, pid_t holder,
			 uint64_t lock)
{
	if (elapsed && elapsed->path)
		critical_path_waits_for(elapsed->path, tid, time_ns, holder, lock);
}

void elapsed_feed_wait(struct elapsed *elapsed, const struct wait_part *part, stack_id stack)
{
	if (!elapsed)
		return;
	elapsed_times_waited(elapsed->times, part->pid, part->tid, part->start_ns, part->end_ns,
			     stack);
	if (elapsed->path && part->tid >= 0)
		critical_path_waited(elapsed->path, part->tid, part->start_ns, part->end_ns, stack);
}

void elapsed_pause(struct elapsed *elapsed, uint64_t now_ns)
{
	if (elapsed)
		elapsed_times_pause(elapsed->times, now_ns);
}

void elapsed_resume(struct elapsed *elapsed, uint64_t now_ns)
{
	if (elapsed)
		elapsed_times_resume(elapsed->times, now_ns);
}

/* ---- Results ---- */

void elapsed_begin_settling(struct elapsed *elapsed, uint64_t now_ns)
{
	if (elapsed)
		elapsed_times_begin_settling(elapsed->times, now_ns);
}

void elapsed_settle(struct elapsed *elapsed, uint64_t now_ns, bool is_end)
{
	struct critical_sink sink = {.add = elapsed_add_critical_part, .user = elapsed};

	if (!elapsed)
		return;
	if (elapsed->critical_thread)
		sink.is_end = elapsed_is_critical_end;
	elapsed->settled_ns = now_ns;
	elapsed_times_settle(elapsed->times, is_end);
	if (elapsed->path && is_end)
		elapsed->result = critical_path_take(elapsed->path, now_ns, sink);
}

void elapsed_begin_profile(struct elapsed *elapsed, struct session *session)
{
	if (!elapsed)
		return;
	elapsed->session = session;
	if (elapsed->path)
		critical_path_forget(elapsed->path, elapsed->settled_ns);
	elapsed->ended_count = 0;
}

char *elapsed_path_problem(const struct elapsed *elapsed)
{
	if (elapsed && elapsed->result == CRITICAL_TOO_MANY)
		return xstrdup("there were too many context switches and samples to find the "
			       "critical path: record for a shorter time");
	if (elapsed && elapsed->result == CRITICAL_NO_END)
		return xasprintf("the critical path is missing: no recorded thread has the name "
				 "or tid \"%s\"",
				 elapsed->critical_thread);
	return NULL;
}
