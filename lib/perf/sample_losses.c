#include "perf/sample_losses.h"

#include "base/clock.h"

void sample_losses_note_sample(struct sample_losses *losses, bool is_of_tree)
{
	if (is_of_tree)
		losses->kept++;
	else
		losses->dropped++;
}

/*
 * Attributes losses to the tree in the proportion of the samples that were not
 * lost. This is an estimate: losses may be more frequent while other processes
 * run.
 */
static uint64_t part_of_tree(struct sample_losses *losses, uint64_t count)
{
	uint64_t samples = losses->kept + losses->dropped, more = 0, all;

	if (!samples)
		return count;
	all = (uint64_t)((double)losses->reported[LOST_SAMPLES] * (double)losses->kept /
			 (double)samples);
	if (all > losses->of_tree)
		more = all - losses->of_tree;
	losses->of_tree += more;
	return more;
}

void sample_losses_report(struct sample_losses *losses, struct record *lost)
{
	losses->reported[lost->lost.what] += lost->lost.count;
	if (lost->lost.what == LOST_SAMPLES)
		lost->lost.count = part_of_tree(losses, lost->lost.count);
}

bool sample_losses_take_rest(struct sample_losses *losses, enum lost_records what, uint64_t counted,
			     struct record *ret)
{
	uint64_t reported = losses->reported[what];

	if (counted <= reported)
		return false;
	*ret = (struct record){
		.type = RECORD_LOST,
		.time_ns = clock_now_ns(),
		.lost = {what, counted - reported},
	};
	sample_losses_report(losses, ret);
	return true;
}
