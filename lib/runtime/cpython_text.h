/* Reads the names of a code object of CPython, and its location table. */
#ifndef PROF_RUNTIME_CPYTHON_TEXT_H
#define PROF_RUNTIME_CPYTHON_TEXT_H

#include "runtime/runtime.h"

bool cpython_text_read(const struct runtime_process *process, struct script_reader *reader,
		       const struct script_code *code, struct script_text *ret);

#endif
