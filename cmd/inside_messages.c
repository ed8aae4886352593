#include "cmd/inside_messages.h"

#include "base/humanize.h"
#include "cmd/ui/message.h"

#include <inttypes.h>

static void say_no_allocation(uint64_t period_bytes)
{
	message("no allocation was sampled: the program has allocated less than a few times %s "
		"(--alloc=1k sees more), by an allocator of its own, or in children that cannot "
		"load the library",
		humanize_bytes(period_bytes).text);
}

void say_inside(const struct recording *recording)
{
	struct inside_counts counts = recorder_inside(recording->recorder);
	bool is_alone = !recorder_facts(recording->recorder)->descriptors;

	if (is_alone && recording->is_of_command && !counts.processes && !counts.foreign)
		message("%s did not load libprof-inside.so: it has ended at once, or it executes "
			"a program that does not load libraries of others (static, Go, musl, "
			"set-user-ID)",
			recording->command[0]);
	else if (recording->config.alloc_period && !recorder_memory(recording->recorder).samples)
		say_no_allocation(recording->config.alloc_period);
	if (counts.processes > 1)
		message("%" PRIu32 " processes ran prof's library", counts.processes);
	if (counts.foreign)
		message("%" PRIu32
			" processes were not recorded: they are in another pid namespace",
			counts.foreign);
	if (counts.timers_refused)
		message("%" PRIu32 " threads got no timer, and were not sampled",
			counts.timers_refused);
	if (counts.lost_mappings)
		message("%" PRIu64 " records of mappings were lost: some frames lack names",
			counts.lost_mappings);
	if (counts.lost_frees)
		message("%" PRIu64 " ends of blocks were lost: what lives is too much",
			counts.lost_frees);
	if (counts.strangers)
		message("%" PRIu64 " records were ignored: the program wrote them for processes "
			"that do not share its memory with prof",
			counts.strangers);
	if (counts.skipped)
		message("%" PRIu64 " records were dropped: the program wrote more than prof can "
			"read in time",
			counts.skipped);
	if (counts.damaged)
		message("%" PRIu64 " times the program has written over what it shares with prof: "
			"samples are missing",
			counts.damaged);
}
