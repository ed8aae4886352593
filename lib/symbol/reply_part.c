#include "symbol/reply_part.h"

#include "base/alloc.h"
#include "base/arena.h"

static const char *reply_part_string(const struct reply *reply, uint32_t string,
				     struct arena *arena)
{
	struct bytes text = reply_string(reply, string);

	return arena_strndup(arena, (const char *)text.at, bytes_left(&text));
}

static struct symbolized reply_part_lines(const struct reply_pick *pick, struct arena *arena)
{
	struct reply_line found[REPLY_LINES_MAX];
	unsigned count = reply_lines(pick->reply, pick->address, found);
	struct symbolized_line *lines;

	if (!count)
		return (struct symbolized){
			.into_function = reply_into_function(pick->reply, pick->address)};
	lines = arena_alloc(arena, count * sizeof(*lines));
	for (unsigned i = 0; i < count; i++) {
		struct reply_function function = reply_function(pick->reply, found[i].function);

		lines[i] = (struct symbolized_line){
			.name = reply_part_string(pick->reply, function.name, arena),
			.system_name = reply_part_string(pick->reply, function.system_name, arena),
			.file = reply_part_string(pick->reply, function.file, arena),
			.start_line = function.start_line,
			.line = found[i].line,
		};
	}
	return (struct symbolized){.lines = lines, .count = count};
}

struct reply *reply_part(const struct reply *like, const struct reply_pick *picks, size_t count)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	CLEANUP(free_ptr) struct symbolized *lines = xcalloc(count, sizeof(*lines));
	void *bytes;
	size_t len;

	for (size_t i = 0; i < count; i++)
		lines[i] = reply_part_lines(&picks[i], &arena);
	bytes = reply_write(&(struct engine_result){.lines = lines,
						    .problem = reply_problem(like),
						    .symbols = reply_symbols(like),
						    .sources = reply_sources(like)},
			    count, &len);
	return reply_read(bytes, len, count);
}
