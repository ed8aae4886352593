#include "symbol/kallsyms.h"

#include "base/alloc.h"
#include "base/line_reader.h"
#include "base/search.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * Longer than any function of the kernel: an address further from the symbol is
 * not part of it.
 */
enum { LONGEST_FUNCTION_BYTES = 1024 * 1024 };
/* Enough for the address, type, name (KSYM_NAME_LEN: 512) and module. */
enum { LONGEST_LINE_BYTES = 1024 };

struct kallsyms_symbol {
	uint64_t address;
	char type;
	const char *name; /* includes the module's name */
};

/*
 * The best symbol so far for an address, and for the following ones without a
 * better symbol.
 */
struct candidate {
	struct kallsyms_symbol symbol;
	char *name; /* NULL if there is none yet */
};

struct kallsyms_search {
	const uint64_t *addresses;
	size_t count;
	struct candidate *candidates;
	bool any_line, any_address;
};

static bool kallsyms_is_text(char type)
{
	return type && strchr("tTwW", type);
}

/* Returns true for symbols of type text that mark the end of code. */
static bool kallsyms_is_end(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext");
}

/*
 * Compares two symbols. If several text symbols have the same address, the
 * first one is used, like in kernel traces: the kernel's build sorts the best
 * one first.
 */
static bool is_better(const struct kallsyms_symbol *later, const struct kallsyms_symbol *earlier)
{
	if (later->address != earlier->address)
		return later->address > earlier->address;
	return kallsyms_is_text(later->type) && !kallsyms_is_text(earlier->type);
}

/*
 * Parses "ffffffff81000000 T name", which a tab and "[module]" can follow.
 * Modifies the line.
 */
static bool kallsyms_parse_line(char *line, struct kallsyms_symbol *ret)
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

static void consider(struct kallsyms_search *search, const struct kallsyms_symbol *symbol)
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

static struct error *kallsyms_read_symbols(struct kallsyms_search *search, FILE *kallsyms)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct kallsyms_symbol symbol;

	line_reader_init(&lines, kallsyms, LONGEST_LINE_BYTES, UINT64_MAX);
	while (line_reader_next(&lines)) {
		if (!kallsyms_parse_line(lines.line, &symbol))
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
 * Propagates each symbol to the following addresses. Symbols are unsorted
 * (modules, BPF programs), so until then each is stored only at the first
 * address after it.
 */
static void kallsyms_give_names(const struct kallsyms_search *search, struct arena *arena,
				const char **names)
{
	const struct kallsyms_symbol *best = NULL;
	const char *name = NULL;

	for (size_t i = 0; i < search->count; i++) {
		const struct candidate *candidate = &search->candidates[i];

		if (candidate->name && (!best || is_better(&candidate->symbol, best))) {
			best = &candidate->symbol;
			name = NULL;
			if (kallsyms_is_text(best->type) && !kallsyms_is_end(best->name))
				name = arena_strndup(arena, best->name, strlen(best->name));
		}
		if (name && search->addresses[i] - best->address < LONGEST_FUNCTION_BYTES)
			names[i] = name;
	}
}

struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
			    struct arena *arena, const char **names)
{
	struct kallsyms_search search = {
		.addresses = addresses,
		.count = count,
		.candidates = xcalloc(count + 1, sizeof(*search.candidates)),
	};
	struct error *err = kallsyms_read_symbols(&search, kallsyms);

	memset(names, 0, count * sizeof(*names));
	if (!err)
		kallsyms_give_names(&search, arena, names);
	for (size_t i = 0; i < count; i++)
		free(search.candidates[i].name);
	free(search.candidates);
	return err;
}
