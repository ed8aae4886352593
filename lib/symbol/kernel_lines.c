#include "symbol/kernel_lines.h"

#include "base/alloc.h"
#include "base/arena.h"

static const char *kernel_lines_text_of(struct arena *arena, const struct reply *reply,
					uint32_t string)
{
	struct bytes text = reply_string(reply, string);

	return bytes_left(&text) ? arena_text(arena, text) : "";
}

static struct symbolized_line kernel_lines_line_of(struct arena *arena, const struct reply *reply,
						   const struct reply_line *line)
{
	struct reply_function function = reply_function(reply, line->function);

	return (struct symbolized_line){
		.name = kernel_lines_text_of(arena, reply, function.name),
		.system_name = kernel_lines_text_of(arena, reply, function.system_name),
		.file = kernel_lines_text_of(arena, reply, function.file),
		.start_line = function.start_line,
		.line = line->line,
	};
}

static struct symbolized kernel_lines_take(struct arena *arena, const struct reply *reply,
					   size_t address, struct symbolized_line *into)
{
	struct reply_line found[REPLY_LINES_MAX];
	unsigned count = reply_lines(reply, address, found);

	for (unsigned i = 0; i < count; i++)
		into[i] = kernel_lines_line_of(arena, reply, &found[i]);
	return (struct symbolized){.lines = into, .count = count};
}

static struct symbolized kernel_lines_join_address(struct arena *arena, const struct reply *names,
						   const struct reply *lines, size_t address)
{
	struct symbolized_line name, all[REPLY_LINES_MAX], *kept;
	struct symbolized joined = kernel_lines_take(arena, lines, address, all);
	struct reply_line named[REPLY_LINES_MAX];

	if (reply_lines(names, address, named)) {
		name = kernel_lines_line_of(arena, names, &named[0]);
		if (!joined.count)
			all[joined.count++] = name;
		all[joined.count - 1].name = name.name;
		all[joined.count - 1].system_name = name.system_name;
	}
	kept = arena_alloc(arena, joined.count * sizeof(*kept));
	if (joined.count)
		memcpy(kept, all, joined.count * sizeof(*kept));
	joined.lines = kept;
	return joined;
}

struct reply *kernel_lines_join(const struct reply *names, const struct reply *lines,
				size_t addresses, const char *debug_file)
{
	CLEANUP(free_ptr) struct symbolized *joined = xcalloc(addresses, sizeof(*joined));
	CLEANUP(arena_deinit) struct arena arena = {0};
	struct engine_result result = {
		.lines = joined,
		.problem = reply_problem(lines),
		.symbols = reply_symbols(lines),
		.sources = reply_sources(lines),
	};
	size_t len;
	void *bytes;

	for (size_t i = 0; i < addresses; i++)
		joined[i] = kernel_lines_join_address(&arena, names, lines, i);
	result.sources.present |= reply_sources(names).present;
	result.sources.debug_file = debug_file;
	bytes = reply_write(&result, addresses, &len);
	return reply_read(bytes, len, addresses);
}
