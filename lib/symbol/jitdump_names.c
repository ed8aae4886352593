#include "symbol/jitdump_names.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "proc/jitdump.h"
#include "proc/jitdump_format.h"

#include <stdlib.h>
#include <string.h>

/*
 * Initial read size of a record: everything in a load record except its code.
 */
enum { JITDUMP_NAMES_HEAD_BYTES = 16 << 10 };

/*
 * Limit for the debug information of one function. A line takes at least 20
 * bytes.
 */
enum { LINES_BYTES_MAX = 4 << 20 };

/* Limit for all returned names and paths. Later functions get none. */
enum { TEXT_BYTES_MAX = 64 << 20 };

/* The state of one pass over the file. */
struct jitdump_names_scan {
	FILE *file;
	unsigned char *head; /* of the record at `position` */
	uint64_t position;
	bool is_v8;
	uint64_t debug_at;  /* position of the last debug information */
	size_t debug_bytes; /* its size, or 0 if there is none */
	struct arena *arena;
	size_t text_bytes;
};

/* A line of debug information. It applies from its address on. */
struct jitdump_names_entry {
	uint64_t address;
	uint32_t index; /* number among the function's lines */
	uint32_t line;
	struct bytes file;
};

static struct bytes jitdump_names_read_head(struct jitdump_names_scan *scan)
{
	if (fseeko(scan->file, (off_t)scan->position, SEEK_SET) < 0)
		return (struct bytes){0};
	return bytes_of(scan->head, fread(scan->head, 1, JITDUMP_NAMES_HEAD_BYTES, scan->file));
}

static bool jitdump_names_begin(struct jitdump_names_scan *scan)
{
	struct jitdump_header header;

	if (!jitdump_read_header(jitdump_names_read_head(scan), &header))
		return false;
	scan->position = header.size_bytes;
	scan->is_v8 = header.is_v8;
	return true;
}

static const char *keep_text(struct jitdump_names_scan *scan, struct bytes text)
{
	size_t len = bytes_left(&text);

	if (scan->text_bytes + len >= TEXT_BYTES_MAX)
		return NULL;
	scan->text_bytes += len + 1;
	return arena_strndup(scan->arena, (const char *)text.at, len);
}

/*
 * Reads the next load record. Returns false at the end. *record_at is the start
 * of the record.
 */
static bool next_load(struct jitdump_names_scan *scan, struct jitdump_load *ret,
		      uint64_t *record_at)
{
	struct jitdump_record record;

	scan->debug_bytes = 0;
	while (scan->position < JITDUMP_BYTES_MAX) {
		struct bytes head = jitdump_names_read_head(scan);

		*record_at = scan->position;
		if (!jitdump_read_record(head, &record) || record.kind == JITDUMP_CLOSE)
			return false;
		scan->position += record.size_bytes;
		if (record.kind == JITDUMP_LOAD && jitdump_read_load(head, ret))
			return true;
		if (record.kind == JITDUMP_DEBUG_INFO) {
			scan->debug_at = *record_at;
			scan->debug_bytes = record.size_bytes;
		}
	}
	return false;
}

/* --- Lines ---------------------------------------------------------------- */

static int by_address(const void *left, const void *right)
{
	const struct jitdump_names_entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Reads a line. The bytes "\xff" stand for the path of the previous line. */
static bool jitdump_names_read_entry(struct bytes *from, const struct jitdump_names_entry *before,
				     struct jitdump_names_entry *ret)
{
	ret->address = bytes_u64(from);
	ret->line = bytes_u32(from);
	bytes_skip(from, 4); /* discriminator; V8's column */
	ret->file = bytes_text(from);
	if (before && bytes_are(ret->file, "\xff"))
		ret->file = before->file;
	return bytes_ok(from) && ret->file.at;
}

static bool is_path(struct bytes text)
{
	return bytes_begin(text, "/") || bytes_begin(text, "node:") || bytes_begin(text, "file:");
}

/* Returns the path in a name like "JS:*f /srv/app.js:12:3". */
static struct bytes path_in_name(struct bytes name)
{
	const unsigned char *space = memchr(name.at, ' ', bytes_left(&name));

	if (!space)
		return (struct bytes){0};
	name.at = space + 1;
	for (unsigned numbers = 0; numbers < 2; numbers++) {
		while (bytes_left(&name) && name.end[-1] >= '0' && name.end[-1] <= '9')
			name.end--;
		if (!bytes_left(&name) || *--name.end != ':')
			return (struct bytes){0};
	}
	return name;
}

/*
 * Replaces invalid paths by the path in the function's name. V8 writes the path
 * of a line from freed memory if other functions were compiled at the same
 * time. The path of a V8 module is a URL, whose scheme is removed.
 */
static struct bytes path_of_v8(struct bytes path, const struct jitdump_load *load)
{
	static const char scheme[] = "file://";

	if (!is_path(path))
		path = path_in_name(load->name);
	if (!is_path(path))
		return (struct bytes){0};
	if (bytes_begin(path, scheme))
		bytes_skip(&path, sizeof(scheme) - 1);
	return path;
}

/* Reads the lines of the load's function. The caller frees the result. */
static struct jitdump_names_entry *jitdump_names_read_entries(const struct jitdump_names_scan *scan,
							      struct bytes from,
							      const struct jitdump_load *load,
							      size_t *ret_count)
{
	const uint64_t shift = scan->is_v8 ? 64 : 0;
	struct jitdump_names_entry *entries = NULL, entry;
	size_t count = 0, room = 0;
	uint64_t left;

	bytes_skip(&from, JITDUMP_RECORD_BYTES);
	if (bytes_u64(&from) != load->address)
		return NULL;
	for (left = bytes_u64(&from);
	     left && jitdump_names_read_entry(&from, count ? &entries[count - 1] : NULL, &entry);
	     left--) {
		entry.address -= shift;
		entry.index = (uint32_t)count;
		GROW(entries, count, room);
		entries[count++] = entry;
	}
	for (size_t i = 0; scan->is_v8 && i < count; i++)
		entries[i].file = path_of_v8(entries[i].file, load);
	if (count)
		qsort(entries, count, sizeof(*entries), by_address);
	*ret_count = count;
	return entries;
}

static const struct jitdump_names_entry *
jitdump_names_entry_of(const struct jitdump_names_entry *entries, size_t count, uint64_t pc)
{
	size_t after = SEARCH_AFTER(entries, count, address, pc);

	return after ? &entries[after - 1] : NULL;
}

/* The offsets in one function. */
struct jitdump_names_piece {
	const struct jitdump_load *load;
	uint64_t code_at; /* offset of the code in the file */
	const uint64_t *offsets;
	size_t count;
};

static void give_lines(struct jitdump_names_scan *scan, const struct jitdump_names_piece *piece,
		       struct listed_line *lines)
{
	CLEANUP(free_ptr) unsigned char *bytes = NULL;
	CLEANUP(free_ptr) struct jitdump_names_entry *entries = NULL;
	const struct jitdump_names_entry *last = NULL;
	const char *file = NULL;
	size_t count = 0, len;

	if (!scan->debug_bytes || scan->debug_bytes > LINES_BYTES_MAX ||
	    fseeko(scan->file, (off_t)scan->debug_at, SEEK_SET) < 0)
		return;
	bytes = xmalloc(scan->debug_bytes);
	len = fread(bytes, 1, scan->debug_bytes, scan->file);
	entries = jitdump_names_read_entries(scan, bytes_of(bytes, len), piece->load, &count);
	for (size_t i = 0; i < piece->count; i++) {
		uint64_t pc = piece->load->address + (piece->offsets[i] - piece->code_at);
		const struct jitdump_names_entry *entry = jitdump_names_entry_of(entries, count,
										 pc);

		if (!entry || !bytes_left(&entry->file))
			continue;
		if (!last || last->file.at != entry->file.at)
			file = keep_text(scan, entry->file);
		lines[i] = (struct listed_line){.file = file, .line = entry->line};
		last = entry;
	}
}

/* --- Names ---------------------------------------------------------------- */

static void scan_deinit(struct jitdump_names_scan *scan)
{
	free(scan->head);
}

bool jitdump_names_is(FILE *file)
{
	CLEANUP(scan_deinit)
	struct jitdump_names_scan scan = {.file = file, .head = xmalloc(JITDUMP_NAMES_HEAD_BYTES)};
	bool is_jitdump = jitdump_names_begin(&scan);

	rewind(file);
	return is_jitdump;
}

/*
 * Returns the number of offsets, starting with `first`, that are below `end`.
 */
static size_t count_before(const uint64_t *offsets, size_t count, size_t first, uint64_t end)
{
	size_t next = first;

	while (next < count && offsets[next] < end)
		next++;
	return next - first;
}

bool jitdump_names_find(FILE *file, const uint64_t *offsets, size_t count, struct arena *arena,
			const char **names, struct listed_line *lines)
{
	CLEANUP(scan_deinit)
	struct jitdump_names_scan scan = {
		.file = file, .head = xmalloc(JITDUMP_NAMES_HEAD_BYTES), .arena = arena};
	struct jitdump_load load;
	uint64_t at;
	size_t next = 0;

	memset(names, 0, count * sizeof(*names));
	memset(lines, 0, count * sizeof(*lines));
	if (!jitdump_names_begin(&scan))
		return true;
	while (next < count && next_load(&scan, &load, &at)) {
		struct jitdump_names_piece piece = {.load = &load, .code_at = at + load.code_at};
		const char *name;

		next += count_before(offsets, count, next, piece.code_at);
		piece.offsets = offsets + next;
		piece.count = count_before(offsets, count, next, piece.code_at + load.size_bytes);
		if (!piece.count)
			continue;
		name = keep_text(&scan, load.name);
		for (size_t i = 0; i < piece.count; i++)
			names[next + i] = name;
		give_lines(&scan, &piece, lines + next);
		next += piece.count;
	}
	return scan.position < JITDUMP_BYTES_MAX;
}

size_t jitdump_functions_find(FILE *file, const uint64_t *offsets, size_t count,
			      struct arena *arena, struct jitdump_function **ret)
{
	CLEANUP(scan_deinit)
	struct jitdump_names_scan scan = {
		.file = file, .head = xmalloc(JITDUMP_NAMES_HEAD_BYTES), .arena = arena};
	size_t next = 0, found = 0, room = 0;
	struct jitdump_load load;
	uint64_t at;

	*ret = NULL;
	if (!jitdump_names_begin(&scan))
		return 0;
	while (next < count && next_load(&scan, &load, &at)) {
		uint64_t start = at + load.code_at, end = start + load.size_bytes;
		size_t inside;

		next += count_before(offsets, count, next, start);
		inside = count_before(offsets, count, next, end);
		next += inside;
		if (!inside)
			continue;
		GROW(*ret, found, room);
		(*ret)[found++] = (struct jitdump_function){
			.start = start, .end = end, .name = keep_text(&scan, load.name)};
	}
	return found;
}
