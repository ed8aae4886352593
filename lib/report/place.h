/*
 * Finds the line that represents a stack: the innermost one of the lines with
 * the lowest rank. It gets the self value if the leaf is not informative
 * (waiting_place.h, allocating_place.h).
 */
#ifndef PROF_REPORT_PLACE_H
#define PROF_REPORT_PLACE_H

#include "report/display_labels.h"

#define NO_PLACE UINT32_MAX

struct place {
	uint32_t line; /* index in labels->lines; NO_PLACE: none */
	unsigned rank;
};

/* Returns the rank of a label. It is called once for each label. */
typedef unsigned place_rank(const struct display_labels *labels, uint32_t label);

/*
 * Returns the place of each stack. The caller frees the result. STACK_EMPTY has
 * no line and the rank `worst`, which is the highest.
 */
struct place *places_find(const struct display_labels *labels, place_rank *rank_of, unsigned worst);

#endif
