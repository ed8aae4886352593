#include "report/words.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <string.h>

const char *words_of_key(enum top_key key)
{
	static const char *const names[] = {
		[TOP_FUNCTION] = "function", [TOP_FILE] = "file",	[TOP_LINE] = "line",
		[TOP_MODULE] = "module",     [TOP_PROCESS] = "process", [TOP_THREAD] = "thread",
	};

	return names[key];
}

const char *words_of_module(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = profile_get_module(profile, id);

	return module->kind == PROFILE_MODULE_KERNEL
		       ? "[kernel]"
		       : basename(profile_string(profile, module->path));
}

static char *name_of_thread(const struct profile *profile, enum top_key key,
			    const struct top_row *row)
{
	const struct profile_thread *thread = profile_get_thread(profile, row->thread);
	const char *name = *row->name ? row->name : "(no name)";

	if (key == TOP_PROCESS || thread->tid < 0)
		return xstrdup(name);
	return xasprintf("%s %d", name, thread->tid);
}

char *words_of_row(const struct view *view, enum top_key key, const struct top_row *row)
{
	const struct profile *profile = view->profile;

	switch (key) {
	case TOP_PROCESS:
	case TOP_THREAD:
		return name_of_thread(profile, key, row);
	case TOP_MODULE:
		return xstrdup(*row->name ? row->name : "(no module)");
	case TOP_FILE:
		return *row->name ? xstrdup(row->name)
				  : xasprintf("(no file known) %s",
					      words_of_module(profile, row->module));
	case TOP_LINE:
		if (row->file)
			return xasprintf("%s:%" PRIu32, profile_string(profile, row->file),
					 row->line);
		return xasprintf("(no line known) %s", row->name);
	case TOP_FUNCTION:
		break;
	}
	return xstrdup(row->name);
}
