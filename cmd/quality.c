#include "cmd/quality.h"

#include "base/alloc.h"
#include "cmd/figure.h"

#include <stdlib.h>
#include <string.h>

static bool is_unnamed(const struct profile_frame *frame)
{
	return frame->line_count == 0 && frame->module != PROFILE_NOTES;
}

/* Samples of each stack and of all those that go on from it. */
static uint64_t *samples_through(const struct profile *profile)
{
	uint32_t count = profile_stack_count(profile);
	uint64_t *samples = xcalloc(count, sizeof(*samples));

	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		samples[cell->stack] += cell->samples;
	}
	/* A stack is numbered after its parent. */
	for (stack_id id = count; id-- > 1;)
		samples[profile_get_stack(profile, id).parent] += samples[id];
	return samples;
}

/* Has a frame further towards the root no name, in this module? Sets *any for any module. */
static bool unnamed_above(const struct profile *profile, stack_id id, uint32_t module, bool *any)
{
	*any = false;
	while ((id = profile_get_stack(profile, id).parent) != STACK_EMPTY) {
		struct profile_frame frame =
			profile_get_frame(profile, profile_get_stack(profile, id).frame);

		if (!is_unnamed(&frame))
			continue;
		*any = true;
		if (frame.module == module)
			return true;
	}
	return false;
}

static int by_samples(const void *a, const void *b)
{
	const struct unnamed_module *left = a, *right = b;

	if (left->samples != right->samples)
		return left->samples < right->samples ? 1 : -1;
	return (left->module > right->module) - (left->module < right->module);
}

static void add_module(struct quality *quality, uint32_t module, uint64_t samples)
{
	size_t i = 0;

	while (i < quality->module_count && quality->modules[i].module != module)
		i++;
	if (i == quality->module_count) {
		quality->modules = xreallocarray(quality->modules, ++quality->module_count,
						 sizeof(*quality->modules));
		quality->modules[i] = (struct unnamed_module){.module = module};
	}
	quality->modules[i].samples += samples;
}

void quality_init(struct quality *quality, const struct profile *profile,
		  const struct session_counts *counts)
{
	CLEANUP(free_ptr) uint64_t *samples = samples_through(profile);

	*quality = (struct quality){.counts = *counts};
	/* A sample counts where its first frame without a name is, from the root; once a module. */
	for (stack_id id = 1; id < profile_stack_count(profile); id++) {
		struct profile_frame frame =
			profile_get_frame(profile, profile_get_stack(profile, id).frame);
		bool any;

		if (!is_unnamed(&frame) || unnamed_above(profile, id, frame.module, &any))
			continue;
		if (!any)
			quality->unnamed += samples[id];
		add_module(quality, frame.module, samples[id]);
	}
	if (quality->module_count)
		qsort(quality->modules, quality->module_count, sizeof(*quality->modules),
		      by_samples);
}

void quality_deinit(struct quality *quality)
{
	free(quality->modules);
}

bool quality_share(const struct quality *quality, const char *name, double *ret)
{
	const struct session_counts *counts = &quality->counts;
	const struct {
		const char *name;
		uint64_t part, whole;
	} shares[] = {{"lost", counts->lost, counts->samples + counts->lost},
		      {"truncated", counts->truncated, counts->samples},
		      {"unknown", quality->unnamed, counts->samples}};

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		if (strcmp(shares[i].name, name) != 0)
			continue;
		*ret = shares[i].whole ? (double)shares[i].part / (double)shares[i].whole : 0;
		return true;
	}
	return false;
}

static char *part(const char *what, uint64_t count, uint64_t whole)
{
	if (!count)
		return xasprintf(", 0 %s", what);
	return xasprintf(", %s %s (%s)", figure_count(count).text, what,
			 figure_share(count, whole).text);
}

/* What is not worth a word where it never happened. */
static char *counted(uint64_t count, const char *what)
{
	return count ? xasprintf(", %s %s", figure_count(count).text, what) : xstrdup("");
}

char *quality_line(const struct quality *quality)
{
	const struct session_counts *counts = &quality->counts;
	CLEANUP(free_ptr) char *lost = part("lost", counts->lost, counts->samples + counts->lost);
	CLEANUP(free_ptr) char *truncated = part("truncated", counts->truncated, counts->samples);
	CLEANUP(free_ptr)
	char *completed = counted(counts->completed, "completed from the live stack");
	CLEANUP(free_ptr) char *joined = counted(counts->joined, "completed by frame pointers");
	CLEANUP(free_ptr)
	char *unnamed = part("with unnamed frames", quality->unnamed, counts->samples);
	CLEANUP(free_ptr)
	char *throttled = counts->throttled ? xasprintf(", throttled %s times by the kernel",
							figure_count(counts->throttled).text)
					    : xstrdup("");

	CLEANUP(free_ptr)
	char *compat = counts->compat ? part("of 32-bit processes", counts->compat, counts->samples)
				      : xstrdup("");

	return xasprintf("%s samples%s%s%s%s%s%s%s", figure_count(counts->samples).text, lost,
			 truncated, completed, joined, unnamed, compat, throttled);
}

/* "12,345 " */
static bool take_number(const char **at, uint64_t *ret)
{
	const char *start = *at;

	for (*ret = 0; (**at >= '0' && **at <= '9') || (**at == ',' && *at > start); ++*at)
		if (**at != ',' && (__builtin_mul_overflow(*ret, 10, ret) ||
				    __builtin_add_overflow(*ret, **at - '0', ret)))
			return false;
	return *at > start && *(*at)++ == ' ';
}

bool quality_number(const char *line, const char *what, uint64_t *ret)
{
	size_t len = strlen(what);

	for (const char *at = line; at; at = strstr(at, ", ")) {
		uint64_t number;

		at += !strncmp(at, ", ", 2) ? 2 : 0;
		if (take_number(&at, &number) && !strncmp(at, what, len) && strchr(" ,", at[len])) {
			*ret = number;
			return true;
		}
	}
	return false;
}
