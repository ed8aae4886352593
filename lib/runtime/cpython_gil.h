/* Finds the thread that holds the GIL of CPython. */
#ifndef PROF_RUNTIME_CPYTHON_GIL_H
#define PROF_RUNTIME_CPYTHON_GIL_H

#include "runtime/runtime.h"

/* See struct script_runtime. */
bool cpython_find_holder(const struct runtime_process *process, uint64_t state, uint64_t futex,
			 const struct script_reader *reader, struct runtime_holder *ret);

#endif
