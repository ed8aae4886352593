#include "record/elapsed_import.h"

#include "base/alloc.h"
#include "record/elapsed.h"

#include <stdlib.h>

/* A thread that is taken to run, because it was sampled less than a period ago. */
struct elapsed_import_thread {
	pid_t tid;
	uint64_t until_ns;
};

struct elapsed_import {
	struct elapsed_import_options options;
	struct elapsed *elapsed;
	bool has_begun;
	/* Without switches: the threads that run, a few per CPU. */
	struct elapsed_import_thread *running;
	size_t count, room;
};

struct elapsed_import *elapsed_import_new(struct session *session,
					  const struct elapsed_import_options *options)
{
	struct elapsed_import *import = xcalloc(1, sizeof(*import));

	import->options = *options;
	import->elapsed = elapsed_new(session, false, NULL);
	return import;
}

void elapsed_import_free(struct elapsed_import *import)
{
	if (!import)
		return;
	elapsed_free(import->elapsed);
	free(import->running);
	free(import);
}

/* The idle task, whose pid is 0, and records without a thread do not count. */
static bool elapsed_import_is_of_thread(const struct record *record)
{
	return record->time_ns && record->pid > 0 && record->tid > 0;
}

/* ---- Estimates ---- */

static void elapsed_import_switch(struct elapsed_import *import, pid_t tid, uint64_t time_ns,
				  bool is_out)
{
	struct record record = {
		.type = RECORD_SWITCH, .tid = tid, .time_ns = time_ns, .switched.is_out = is_out};

	elapsed_feed(import->elapsed, &record);
}

/* Takes the threads off their CPUs whose next sample is overdue, in order of
 * time. */
static void elapsed_import_expire(struct elapsed_import *import, uint64_t now_ns)
{
	for (;;) {
		size_t first = import->count;

		for (size_t i = 0; i < import->count; i++)
			if (import->running[i].until_ns < now_ns &&
			    (first == import->count ||
			     import->running[i].until_ns < import->running[first].until_ns))
				first = i;
		if (first == import->count)
			return;
		elapsed_import_switch(import, import->running[first].tid,
				      import->running[first].until_ns, true);
		import->running[first] = import->running[--import->count];
	}
}

static void elapsed_import_sample(struct elapsed_import *import, const struct record *record)
{
	/* A sample may be late by a timer's delay. */
	uint64_t until_ns = record->time_ns + import->options.period_ns * 3 / 2;

	for (size_t i = 0; i < import->count; i++) {
		if (import->running[i].tid != record->tid)
			continue;
		import->running[i].until_ns = until_ns;
		return;
	}
	GROW(import->running, import->count, import->room);
	import->running[import->count++] = (struct elapsed_import_thread){record->tid, until_ns};
	elapsed_import_switch(import, record->tid, record->time_ns, false);
}

/* ---- Records ---- */

void elapsed_import_feed(struct elapsed_import *import, const struct record *record)
{
	if (!import || !elapsed_import_is_of_thread(record))
		return;
	if (!import->has_begun)
		elapsed_resume(import->elapsed, record->time_ns);
	import->has_begun = true;
	if (!import->options.has_switches)
		elapsed_import_expire(import, record->time_ns);
	/* A thread is known from its first record on. */
	if (record->type == RECORD_SAMPLE || record->type == RECORD_SWITCH ||
	    record->type == RECORD_FORK)
		elapsed_begin_thread(import->elapsed, record->pid, record->tid, 0, record->time_ns);
	if (!import->options.has_switches && record->type == RECORD_SAMPLE)
		elapsed_import_sample(import, record);
	elapsed_feed(import->elapsed, record);
}

void elapsed_import_feed_again(struct elapsed_import *import, const struct record *record)
{
	if (import && elapsed_import_is_of_thread(record))
		elapsed_feed_again(import->elapsed, record);
}

void elapsed_import_settle(struct elapsed_import *import, uint64_t last_ns)
{
	if (!import || !import->has_begun)
		return;
	elapsed_import_expire(import, last_ns);
	elapsed_begin_settling(import->elapsed, last_ns);
	elapsed_settle(import->elapsed, last_ns, true);
}
