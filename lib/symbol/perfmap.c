#include "symbol/perfmap.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/line_reader.h"
#include "base/search.h"
#include "base/text.h"

#include <string.h>

/* Of a line of the map. */
struct symbol {
	uint64_t start, size_bytes;
	const char *name;
};

static bool parse_line(const char *at, struct symbol *ret)
{
	if (!text_hex(&at, &ret->start) || *at++ != ' ')
		return false;
	if (!text_hex(&at, &ret->size_bytes) || *at++ != ' ')
		return false;
	ret->name = at;
	return *at;
}

/* Above the ranks of lines that are not the module's own. */
#define LATER_LINES (UINT64_C(1) << 62)

/*
 * The last line that covers each address, in a segment tree: node 1 is the root, i has the children
 * 2i and 2i + 1, and address k is the leaf count + k. A line is noted at the few nodes that make up
 * its addresses, so many lines that cover many addresses cost the logarithm of the addresses each.
 */
struct cover {
	const uint64_t *addresses;
	size_t count;
	uint64_t own_bytes;
	uint64_t *ranks; /* by node: of the line that wins; 0: none */
};

/* Lines are known by where they end. The rank of one, of which the highest wins. */
static uint64_t rank_of(const struct cover *cover, uint64_t line_end)
{
	return line_end <= cover->own_bytes ? LATER_LINES + line_end : LATER_LINES - line_end;
}

static uint64_t end_of(uint64_t rank)
{
	return rank > LATER_LINES ? rank - LATER_LINES : LATER_LINES - rank;
}

static void raise(struct cover *cover, size_t node, uint64_t rank)
{
	if (cover->ranks[node] < rank)
		cover->ranks[node] = rank;
}

static void cover_add(struct cover *cover, const struct symbol *symbol, uint64_t rank)
{
	size_t first = search_first(cover->addresses, cover->count, symbol->start), end;
	uint64_t limit;

	if (first == cover->count || cover->addresses[first] - symbol->start >= symbol->size_bytes)
		return;
	end = cover->count;
	if (!__builtin_add_overflow(symbol->start, symbol->size_bytes, &limit))
		end = search_first(cover->addresses, cover->count, limit);
	for (first += cover->count, end += cover->count; first < end; first /= 2, end /= 2) {
		if (first % 2)
			raise(cover, first++, rank);
		if (end % 2)
			raise(cover, --end, rank);
	}
}

static uint64_t cover_get(const struct cover *cover, size_t address)
{
	uint64_t rank = 0;

	for (size_t node = cover->count + address; node; node /= 2)
		if (cover->ranks[node] > rank)
			rank = cover->ranks[node];
	return rank;
}

/* False if the map is longer than its bound. */
static bool read_lines(FILE *map, struct cover *cover)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct symbol symbol;

	line_reader_init(&lines, map, PERFMAP_LINE_BYTES_MAX, PERFMAP_BYTES_MAX);
	while (line_reader_next(&lines))
		if (parse_line(lines.line, &symbol))
			cover_add(cover, &symbol, rank_of(cover, lines.offset + lines.len));
	return lines.left_bytes;
}

struct winner {
	uint64_t line_end;
	size_t address;
};

static int by_line(const void *a, const void *b)
{
	const struct winner *left = a, *right = b;

	return (left->line_end > right->line_end) - (left->line_end < right->line_end);
}

/* Sorted by line. The caller frees the result. */
static struct winner *find_winners(const struct cover *cover, size_t *ret_count)
{
	struct winner *winners = xcalloc(cover->count, sizeof(*winners));
	size_t count = 0;

	for (size_t i = 0; i < cover->count; i++) {
		uint64_t rank = cover_get(cover, i);

		if (rank)
			winners[count++] = (struct winner){end_of(rank), i};
	}
	if (count)
		qsort(winners, count, sizeof(*winners), by_line);
	*ret_count = count;
	return winners;
}

/* Reads the map again, so that only names that are needed are kept. */
static void give_names(FILE *map, const struct winner *winners, size_t count, struct arena *arena,
		       const char **names)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct symbol symbol;
	size_t next = 0, names_bytes = 0;

	line_reader_init(&lines, map, PERFMAP_LINE_BYTES_MAX, PERFMAP_BYTES_MAX);
	while (next < count && names_bytes < PERFMAP_NAMES_BYTES_MAX && line_reader_next(&lines)) {
		uint64_t line_end = lines.offset + lines.len;
		const char *name = NULL;

		/* The map may have changed, so lines that were seen can be missing. */
		while (next < count && winners[next].line_end < line_end)
			next++;
		if (next == count || winners[next].line_end != line_end ||
		    !parse_line(lines.line, &symbol))
			continue;
		names_bytes += strlen(symbol.name) + 1;
		name = arena_strndup(arena, symbol.name, strlen(symbol.name));
		for (; next < count && winners[next].line_end == line_end; next++)
			names[winners[next].address] = name;
	}
}

bool perfmap_find(FILE *map, uint64_t own_bytes, const uint64_t *addresses, size_t count,
		  struct arena *arena, const char **names)
{
	CLEANUP(free_ptr) uint64_t *ranks = xcalloc(2 * count + 1, sizeof(*ranks));
	struct cover cover = {
		.addresses = addresses, .count = count, .own_bytes = own_bytes, .ranks = ranks};
	CLEANUP(free_ptr) struct winner *winners = NULL;
	bool is_whole = read_lines(map, &cover);

	memset(names, 0, count * sizeof(*names));
	winners = find_winners(&cover, &count);
	if (count && fseeko(map, 0, SEEK_SET) == 0)
		give_names(map, winners, count, arena, names);
	return is_whole;
}
