#include "cmd/options/memory_options.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* With a mean of 512 KiB, a program that allocates 10 GB/s gets 20,000
 * samples/s. */
#define USUAL_PERIOD_BYTES (UINT64_C(512) << 10)
#define MOST_PERIOD_BYTES (UINT64_C(1) << 40)

static struct error *memory_options_take_part(struct alloc_choice *choice, const char *part)
{
	struct error *err;

	if (!strcmp(part, "maps")) {
		choice->maps = true;
		return NULL;
	}
	err = option_size(&choice->period_bytes, part);
	if (!err && choice->period_bytes > MOST_PERIOD_BYTES)
		err = error_new("\"%s\" is too large", part);
	return err;
}

struct error *memory_take_alloc(void *field, const char *argument)
{
	struct alloc_choice *choice = field;
	CLEANUP(free_ptr) char *words = argument ? xstrdup(argument) : NULL;
	char *rest = words, *part;
	struct error *err = NULL;

	if (argument && !strcmp(argument, "uprobe")) {
		*choice = (struct alloc_choice){.by_uprobe = true};
		return NULL;
	}
	*choice = (struct alloc_choice){.period_bytes = USUAL_PERIOD_BYTES};
	while (!err && (part = strsep(&rest, ",")))
		err = memory_options_take_part(choice, part);
	return err;
}

struct error *memory_take_growth(void *field, const char *argument)
{
	(void)argument;
	return option_append(field, VALUE_GROWTH_EVENT);
}

bool memory_is_recorded(const struct memory_options *options)
{
	return options->alloc.period_bytes > 0;
}

struct error *memory_check_command(const struct memory_options *options, const char *word)
{
	CLEANUP(error_cleanup) struct error *not_bytes = NULL;

	if (!memory_is_recorded(options) || !word)
		return NULL;
	not_bytes = option_size(&(uint64_t){0}, word);
	return not_bytes ? NULL
			 : error_hint(error_new("--alloc takes its bytes after ="), "--alloc=%s",
				      word);
}

void memory_options_apply(const struct memory_options *options, struct record_config *config)
{
	config->memory.alloc_period = options->alloc.period_bytes;
	config->memory.allocs_maps = options->alloc.maps;
}
