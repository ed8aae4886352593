/*
 * Builds the layout of a program's tasks (layout.h) from its DWARF. Finds
 * tokio's poll functions, the vtables of futures and the thread-local CONTEXT,
 * and follows types from there.
 *
 * A coroutine awaits the member __awaitee of the variant for its state, and the
 * line of the variant is the line of the await. Any other future awaits those
 * of its members that are futures. A type is a future if the program has a
 * poll() for it. A type that leads to no future is a leaf with its own name.
 *
 * Runs only in a confined process, because the mapped file is untrusted.
 */
#ifndef PROF_TASKS_LAYOUT_BUILDER_H
#define PROF_TASKS_LAYOUT_BUILDER_H

#include "base/error.h"
#include "elf/elf_file.h"
#include "tasks/layout.h"

/*
 * Sets *ret to NULL if the program does not use tokio. Fails if the debug
 * information does not describe how its tasks are laid out.
 */
MUST_CHECK struct error *layout_build(struct elf_file *elf, struct task_layout **ret);

#endif
