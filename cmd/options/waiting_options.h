/*
 * The options of sampling commands that record off-CPU time: a struct for their
 * values and the entries of the option table.
 *
 * --wall samples as usual, by default with the CPU clock so that all times add
 * up, and records off-CPU time, too. --off-cpu records off-CPU time alone. Both
 * add the event "off-cpu". --elapsed is --wall with the event "elapsed".
 */
#ifndef PROF_CMD_OPTIONS_WAITING_OPTIONS_H
#define PROF_CMD_OPTIONS_WAITING_OPTIONS_H

#include "cmd/ui/options.h"
#include "record/config.h"

/* The event that --wall samples by default. Unlike cycles, it has the unit of
 * off-CPU time. */
#define WALL_EVENT "cpu-clock"

struct off_cpu {
	bool is_given;
	uint64_t least_ns; /* shorter waits are omitted */
};

struct waiting_options {
	bool wall, elapsed, critical_path;
	const char *critical_thread; /* NULL for the main thread */
	struct off_cpu off_cpu;
	bool ignore_idle, wakers;
	bool awaits;
};

/* Returns true if off-CPU time is recorded. */
bool waiting_is_recorded(const struct waiting_options *options);
/* Returns the option that records off-CPU time, for messages. */
const char *waiting_option_name(const struct waiting_options *options);
/* Returns an error if one of these options excludes or needs another option. */
MUST_CHECK struct error *waiting_options_check(const struct waiting_options *options);
/* Returns an error if the first word of the command looks like the time of
 * --off-cpu. */
MUST_CHECK struct error *waiting_check_command(const struct waiting_options *options,
					       const char *word);
/* Stores the options in config. */
void waiting_options_apply(const struct waiting_options *options, struct record_config *config);

option_take waiting_take_off_cpu; /* struct off_cpu */
/* struct waiting_options */
option_take waiting_take_elapsed, waiting_take_critical_path;

/* The entries of a table for struct `type`, which holds the waiting_options as `member`. */
#define WAITING_ENTRIES(type, member)                                                              \
	OPTION_COMMON(WAITING, 0, "wall", NULL,                                                    \
		      "also record off-CPU time, as the event off-cpu; samples cpu-clock by "      \
		      "default, so that the times add up",                                         \
		      option_true, offsetof(type, member.wall)),                                   \
		OPTION_ENTRY(WAITING, 0, "off-cpu", "[MIN]",                                       \
			     "record off-CPU time only; omits waits shorter than MIN, such as "    \
			     "10us or 1ms. "                                                       \
			     "-F sets the polling rate",                                           \
			     waiting_take_off_cpu, offsetof(type, member.off_cpu)),                \
		OPTION_ENTRY(WAITING, 0, "elapsed", NULL,                                          \
			     "like --wall, and also record the event elapsed, whose times add up " \
			     "to the run: a moment in which n threads run is shared among them",   \
			     waiting_take_elapsed, offsetof(type, member)),                        \
		OPTION_ENTRY(WAITING, 0, "critical-path", "[THREAD]",                              \
			     "like --elapsed, and also record the event critical-path; the chain " \
			     "of threads that the end of the program, or of the thread with this " \
			     "name or tid, waited for",                                            \
			     waiting_take_critical_path, offsetof(type, member)),                  \
		OPTION_ENTRY(WAITING, 0, "ignore-idle", NULL,                                      \
			     "omit threads that wait during nearly the whole recording",           \
			     option_true, offsetof(type, member.ignore_idle)),                     \
		OPTION_ENTRY(WAITING, 0, "wakers", NULL,                                           \
			     "also record which thread ended each wait (root); with its stack",    \
			     option_true, offsetof(type, member.wakers)),                          \
		OPTION_ENTRY(                                                                      \
			WAITING, 0, "await", NULL,                                                 \
			"also record where tokio tasks wait; as the event await. Needs debug = 2", \
			option_true, offsetof(type, member.awaits))

#endif
