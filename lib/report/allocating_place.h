/*
 * Finds the function that allocates: the one that gets the self value of an
 * allocation.
 *
 * The leaf of an allocation's stack is part of the allocator or of the
 * language's library: operator new, alloc::raw_vec, the growth of a
 * std::vector. Therefore the self value belongs to the innermost function of
 * the program, or of its libraries, that is not work or glue of a runtime
 * (profile/code_rules.h). The candidates, in this order, are
 * - the innermost function of the program: native code, an interpreter's or a
 *   JIT's,
 * - the innermost function of a runtime or of a library that is part of every
 *   program,
 * - the innermost function of a C library,
 * - the innermost function of the kernel,
 * - the leaf.
 */
#ifndef PROF_REPORT_ALLOCATING_PLACE_H
#define PROF_REPORT_ALLOCATING_PLACE_H

#include "report/display_labels.h"

/*
 * Returns for each stack the index in labels->lines. STACK_EMPTY has no line.
 * The caller frees the result.
 */
uint32_t *allocating_places(const struct display_labels *labels);

#endif
