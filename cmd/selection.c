#include "cmd/selection.h"

#include "base/alloc.h"

#include <string.h>

struct error *selection_take_number(void *field, const char *argument)
{
	uint64_t number = 0;
	struct error *err = option_count(&number, argument);

	if (!err && number > INT32_MAX)
		err = error_new("\"%s\" is too large", argument);
	if (!err)
		*(pid_t *)field = (pid_t)number;
	return err;
}

/* "cpu-clock, page-faults", to be freed. */
static char *names_of_events(const struct profile *profile)
{
	char *names = NULL;
	size_t len;
	FILE *out = open_memstream(&names, &len);

	for (event_id i = 0; i < profile_event_count(profile); i++)
		fprintf(out, "%s%s", i ? ", " : "",
			profile_string(profile, profile_get_event(profile, i)->name));
	fclose(out);
	return names;
}

static struct error *find_event(const char *wanted, const struct profile *profile, const char *path,
				event_id *ret)
{
	CLEANUP(free_ptr) char *names = names_of_events(profile);
	uint32_t count = profile_event_count(profile);

	if (!count)
		return error_new("%s: there is no sample in it", path);
	for (*ret = 0; *ret < count; ++*ret) {
		const char *name = profile_string(profile, profile_get_event(profile, *ret)->name);

		if (!wanted || !strcmp(name, wanted))
			return NULL;
	}
	return error_hint(error_new("%s: there is no event \"%s\" in it", path, wanted),
			  "there is %s", names);
}

struct error *selection_view(const struct selection_options *options, const struct profile *profile,
			     const char *path, struct view *ret)
{
	struct view_options wanted = options->view;
	struct error *err = find_event(options->event, profile, path, &wanted.event);

	return err ? err : view_init_selected(ret, profile, &wanted);
}

bool selection_is_part(const struct selection_options *options)
{
	const struct view_options *view = &options->view;

	return view->focus || view->ignore || view->modules || view->process || view->pid ||
	       view->tid;
}
