#include "symbol/libdw.h"

#include "symbol/libdw_file.h"
#include "symbol/libdw_names.h"
#include "symbol/libdw_scopes.h"
#include "symbol/libdw_units.h"

#include "base/alloc.h"

#include <dwarf.h>
#include <pthread.h>

/* Used by one thread at a time. */
struct libdw_reader {
	struct libdw_file *debug, *alt; /* NULL without DWARF or a supplementary file */
	struct libdw_reader *other;	/* next idle reader */
};

struct libdw {
	struct libdw_sections debug, alt;
	bool has_alt;

	pthread_mutex_t lock; /* protects the following members */
	struct libdw_reader *idle;
	bool has_units;
	struct libdw_units units;
};

/* The state of one libdw_resolve(). */
struct libdw_resolving {
	Dwarf_Die root;
	const uint64_t *vaddrs;
	size_t count;
	struct libdw_scopes scopes;
	uint32_t *innermost; /* innermost scope by address */
	struct libdw_names names;
	struct arena *arena;
};

static struct libdw_reader *reader_new(const struct libdw *libdw)
{
	struct libdw_reader *reader = xcalloc(1, sizeof(*reader));

	reader->debug = libdw_file_open(&libdw->debug);
	if (libdw->has_alt)
		reader->alt = libdw_file_open(&libdw->alt);
	if (reader->debug && reader->alt)
		dwarf_setalt(libdw_file_dwarf(reader->debug), libdw_file_dwarf(reader->alt));
	return reader;
}

static void reader_free(struct libdw_reader *reader)
{
	libdw_file_close(reader->debug);
	libdw_file_close(reader->alt);
	free(reader);
}

/* Requires the lock. */
static struct libdw_reader *libdw_take(struct libdw *libdw)
{
	struct libdw_reader *reader = libdw->idle;

	if (!reader)
		return reader_new(libdw);
	libdw->idle = reader->other;
	return reader;
}

/* Requires the lock. */
static void libdw_give(struct libdw *libdw, struct libdw_reader *reader)
{
	reader->other = libdw->idle;
	libdw->idle = reader;
}

static struct libdw_reader *take_reader(struct libdw *libdw)
{
	struct libdw_reader *reader;

	pthread_mutex_lock(&libdw->lock);
	reader = libdw_take(libdw);
	pthread_mutex_unlock(&libdw->lock);
	return reader;
}

static void give_reader(struct libdw *libdw, struct libdw_reader *reader)
{
	pthread_mutex_lock(&libdw->lock);
	libdw_give(libdw, reader);
	pthread_mutex_unlock(&libdw->lock);
}

struct libdw *libdw_new(struct elf_file *debug, struct elf_file *alt)
{
	struct libdw *libdw = xcalloc(1, sizeof(*libdw));

	libdw->debug = libdw_sections_of(debug);
	libdw->has_alt = alt;
	if (alt)
		libdw->alt = libdw_sections_of(alt);
	pthread_mutex_init(&libdw->lock, NULL);
	return libdw;
}

void libdw_free(struct libdw *libdw)
{
	if (!libdw)
		return;
	for (struct libdw_reader *reader = libdw->idle, *next; reader; reader = next) {
		next = reader->other;
		reader_free(reader);
	}
	pthread_mutex_destroy(&libdw->lock);
	libdw_units_deinit(&libdw->units);
	free(libdw);
}

static void need_units(struct libdw *libdw)
{
	pthread_mutex_lock(&libdw->lock);
	if (!libdw->has_units) {
		struct libdw_reader *reader = libdw_take(libdw);

		libdw_units_init(&libdw->units, libdw_file_dwarf(reader->debug),
				 libdw->debug.range_bytes);
		libdw_give(libdw, reader);
		libdw->has_units = true;
	}
	pthread_mutex_unlock(&libdw->lock);
}

uint32_t libdw_unit_of(struct libdw *libdw, uint64_t vaddr)
{
	uint32_t unit;

	need_units(libdw);
	return libdw_units_find(&libdw->units, vaddr, &unit) ? unit : LIBDW_NO_UNIT;
}

uint64_t libdw_unit_bytes(const struct libdw *libdw, uint32_t unit)
{
	return libdw->units.items[unit].bytes;
}

/* The place of code or of a call. */
struct place {
	const char *file; /* NULL if unknown */
	uint32_t line;
};

static bool libdw_place_at(struct libdw_resolving *resolving, uint64_t vaddr, struct place *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&resolving->root, vaddr);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number;

	*ret = (struct place){0};
	if (!line || dwarf_lineno(line, &number) != 0)
		return false;
	ret->file = libdw_names_path(&resolving->names, &resolving->root, file);
	ret->line = (uint32_t)number;
	return true;
}

static struct place call_place(struct libdw_resolving *resolving, Dwarf_Die *die)
{
	struct place place = {0};
	uint64_t file, line;

	if (!libdw_number(die, DW_AT_call_file, &file))
		return place;
	place.file = libdw_names_file(&resolving->names, &resolving->root, file);
	if (libdw_number(die, DW_AT_call_line, &line))
		place.line = (uint32_t)line;
	return place;
}

static struct libdw_scope *scope_at(const struct libdw_resolving *resolving, uint32_t index)
{
	return index == LIBDW_NO_SCOPE ? NULL : &resolving->scopes.items[index];
}

static void libdw_fill_call(struct libdw_resolving *resolving, struct libdw_scope *scope,
			    struct place place, struct call *call)
{
	const struct libdw_function *function = libdw_names_function(&resolving->names,
								     &scope->die);

	*call = (struct call){
		.name = function->name,
		.is_linkage_name = function->is_linkage_name,
		.plain_name = function->plain_name,
		.file = place.file,
		.line = place.line,
		.start_line = function->decl_line,
		.decl_file = function->decl_file,
	};
}

static struct inline_chain libdw_chain_of(struct libdw_resolving *resolving, size_t i)
{
	struct libdw_scope *scope = scope_at(resolving, resolving->innermost[i]);
	unsigned count = scope ? scope->level + 1 : 1;
	struct place place;
	struct call *calls;

	if (!libdw_place_at(resolving, resolving->vaddrs[i], &place) && !scope)
		return (struct inline_chain){0};
	calls = arena_alloc(resolving->arena, count * sizeof(*calls));
	if (!scope)
		calls[0] = (struct call){.file = place.file, .line = place.line};
	for (struct call *call = calls; scope; call++) {
		libdw_fill_call(resolving, scope, place, call);
		place = call_place(resolving, &scope->die);
		scope = scope->level ? scope_at(resolving, scope->parent) : NULL;
	}
	return (struct inline_chain){calls, count};
}

void libdw_resolve(struct libdw *libdw, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   struct arena *arena, struct inline_chain *ret)
{
	const struct libdw_unit *of = &libdw->units.items[unit];
	const struct libdw_budget budget = {
		.entries = of->bytes,
		.ranges = of->bytes + libdw->debug.range_bytes,
	};
	struct libdw_reader *reader = take_reader(libdw);
	Dwarf *dwarf = libdw_file_dwarf(reader->debug);
	struct libdw_resolving resolving = {
		.vaddrs = vaddrs,
		.count = count,
		.innermost = xcalloc(count, sizeof(*resolving.innermost)),
		.arena = arena,
	};
	bool found = dwarf && dwarf_offdie(dwarf, of->root, &resolving.root);

	libdw_names_init(&resolving.names, arena);
	if (found)
		libdw_scopes_find(&resolving.scopes, &resolving.root, budget, vaddrs, count,
				  resolving.innermost);
	for (size_t i = 0; i < count; i++)
		ret[i] = found ? libdw_chain_of(&resolving, i) : (struct inline_chain){0};
	give_reader(libdw, reader);
	free(resolving.innermost);
	libdw_scopes_deinit(&resolving.scopes);
	libdw_names_deinit(&resolving.names);
}
