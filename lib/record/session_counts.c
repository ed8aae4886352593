#include "record/session_counts.h"

void session_counts_add(struct session_counts *sum, const struct session_counts *more)
{
	quality_add(&sum->quality, &more->quality);
	sum->lost_allocations += more->lost_allocations;
	sum->lost_switches += more->lost_switches;
	sum->other_values += more->other_values;
	sum->lossy_processes += more->lossy_processes;
	sum->strays += more->strays;
	sum->user_stacks += more->user_stacks;
	sum->chainless += more->chainless;
}
