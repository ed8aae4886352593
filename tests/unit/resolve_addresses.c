/*
 * resolve_addresses [--again | --parts | --go | --libdw] FILE [ALT]: reads
 * hexadecimal addresses of an ELF file, one per line, and prints the functions
 * that are inlined there, innermost first, in the format of llvm-symbolizer: a
 * line with the name, a line FILE:LINE:0, and an empty line after each address.
 * Unknown values are printed as "??". Split units are read from where they were
 * built and from files next to FILE.
 *
 *	--again	resolves a few addresses at a time, like a client that calls repeatedly
 *	--parts	several threads read parts of units
 *	--go	uses Go's own table instead of DWARF
 *	--libdw	uses elfutils' DWARF reader
 */
#include "dwarf/dwarf.h"
#include "symbol/gopclntab.h"
#include "symbol/libdw.h"
#include "symbol/thread_pool.h"

#include "base/alloc.h"
#include "base/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum { FEW = 50, PART_BYTES = 4096, THREADS = 4 };

struct query {
	uint64_t vaddr;
	uint32_t unit;
	size_t line; /* index of the input line */
};

struct queries {
	struct query *items;
	size_t count, room;
};

static struct elf_file *open_image(const char *path)
{
	CLEANUP(error_cleanup) struct error *err = NULL;
	struct elf_file *image;

	err = elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &image);
	if (!err)
		return image;
	fprintf(stderr, "%s\n", error_text(err));
	return NULL;
}

/* One of the two readers. */
struct either {
	struct dwarf *dwarf;
	struct libdw *libdw;
};

static struct queries read_queries(struct either by)
{
	struct queries queries = {0};
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		struct query query = {.line = queries.count};
		const char *at = line;

		if (!text_hex(&at, &query.vaddr))
			continue;
		query.unit = by.libdw ? libdw_unit_of(by.libdw, query.vaddr)
				      : dwarf_unit_of(by.dwarf, query.vaddr);
		GROW(queries.items, queries.count, queries.room);
		queries.items[queries.count++] = query;
	}
	return queries;
}

static int compare_queries(const void *left, const void *right)
{
	const struct query *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

/* chains: by index of the input line. */
static void resolve_unit(struct either by, const struct query *queries, size_t count,
			 struct arena *arena, struct inline_chain *chains)
{
	CLEANUP(free_ptr) uint64_t *vaddrs = xcalloc(count, sizeof(*vaddrs));
	CLEANUP(free_ptr) struct inline_chain *found = xcalloc(count, sizeof(*found));

	for (size_t i = 0; i < count; i++)
		vaddrs[i] = queries[i].vaddr;
	if (by.libdw)
		libdw_resolve(by.libdw, queries->unit, vaddrs, count, arena, found);
	else
		dwarf_resolve(by.dwarf, queries->unit, vaddrs, count, NULL, arena, found);
	for (size_t i = 0; i < count; i++)
		chains[queries[i].line] = found[i];
}

static void resolve_all(struct either by, struct queries *queries, size_t at_once,
			struct arena *arena, struct inline_chain *chains)
{
	if (queries->count)
		qsort(queries->items, queries->count, sizeof(*queries->items), compare_queries);
	for (size_t end, i = 0; i < queries->count; i = end) {
		const struct query *first = &queries->items[i];

		for (end = i; end < queries->count && end - i < at_once &&
			      queries->items[end].unit == first->unit;)
			end++;
		if (first->unit != DWARF_NO_UNIT)
			resolve_unit(by, first, end - i, arena, chains);
	}
}

static void print_chain(struct inline_chain chain)
{
	for (unsigned i = 0; i < chain.count; i++)
		printf("%s\n%s:%" PRIu32 ":0\n", chain.calls[i].name ? chain.calls[i].name : "??",
		       chain.calls[i].file ? chain.calls[i].file : "??", chain.calls[i].line);
	if (chain.count == 0)
		printf("??\n??:0:0\n");
	printf("\n");
}

static int open_file(void *user, const struct debugfile_question *question, unsigned attempt,
		     char **path)
{
	const char *program = user, *slash = strrchr(program, '/');
	CLEANUP(free_ptr)
	char *beside = xasprintf("%.*s%s", slash ? (int)(slash - program + 1) : 0, program,
				 question->name ? question->name : "");
	const char *name = question->kind == DEBUGFILE_BY_LINK ? beside : question->name;
	int fd = attempt || !name ? -1 : open(name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		*path = xstrdup(name);
	return fd;
}

struct work {
	void (*part)(void *context, size_t part);
	void *context;
};

static void run_part(void *context, size_t part, unsigned thread)
{
	const struct work *work = context;

	(void)thread;
	work->part(work->context, part);
}

static void run_on_threads(void *user, size_t parts, void (*part)(void *context, size_t part),
			   void *context)
{
	struct work work = {part, context};

	(void)user;
	thread_pool_run(&(struct thread_pool){.threads = THREADS}, parts, run_part, &work);
}

static int resolve_by_go(const char *path)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = open_image(path);
	CLEANUP(gopclntab_cleanup) struct gopclntab *table = image ? gopclntab_new(image) : NULL;
	struct arena arena = {0};
	char line[64];

	if (!table)
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		const char *at = line;
		uint64_t vaddr;

		if (text_hex(&at, &vaddr))
			print_chain(gopclntab_resolve(table, vaddr, &arena));
	}
	arena_deinit(&arena);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--go"))
		return resolve_by_go(argv[2]);

	bool again = argc > 1 && !strcmp(argv[1], "--again");
	bool by_libdw = argc > 1 && !strcmp(argv[1], "--libdw");
	bool in_parts = argc > 1 && !strcmp(argv[1], "--parts");
	int first = 1 + again + by_libdw + in_parts;
	CLEANUP(elf_file_cleanup)
	struct elf_file *debug = argc > first ? open_image(argv[first]) : NULL;
	CLEANUP(elf_file_cleanup)
	struct elf_file *alt = argc > first + 1 ? open_image(argv[first + 1]) : NULL;
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = debug ? dwarf_new(debug, alt) : NULL;
	CLEANUP(libdw_cleanup)
	struct libdw *libdw = dwarf && by_libdw ? libdw_new(debug, alt) : NULL;
	const struct either by = {dwarf, libdw};
	const struct debugfile_opener opener = {.open = open_file, .user = argv[first]};
	struct inline_chain *chains;
	struct arena arena = {0};
	struct queries queries;

	if (!dwarf)
		return 1;
	dwarf_follow_splits(dwarf, debug, &opener);
	if (again)
		dwarf_keep_contents(dwarf);
	if (in_parts)
		dwarf_share_units(dwarf, &(struct dwarf_sharing){PART_BYTES, run_on_threads, NULL});
	queries = read_queries(by);
	chains = xcalloc(queries.count, sizeof(*chains));
	resolve_all(by, &queries, again ? FEW : SIZE_MAX, &arena, chains);
	for (size_t i = 0; i < queries.count; i++)
		print_chain(chains[i]);
	free(chains);
	free(queries.items);
	arena_deinit(&arena);
	return 0;
}
