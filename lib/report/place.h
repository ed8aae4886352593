/*
 * Which line of a stack stands for it: the innermost one of those with the lowest rank. It has the
 * self value where the leaf says nothing (waiting_place.h, allocating_place.h).
 */
#ifndef PROF_REPORT_PLACE_H
#define PROF_REPORT_PLACE_H

#include "report/display_labels.h"

#define NO_PLACE UINT32_MAX

struct place {
	uint32_t line; /* index in labels->lines; NO_PLACE: none */
	unsigned rank;
};

/* Of a label; asked once for each. */
typedef unsigned place_rank(const struct display_labels *labels, uint32_t label);

/* By stack; to be freed. STACK_EMPTY has no line and the rank `worst`, which is the highest. */
struct place *places_find(const struct display_labels *labels, place_rank *rank_of, unsigned worst);

#endif
