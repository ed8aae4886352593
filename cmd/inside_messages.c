#include "cmd/inside_messages.h"

#include "cmd/ui/message.h"

#include <inttypes.h>

void say_inside(const struct recording *recording)
{
	struct inside_counts counts = recorder_inside(recording->recorder);
	bool is_alone = !recorder_facts(recording->recorder)->descriptors;

	if (is_alone && recording->is_of_command && !counts.processes && !counts.foreign)
		message("%s did not load libprof-inside.so: it is a static program, or of another "
			"C library than glibc, or it has ended at once",
			recording->command[0]);
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
	if (counts.damaged)
		message("%" PRIu64 " times the program has written over what it shares with prof: "
			"samples are missing",
			counts.damaged);
}
