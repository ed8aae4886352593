/*
 * The options that record waiting, of commands that sample: a struct for their values and the
 * entries of the option table.
 *
 * --wall samples as usual, the CPU's clock by default so that all times add up, and records waiting
 * too; --off-cpu records waiting alone. Both add the event "off-cpu".
 */
#ifndef PROF_CMD_WAITING_OPTIONS_H
#define PROF_CMD_WAITING_OPTIONS_H

#include "cmd/ui/options.h"
#include "record/config.h"

/* The event that --wall samples by default: unlike cycles its unit is that of waiting. */
#define WALL_EVENT "cpu-clock"

struct off_cpu {
	bool is_given;
	uint64_t least_ns; /* shorter waits are left out */
};

struct waiting_options {
	bool wall;
	struct off_cpu off_cpu;
	bool ignore_idle, wakers;
	bool awaits;
};

/* Whether waiting is recorded. */
bool waiting_is_recorded(const struct waiting_options *options);
/* Returns an error if one of these options excludes, or lacks, another one. */
MUST_CHECK struct error *waiting_options_check(const struct waiting_options *options);
/* Returns an error if the first word of the command is meant as the time of --off-cpu. */
MUST_CHECK struct error *waiting_check_command(const struct waiting_options *options,
					       const char *word);
/* Sets what the options say in config. */
void waiting_options_apply(const struct waiting_options *options, struct record_config *config);

option_take waiting_take_off_cpu; /* struct off_cpu */

/* The entries of a table for struct `type`, which holds the waiting_options as `member`. */
#define WAITING_ENTRIES(type, member)                                                              \
	OPTION_ENTRY(0, "wall", NULL,                                                              \
		     "also record what threads wait for, as the event off-cpu (samples cpu-clock " \
		     "by default)",                                                                \
		     option_true, offsetof(type, member.wall)),                                    \
		OPTION_ENTRY(0, "off-cpu", "[MIN]",                                                \
			     "record only what threads wait for, if it takes MIN or longer, such " \
			     "as 10us or 1ms; --off-cpu=MIN is one word; -F sets how often "       \
			     "threads are looked at",                                              \
			     waiting_take_off_cpu, offsetof(type, member.off_cpu)),                \
		OPTION_ENTRY(0, "ignore-idle", NULL,                                               \
			     "leave out threads that wait during the whole recording",             \
			     option_true, offsetof(type, member.ignore_idle)),                     \
		OPTION_ENTRY(0, "wakers", NULL,                                                    \
			     "also record which thread, and where in it, ended each wait (root)",  \
			     option_true, offsetof(type, member.wakers)),                          \
		OPTION_ENTRY(0, "await", NULL,                                                     \
			     "also record where tasks of tokio wait, as the event await; needs "   \
			     "debug = 2",                                                          \
			     option_true, offsetof(type, member.awaits))

#endif
