/*
 * Which function allocates: the one whose self value memory is.
 *
 * The leaf of a stack of memory is a part of the allocator, or what a language puts before it:
 * operator new, alloc::raw_vec, the growth of a std::vector. So the self value of such a stack
 * belongs to the innermost function of the program, or of its libraries, that is no work or glue of
 * a runtime (profile/code_rules.h). It is, in this order,
 * - the innermost function of the program, native or of an interpreter or JIT,
 * - the innermost one of a runtime or a library that is part of every program,
 * - the innermost one of a C library, - of the kernel, - the leaf.
 */
#ifndef PROF_REPORT_ALLOCATING_PLACE_H
#define PROF_REPORT_ALLOCATING_PLACE_H

#include "report/display_labels.h"

/* By stack: the index in labels->lines. To be freed. STACK_EMPTY has no line. */
uint32_t *allocating_places(const struct display_labels *labels);

#endif
