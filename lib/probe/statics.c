#include "base/alloc.h"
#include "base/arena.h"
#include "base/nearest.h"
#include "probe/pattern.h"
#include "probe/question.h"
#include "probe/static_probes.h"

#include <stdlib.h>
#include <string.h>

/* Returns the file offset of a variable, or false if it is not in the file. */
static bool data_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *ret)
{
	unsigned count = 0;
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	for (unsigned i = 0; i < count; i++) {
		if (vaddr < segments[i].vaddr ||
		    vaddr - segments[i].vaddr >= segments[i].file_bytes)
			continue;
		*ret = segments[i].offset + (vaddr - segments[i].vaddr);
		return true;
	}
	return false;
}

static bool statics_matches(const struct probe_spec *spec, const char *provider, const char *name)
{
	return (!spec->provider || pattern_matches(spec->provider, provider)) &&
	       pattern_matches(spec->function, name);
}

static void statics_add(const struct probe_question *question, const struct static_probe *probe,
			const char *name, struct probe_places *ret)
{
	uint64_t offset = 0, semaphore = 0;

	if (!elf_file_vaddr_to_offset(question->elf, probe->vaddr, &offset))
		return;
	/* Without its semaphore, the program would skip the probe. */
	if (probe->semaphore_vaddr &&
	    !data_offset(question->elf, probe->semaphore_vaddr, &semaphore))
		return;
	probe_places_add(ret, offset, semaphore, name);
}

/* Names for nearest(). */
struct names {
	struct arena arena;
	const char **items;
	size_t count, room;
};

static void names_deinit(struct names *names)
{
	free(names->items);
	arena_deinit(&names->arena);
}

static void statics_add_name(struct names *names, const char *name)
{
	GROW(names->items, names->count, names->room);
	names->items[names->count++] = name;
}

static struct error *statics_explain(const struct probe_spec *spec, struct names *names)
{
	const char *near;
	struct error *err;

	if (!names->count)
		return error_hint(error_new("it has no static probes (.note.stapsdt)"),
				  "programs have them if they were built with sys/sdt.h "
				  "(--enable-dtrace, --with-dtrace)");
	statics_add_name(names, NULL);
	near = nearest(spec->function, names->items);
	err = error_new("it has no static probe %s%s%s", spec->provider ? spec->provider : "",
			spec->provider ? ":" : "", spec->function);
	return near ? error_hint(err, "did you mean %s?", near)
		    : error_hint(err, "one of them is %s", names->items[0]);
}

struct error *probe_find_static(const struct probe_question *question, struct probe_places *ret)
{
	struct elf_file *elf = question->elf;
	struct bytes notes = elf_file_section(elf, ".note.stapsdt").data;
	uint64_t base = elf_file_section(elf, ".stapsdt.base").vaddr;
	CLEANUP(names_deinit) struct names names = {0};
	struct static_probe probe;

	while (static_probe_next(&notes, elf_file_is_32(elf), base, &probe)) {
		const char *provider = arena_text(&names.arena, probe.provider);
		const char *name = arena_text(&names.arena, probe.name);
		CLEANUP(free_ptr) char *full = xasprintf("%s:%s", provider, name);

		statics_add_name(&names, name);
		if (statics_matches(question->spec, provider, name))
			statics_add(question, &probe, full, ret);
	}
	return ret->count ? NULL : statics_explain(question->spec, &names);
}
