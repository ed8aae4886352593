#include "perf/task_state.h"

#include "base/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool task_state_is_on(const char *stat, unsigned cpu, bool or_blocked)
{
	enum { STATE = 3, PROCESSOR = 39 };
	/* The name in parentheses may contain any character. */
	const char *at = strrchr(stat, ')');

	if (!or_blocked && at && !text_begins(at, ") R "))
		return false;
	for (int field = STATE - 1; at && field < PROCESSOR; field++)
		at = strchr(at + 1, ' ');
	return at && at[1] >= '0' && at[1] <= '9' && strtoul(at + 1, NULL, 10) == cpu;
}

/* The text is "running", or the system call number and its arguments, or -1; sp
 * and pc follow the last two. */
bool task_state_waits_at(const char *syscall, uint64_t sp, uint64_t pc)
{
	const char *last = strrchr(syscall, ' '), *before = last;
	uint64_t then_sp, then_pc;

	while (before && before > syscall && *--before != ' ')
		continue;
	return before && before > syscall &&
	       sscanf(before, " 0x%" SCNx64 " 0x%" SCNx64, &then_sp, &then_pc) == 2 &&
	       then_sp == sp && then_pc == pc;
}
