/*
 * Fuzzes the name of a function and, after a newline, the file that declares
 * it: the task rule of the function, and the name of a task that starts there.
 */
#include "profile/task_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *name = xstrndup((const char *)data, size);
	char *newline = strchr(name, '\n');
	struct task_function function = {.name = name, .file = newline ? newline + 1 : ""};

	if (newline)
		*newline = '\0';
	note_number("rules", task_rule_of(function.name, function.file).mark);
	note_number("rules", task_is_complete(function.name));
	note_taken("rules", task_rule_path(function.name));
	note_taken("rules", task_rule_type(function.name));
	for (enum task_kind kind = TASK_FUTURE; kind <= TASK_GOROUTINE; kind++)
		for (function.line = 0; function.line < 2; function.line++)
			note_taken("names", task_name(&function, kind));
	return 0;
}
