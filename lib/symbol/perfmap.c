#include "symbol/perfmap.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/line_reader.h"
#include "base/search.h"
#include "base/text.h"

#include <string.h>

/* A symbol of one line of the map. */
struct perfmap_symbol {
	uint64_t start, size_bytes;
	const char *name;
};

static bool perfmap_parse_line(const char *at, struct perfmap_symbol *ret)
{
	if (!text_hex(&at, &ret->start) || *at++ != ' ')
		return false;
	if (!text_hex(&at, &ret->size_bytes) || *at++ != ' ')
		return false;
	ret->name = at;
	return *at;
}

/*
 * Added to the rank of lines within own_bytes, so that they take precedence
 * over later lines.
 */
#define LATER_LINES (UINT64_C(1) << 62)

/*
 * Finds the last line that covers each address, with a segment tree. Node 1 is
 * the root, node i has the children 2i and 2i + 1, and address k is the leaf
 * count + k. A line is stored at the few nodes that make up its addresses, so
 * the cost per line is only logarithmic in the number of addresses.
 */
struct cover {
	const uint64_t *addresses;
	size_t count;
	uint64_t own_bytes;
	uint64_t *ranks; /* by node: rank of the best line, or 0 */
};

/*
 * Returns the rank of a line, which is identified by its end. The highest rank
 * takes precedence.
 */
static uint64_t perfmap_rank_of(const struct cover *cover, uint64_t line_end)
{
	return line_end <= cover->own_bytes ? LATER_LINES + line_end : LATER_LINES - line_end;
}

static uint64_t perfmap_end_of(uint64_t rank)
{
	return rank > LATER_LINES ? rank - LATER_LINES : LATER_LINES - rank;
}

static void raise(struct cover *cover, size_t node, uint64_t rank)
{
	if (cover->ranks[node] < rank)
		cover->ranks[node] = rank;
}

static void cover_add(struct cover *cover, const struct perfmap_symbol *symbol, uint64_t rank)
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

/* Returns false if the map is too large. */
static bool perfmap_read_lines(FILE *map, struct cover *cover)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct perfmap_symbol symbol;

	line_reader_init(&lines, map, PERFMAP_LINE_BYTES_MAX, PERFMAP_BYTES_MAX);
	while (line_reader_next(&lines))
		if (perfmap_parse_line(lines.line, &symbol))
			cover_add(cover, &symbol, perfmap_rank_of(cover, lines.offset + lines.len));
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

/* Returns the best lines, sorted by line. The caller frees the result. */
static struct winner *find_winners(const struct cover *cover, size_t *ret_count)
{
	struct winner *winners = xcalloc(cover->count, sizeof(*winners));
	size_t count = 0;

	for (size_t i = 0; i < cover->count; i++) {
		uint64_t rank = cover_get(cover, i);

		if (rank)
			winners[count++] = (struct winner){perfmap_end_of(rank), i};
	}
	if (count)
		qsort(winners, count, sizeof(*winners), by_line);
	*ret_count = count;
	return winners;
}

/* Reads the map again to store only the names that are needed. */
static void perfmap_give_names(FILE *map, const struct winner *winners, size_t count,
			       struct arena *arena, const char **names)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	struct perfmap_symbol symbol;
	size_t next = 0, names_bytes = 0;

	line_reader_init(&lines, map, PERFMAP_LINE_BYTES_MAX, PERFMAP_BYTES_MAX);
	while (next < count && names_bytes < PERFMAP_NAMES_BYTES_MAX && line_reader_next(&lines)) {
		uint64_t line_end = lines.offset + lines.len;
		const char *name = NULL;

		/*
		 * The map may have changed, so lines of the first pass can be
		 * missing.
		 */
		while (next < count && winners[next].line_end < line_end)
			next++;
		if (next == count || winners[next].line_end != line_end ||
		    !perfmap_parse_line(lines.line, &symbol))
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
	bool is_whole = perfmap_read_lines(map, &cover);

	memset(names, 0, count * sizeof(*names));
	winners = find_winners(&cover, &count);
	if (count && fseeko(map, 0, SEEK_SET) == 0)
		perfmap_give_names(map, winners, count, arena, names);
	return is_whole;
}
