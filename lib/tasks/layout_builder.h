/*
 * Builds the layout of a program's tasks (layout.h) from its DWARF: finds tokio's poll functions,
 * the vtables of futures and the thread-local CONTEXT, and follows types from there.
 *
 * What a coroutine awaits is the member __awaitee of its state's variant, whose line is that of the
 * await. Of other futures, those members count that are futures themselves; a type is a future if
 * the program has a poll() for it. What leads no further is a leaf with its name.
 *
 * For a confined process: the file is read as it is mapped.
 */
#ifndef PROF_TASKS_LAYOUT_BUILDER_H
#define PROF_TASKS_LAYOUT_BUILDER_H

#include "base/error.h"
#include "elf/elf_file.h"
#include "tasks/layout.h"

/*
 * *ret is NULL if it is not a program of tokio. Fails if the debug information does not say how its
 * tasks lie.
 */
MUST_CHECK struct error *layout_build(struct elf_file *elf, struct task_layout **ret);

#endif
