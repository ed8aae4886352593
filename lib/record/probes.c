#include "record/probes.h"

#include "base/alloc.h"
#include "perf/probe_event.h"
#include "proc/debug_files.h"
#include "unwind/arch.h"

#include <inttypes.h>

/* Maximum number of places in a notice. */
enum { NAMES_MAX = 4 };

void probes_deinit(struct probes *probes)
{
	for (size_t i = 0; i < probes->count; i++)
		probe_deinit(&probes->items[i]);
	free(probes->items);
	*probes = (struct probes){0};
}

static size_t place_count(const struct probe *probe)
{
	size_t count = 0;

	for (size_t i = 0; i < probe->file_count; i++)
		count += probe->files[i].places.count;
	return count;
}

static struct error *make_of_kernel(const struct probe *probe, struct probe_event *from,
				    const struct pmus *pmus, struct event *ret)
{
	const struct probe_event_place place = {.name = probe->spec.function,
						.offset = probe->spec.offset};

	from->places = &place;
	from->place_count = 1;
	return probe_event_make(from, pmus, ret);
}

static struct error *make_of_files(const struct probe *probe, struct probe_event *from,
				   const struct pmus *pmus, struct event *ret)
{
	CLEANUP(free_ptr)
	struct probe_event_place *places = xcalloc(place_count(probe), sizeof(*places));
	char(*names)[32] = xcalloc(probe->file_count, sizeof(*names));
	struct error *err;

	for (size_t i = 0; i < probe->file_count; i++) {
		const struct probe_file *file = &probe->files[i];

		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", file->file.fd);
		for (size_t j = 0; j < file->places.count; j++)
			places[from->place_count++] = (struct probe_event_place){
				.name = names[i],
				.offset = file->places.items[j].offset,
				.semaphore = file->places.items[j].semaphore,
			};
	}
	from->places = places;
	err = probe_event_make(from, pmus, ret);
	free(names);
	return err;
}

/*
 * Whether to restore the return addresses in stacks, which the kernel replaces
 * (latencies.h). Not for targets that are threads, because the kernel's count
 * in a thread must match the samples there.
 */
static bool follows_calls(const struct probe *probe, const struct record_config *config)
{
	return probe->spec.is_return && probe->spec.kind != PROBE_KERNEL &&
	       !arch_native()->ra_in_register && record_config_dumps(config) &&
	       !config->target.tid_count;
}

static struct error *probes_make(const struct probe *probe, const struct record_config *config,
				 const struct pmus *pmus, struct event *ret)
{
	struct probe_event from = {
		.name = probe->spec.name,
		.terms = probe->spec.terms,
		.is_of_kernel = probe->spec.kind == PROBE_KERNEL,
		.is_return = probe->spec.is_return,
		.measures_calls = probe->spec.measures_calls,
		.follows_calls = follows_calls(probe, config),
	};

	return from.is_of_kernel ? make_of_kernel(probe, &from, pmus, ret)
				 : make_of_files(probe, &from, pmus, ret);
}

struct error *probes_add(struct probes *probes, const char *text,
			 const struct record_config *config, const struct pmus *pmus,
			 struct event *ret)
{
	const struct probe_context context = {
		.program = config->target.program,
		.pids = config->target.pids,
		.pid_count = config->target.pid_count,
		.debug_dir = config->output.debug_dir ? config->output.debug_dir : DEBUG_DIR,
	};
	struct probe *probe;
	struct error *err;

	GROW(probes->items, probes->count, probes->room);
	probe = &probes->items[probes->count];
	err = probe_resolve(text, &context, probe);
	if (err)
		return err;
	probes->count++;
	return probes_make(probe, config, pmus, ret);
}

static void notice_places(const struct probe *probe, const struct listener *listener)
{
	CLEANUP(free_ptr) char *names = xstrdup("");
	size_t count = place_count(probe), shown = 0;
	uint64_t found = 0;

	for (size_t i = 0; i < probe->file_count; i++) {
		const struct probe_places *places = &probe->files[i].places;

		found += places->found;
		for (size_t j = 0; j < places->count && shown <= NAMES_MAX; j++) {
			CLEANUP(free_ptr) char *before = names;
			bool is_last = shown++ == NAMES_MAX;

			names = xasprintf("%s%s%s", before, shown > 1 ? ", " : "",
					  is_last ? "…" : places->items[j].name);
		}
	}
	if (found > count)
		listener_notice(listener, "%s: the first %zu of %" PRIu64 " places",
				probe->spec.name, count, found);
	else if (count > 1)
		listener_notice(listener, "%s: %zu places: %s", probe->spec.name, count, names);
}

void probes_notice(const struct probes *probes, const struct listener *listener)
{
	for (size_t i = 0; i < probes->count; i++)
		notice_places(&probes->items[i], listener);
}
