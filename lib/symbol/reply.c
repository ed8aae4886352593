#include "symbol/reply.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/strtab.h"

#include <string.h>

/* An output buffer. */
struct reply_text {
	unsigned char *bytes;
	size_t count, room;
};

static void put_byte(struct reply_text *text, unsigned byte)
{
	GROW(text->bytes, text->count, text->room);
	text->bytes[text->count++] = (unsigned char)byte;
}

static void reply_put_number(struct reply_text *text, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put_byte(text, 0x80 | (number & 0x7f));
	put_byte(text, (unsigned)number);
}

static void reply_put_string(struct reply_text *text, const char *string, size_t len)
{
	reply_put_number(text, len);
	while (text->room - text->count < len) {
		text->room = text->room ? 2 * text->room : 16;
		text->bytes = xreallocarray(text->bytes, text->room, 1);
	}
	memcpy(text->bytes + text->count, string, len);
	text->count += len;
}

/*
 * Equal strings have one number, although each unit of DWARF can have its own
 * copy, so that a reply depends only on its lines. A string that was seen at
 * its address is not compared again.
 */
struct reply_writer {
	struct reply_text strings, functions, lines;
	struct strtab *texts; /* ids are the numbers of the strings */
	uint32_t string_count, function_count, pair_count;
	struct idmap by_pointer, pairs, by_pair;
};

static uint32_t reply_string_of(struct reply_writer *writer, const char *string)
{
	uint32_t *index;
	size_t len;

	if (!*string)
		return 0;
	index = idmap_put(&writer->by_pointer, (uint64_t)(uintptr_t)string, 0);
	if (*index != IDMAP_NONE)
		return *index;
	len = strnlen(string, REPLY_STRING_BYTES_MAX);
	*index = strtab_add_len(writer->texts, string, len);
	if (*index > writer->string_count) {
		writer->string_count = *index;
		reply_put_string(&writer->strings, string, len);
	}
	return *index;
}

static uint32_t reply_function_of(struct reply_writer *writer, const struct symbolized_line *line)
{
	const uint32_t strings[] = {
		reply_string_of(writer, line->name),
		reply_string_of(writer, line->system_name),
		reply_string_of(writer, line->file),
	};
	uint32_t *pair = idmap_put(&writer->pairs, strings[0], strings[1]);
	uint32_t *function;

	if (*pair == IDMAP_NONE)
		*pair = writer->pair_count++;
	function = idmap_put(&writer->by_pair, (uint64_t)*pair << 32 | strings[2],
			     line->start_line);
	if (*function == IDMAP_NONE) {
		*function = writer->function_count++;
		for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
			reply_put_number(&writer->functions, strings[i]);
		reply_put_number(&writer->functions, line->start_line);
	}
	return *function;
}

static void write_lines(struct reply_writer *writer, struct symbolized lines)
{
	unsigned count = lines.count < REPLY_LINES_MAX ? lines.count : REPLY_LINES_MAX;

	reply_put_number(&writer->lines, count);
	for (unsigned i = 0; i < count; i++) {
		reply_put_number(&writer->lines, reply_function_of(writer, &lines.lines[i]));
		reply_put_number(&writer->lines, lines.lines[i].line);
	}
	if (!count)
		reply_put_number(&writer->lines, lines.into_function);
}

static void put_path(struct reply_text *text, const char *path)
{
	path = path ? path : "";
	reply_put_string(text, path, strnlen(path, REPLY_STRING_BYTES_MAX));
}

static void reply_put_sources(struct reply_text *text, const struct name_sources *sources)
{
	reply_put_number(text, sources->present);
	reply_put_number(text, sources->split_units);
	reply_put_number(text, sources->missing_units);
	reply_put_number(text, sources->is_rust);
	put_path(text, sources->debug_file);
	put_path(text, sources->missing_file);
}

static void *reply_join(const struct engine_result *result, const struct reply_writer *writer,
			size_t *len)
{
	struct reply_text head = {0}, middle = {0};
	const struct reply_text *parts[] = {&head, &writer->strings, &middle, &writer->functions,
					    &writer->lines};
	unsigned char *joined, *at;

	reply_put_number(&head, result->problem);
	reply_put_number(&head, result->symbols);
	reply_put_sources(&head, &result->sources);
	reply_put_number(&head, writer->string_count);
	reply_put_number(&middle, writer->function_count);
	*len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		*len += parts[i]->count;
	joined = at = xmalloc(*len);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i]->count)
			at = mempcpy(at, parts[i]->bytes, parts[i]->count);
	free(head.bytes);
	free(middle.bytes);
	return joined;
}

void *reply_write(const struct engine_result *result, size_t addresses, size_t *len)
{
	struct reply_writer writer = {.texts = strtab_new()};
	void *joined;

	for (size_t i = 0; i < addresses; i++)
		write_lines(&writer, result->lines[i]);
	joined = reply_join(result, &writer, len);
	strtab_free(writer.texts);
	free(writer.strings.bytes);
	free(writer.functions.bytes);
	free(writer.lines.bytes);
	idmap_deinit(&writer.by_pointer);
	idmap_deinit(&writer.pairs);
	idmap_deinit(&writer.by_pair);
	return joined;
}

struct reply {
	unsigned char *data;
	size_t len;
	enum source_problem problem;
	enum source_symbols symbols;
	struct name_sources sources;
	char *debug_file, *missing_file; /* members of the sources */
	size_t *strings;		 /* offsets of the lengths; string N is at index N - 1 */
	uint32_t string_count;
	struct reply_function *functions;
	uint32_t function_count;
	size_t *lines; /* by address: offset of the number of lines */
	bool is_reduced;
};

/* Reads a number. Fails the cursor if it exceeds `most`. */
static uint32_t reply_take_number(struct bytes *from, uint32_t most)
{
	uint64_t number = bytes_uleb(from);

	if (number > most)
		bytes_fail(from);
	return bytes_ok(from) ? (uint32_t)number : 0;
}

/* Reads the number of items that take at least least_bytes each. */
static uint32_t reply_take_count(struct bytes *from, size_t least_bytes)
{
	size_t most = bytes_left(from) / least_bytes;

	return reply_take_number(from, most < UINT32_MAX ? (uint32_t)most : UINT32_MAX);
}

static struct bytes reply_take_string(struct bytes *from)
{
	struct bytes string = bytes_sub(from, reply_take_number(from, REPLY_STRING_BYTES_MAX));

	if (bytes_left(&string) == 0 || memchr(string.at, '\0', bytes_left(&string)))
		bytes_fail(from);
	return string;
}

/* Returns NULL if the path is empty. */
static char *take_path(struct bytes *from)
{
	struct bytes path = bytes_sub(from, reply_take_number(from, REPLY_STRING_BYTES_MAX));

	if (!bytes_left(&path) || memchr(path.at, '\0', bytes_left(&path)))
		return NULL;
	return xstrndup((const char *)path.at, bytes_left(&path));
}

static void read_sources(struct reply *reply, struct bytes *from)
{
	reply->sources.present = reply_take_number(from, NAMES_ALL);
	reply->sources.split_units = reply_take_number(from, UINT32_MAX);
	reply->sources.missing_units = reply_take_number(from, reply->sources.split_units);
	reply->sources.is_rust = reply_take_number(from, 1);
	reply->sources.debug_file = reply->debug_file = take_path(from);
	reply->sources.missing_file = reply->missing_file = take_path(from);
}

static size_t reply_offset_of(const struct reply *reply, const struct bytes *at)
{
	return reply->len - bytes_left(at);
}

static void read_strings(struct reply *reply, struct bytes *from)
{
	reply->string_count = reply_take_count(from, 2);
	reply->strings = xcalloc(reply->string_count, sizeof(*reply->strings));
	for (uint32_t i = 0; i < reply->string_count && bytes_ok(from); i++) {
		reply->strings[i] = reply_offset_of(reply, from);
		reply_take_string(from);
	}
}

static void read_functions(struct reply *reply, struct bytes *from)
{
	reply->function_count = reply_take_count(from, 4);
	reply->functions = xcalloc(reply->function_count, sizeof(*reply->functions));
	for (uint32_t i = 0; i < reply->function_count && bytes_ok(from); i++) {
		struct reply_function *function = &reply->functions[i];

		function->name = reply_take_number(from, reply->string_count);
		function->system_name = reply_take_number(from, reply->string_count);
		function->file = reply_take_number(from, reply->string_count);
		function->start_line = reply_take_number(from, UINT32_MAX);
	}
}

static void reply_read_lines(struct reply *reply, struct bytes *from, size_t addresses)
{
	reply->lines = xcalloc(addresses, sizeof(*reply->lines));
	for (size_t i = 0; i < addresses && bytes_ok(from); i++) {
		uint32_t count;

		reply->lines[i] = reply_offset_of(reply, from);
		count = reply_take_number(from, REPLY_LINES_MAX);
		for (uint32_t line = 0; line < count && bytes_ok(from); line++) {
			if (reply_take_number(from, UINT32_MAX) >= reply->function_count)
				bytes_fail(from);
			reply_take_number(from, UINT32_MAX);
		}
		if (!count)
			bytes_uleb(from);
	}
}

struct reply *reply_read(void *data, size_t len, size_t addresses)
{
	CLEANUP(reply_cleanup) struct reply *reply = xcalloc(1, sizeof(*reply));
	struct bytes from = bytes_of(data, len);

	reply->data = data;
	reply->len = len;
	reply->problem = reply_take_number(&from, SOURCE_OTHER_PLACE);
	reply->symbols = reply_take_number(&from, SOURCE_NO_SYMBOLS);
	read_sources(reply, &from);
	read_strings(reply, &from);
	read_functions(reply, &from);
	reply_read_lines(reply, &from, addresses);
	return bytes_ok(&from) && !bytes_left(&from) ? STEAL(reply) : NULL;
}

void reply_free(struct reply *reply)
{
	if (!reply)
		return;
	free(reply->data);
	free(reply->debug_file);
	free(reply->missing_file);
	free(reply->strings);
	free(reply->functions);
	free(reply->lines);
	free(reply);
}

void reply_set_reduced(struct reply *reply)
{
	reply->is_reduced = true;
}

bool reply_is_reduced(const struct reply *reply)
{
	return reply->is_reduced;
}

struct bytes reply_bytes(const struct reply *reply)
{
	return bytes_of(reply->data, reply->len);
}

enum source_problem reply_problem(const struct reply *reply)
{
	return reply->problem;
}

enum source_symbols reply_symbols(const struct reply *reply)
{
	return reply->symbols;
}

struct name_sources reply_sources(const struct reply *reply)
{
	return reply->sources;
}

uint32_t reply_function_count(const struct reply *reply)
{
	return reply->function_count;
}

struct reply_function reply_function(const struct reply *reply, uint32_t function)
{
	return reply->functions[function];
}

static struct bytes at_offset(const struct reply *reply, size_t offset)
{
	return bytes_of(reply->data + offset, reply->len - offset);
}

struct bytes reply_string(const struct reply *reply, uint32_t string)
{
	struct bytes from;

	if (!string)
		return bytes_of("", 0);
	from = at_offset(reply, reply->strings[string - 1]);
	return reply_take_string(&from);
}

unsigned reply_lines(const struct reply *reply, size_t address,
		     struct reply_line lines[REPLY_LINES_MAX])
{
	struct bytes from = at_offset(reply, reply->lines[address]);
	unsigned count = (unsigned)bytes_uleb(&from);

	for (unsigned i = 0; i < count; i++) {
		lines[i].function = (uint32_t)bytes_uleb(&from);
		lines[i].line = (uint32_t)bytes_uleb(&from);
	}
	return count;
}

uint64_t reply_into_function(const struct reply *reply, size_t address)
{
	struct bytes from = at_offset(reply, reply->lines[address]);

	return bytes_uleb(&from) ? 0 : bytes_uleb(&from);
}
