#include "symbol/kallsyms.h"

#include "base/alloc.h"
#include "base/line_reader.h"
#include "base/search.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Longer than any function of the kernel: an address further from the symbol is not part of it. */
enum { LONGEST_FUNCTION_BYTES = 1024 * 1024 };
/* The address, type, name (KSYM_NAME_LEN: 512) and module need less. */
enum { LONGEST_LINE_BYTES = 1024 };

struct symbol {
	uint64_t address;
	char type;
	const char *name; /* with the module's name */
};

/* The best symbol so far for an address, and for the following ones without a better symbol. */
struct candidate {
	struct symbol symbol;
	char *name; /* NULL: none yet */
};

struct search {
	const uint64_t *addresses;
	size_t count;
	struct candidate *candidates;
	bool any_line, any_address;
};

static bool is_text(char type)
{
	return type && strchr("tTwW", type);
}

/* Symbols of type text that mark the end of code. */
static bool is_end(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext");
}

/*
 * Of several symbols at one address, the first text symbol is taken, as in the kernel's own
 * traces: the kernel's build puts the best one first.
 */
static bool is_better(const struct symbol *later, const struct symbol *earlier)
{
	if (later->address != earlier->address)
		return later->address > earlier->address;
	return is_text(later->type) && !is_text(earlier->type);
}

/* "ffffffff81000000 T name" or, with a tab, "… name	[module]". Changes the line. */
static bool parse_line(char *line, struct symbol *ret)
{
	const char *at = line;
	char *name, *tab;

	if (!text_hex(&at, &ret->address) || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return false;
	ret->type = at[1];
	ret->name = name = line + (at - line) + 3;
	tab = strchr(name, '\t');
	if (tab)
		*tab = ' ';
	return *name;
}

static void consider(struct search *search, const struct symbol *symbol)
{
	size_t index = search_first(search->addresses, search->count, symbol->address);
	struct candidate *candidate = &search->candidates[index];

	if (index == search->count || (candidate->name && !is_better(symbol, &candidate->symbol)))
		return;
	free(candidate->name);
	candidate->name = xstrdup(symbol->name);
	candidate->symbol = *symbol;
	candidate->symbol.name = candidate->name;
}

static struct error *read_symbols(struct search *search, FILE *kallsyms)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct symbol symbol;

	line_reader_init(&lines, kallsyms, LONGEST_LINE_BYTES, UINT64_MAX);
	while (line_reader_next(&lines)) {
		if (!parse_line(lines.line, &symbol))
			continue;
		search->any_line = true;
		search->any_address |= symbol.address != 0;
		consider(search, &symbol);
	}
	if (ferror(kallsyms))
		return error_errno(errno, "read the kernel's symbols");
	if (search->any_line && !search->any_address)
		return error_hint(error_new("the kernel hides its addresses"),
				  "run as root, or: sudo sysctl kernel.kptr_restrict=0");
	return NULL;
}

/*
 * Symbols are unsorted (modules, BPF programs). So far each symbol is stored only at the first
 * address after it; this carries it on to the following addresses.
 */
static void give_names(const struct search *search, struct arena *arena, const char **names)
{
	const struct symbol *best = NULL;
	const char *name = NULL;

	for (size_t i = 0; i < search->count; i++) {
		const struct candidate *candidate = &search->candidates[i];

		if (candidate->name && (!best || is_better(&candidate->symbol, best))) {
			best = &candidate->symbol;
			name = NULL;
			if (is_text(best->type) && !is_end(best->name))
				name = arena_strndup(arena, best->name, strlen(best->name));
		}
		if (name && search->addresses[i] - best->address < LONGEST_FUNCTION_BYTES)
			names[i] = name;
	}
}

struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
			    struct arena *arena, const char **names)
{
	struct search search = {
		.addresses = addresses,
		.count = count,
		.candidates = xcalloc(count + 1, sizeof(*search.candidates)),
	};
	struct error *err = read_symbols(&search, kallsyms);

	memset(names, 0, count * sizeof(*names));
	if (!err)
		give_names(&search, arena, names);
	for (size_t i = 0; i < count; i++)
		free(search.candidates[i].name);
	free(search.candidates);
	return err;
}
