#include "dwarf/line.h"

#include "base/alloc.h"
#include "base/search.h"
#include "dwarf/parts.h"
#include "dwarf/ranges.h"

#include <dwarf.h>
#include <stdlib.h>

struct line_file {
	struct bytes name;  /* `at` is NULL if unknown */
	uint64_t directory; /* number of the directory */
	const char *path;   /* NULL if not built yet */
};

/*
 * Longer paths are dropped, so that they cannot exhaust memory. No file system
 * allows them.
 */
enum { MAX_PATH_BYTES = 1 << 16 };

struct dwarf_lines {
	const struct dwarf_view *view;
	struct dwarf_encoding encoding; /* encoding of the table */
	uint8_t min_instruction_bytes;
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	const uint8_t *operand_counts; /* operand count of opcode N at index N - 1 */
	struct bytes table, program;
	struct bytes *directories; /* like `name` */
	size_t directory_count, directory_room;
	struct line_file *files;
	size_t file_count, file_room;
	bool are_unread;
};

static void dwarf_line_add_directory(struct dwarf_lines *lines, struct bytes name)
{
	GROW(lines->directories, lines->directory_count, lines->directory_room);
	lines->directories[lines->directory_count++] = name;
}

static void dwarf_line_add_file(struct dwarf_lines *lines, struct bytes name, uint64_t directory)
{
	GROW(lines->files, lines->file_count, lines->file_room);
	lines->files[lines->file_count++] = (struct line_file){name, directory, NULL};
}

/*
 * Reads the tables up to DWARF 4: strings, terminated by an empty one. Numbers
 * start at 1; 0 is the unit's own directory and file.
 */
static void read_old_tables(struct dwarf_lines *lines, struct bytes *at)
{
	const struct dwarf_root *root = &lines->view->root;
	struct bytes name;

	dwarf_line_add_directory(lines, dwarf_string(lines->view, &root->directory));
	while (name = bytes_text(at), bytes_left(&name))
		dwarf_line_add_directory(lines, name);
	dwarf_line_add_file(lines, (struct bytes){0}, 0);
	while (name = bytes_text(at), bytes_left(&name)) {
		uint64_t directory = bytes_uleb(at);

		bytes_uleb(at); /* time */
		bytes_uleb(at); /* size */
		dwarf_line_add_file(lines, name, directory);
	}
}

/*
 * The format of a table's entries: at most 255 pairs of content type and form.
 */
struct entry_format {
	struct {
		uint16_t content, form;
	} parts[UINT8_MAX];
	unsigned count;
};

static void dwarf_line_read_format(struct bytes *at, struct entry_format *format)
{
	format->count = bytes_u8(at);
	for (unsigned i = 0; i < format->count; i++) {
		uint64_t content = bytes_uleb(at);
		uint64_t form = bytes_uleb(at);

		format->parts[i].content = content <= UINT16_MAX ? (uint16_t)content : 0;
		format->parts[i].form = form <= UINT16_MAX ? (uint16_t)form : 0;
	}
}

/*
 * Returns false if the table is malformed. Entries of 0 bytes are malformed,
 * too, because any number of them would fit.
 */
static bool dwarf_line_read_entry(struct dwarf_lines *lines, const struct entry_format *format,
				  struct bytes *at, struct bytes *name, uint64_t *directory)
{
	const unsigned char *start = at->at;

	*name = (struct bytes){0};
	*directory = 0;
	for (unsigned i = 0; i < format->count; i++) {
		struct dwarf_value value = {0};

		dwarf_value_read(at, format->parts[i].form, 0, lines->encoding, &value);
		if (format->parts[i].content == DW_LNCT_path)
			*name = dwarf_string(lines->view, &value);
		else if (format->parts[i].content == DW_LNCT_directory_index)
			*directory = value.number;
	}
	return bytes_ok(at) && at->at > start;
}

static void dwarf_line_read_tables(struct dwarf_lines *lines, struct bytes *at)
{
	struct entry_format format;
	uint64_t directory, count;
	struct bytes name;

	dwarf_line_read_format(at, &format);
	for (count = bytes_uleb(at); count; count--) {
		if (!dwarf_line_read_entry(lines, &format, at, &name, &directory))
			return;
		dwarf_line_add_directory(lines, name);
	}
	dwarf_line_read_format(at, &format);
	for (count = bytes_uleb(at); count; count--) {
		if (!dwarf_line_read_entry(lines, &format, at, &name, &directory))
			return;
		dwarf_line_add_file(lines, name, directory);
	}
}

/*
 * Reads the start of the header up to its length. *header is the rest of the
 * header. Returns false if the table is not supported.
 */
static bool read_start(struct dwarf_lines *lines, struct bytes at, struct bytes *header)
{
	uint64_t length = dwarf_initial_length(&at, &lines->encoding.offset_bytes);
	struct bytes table = bytes_sub(&at, length);
	uint16_t version = bytes_u16(&table);

	if (version < 2 || version > 5)
		return false;
	lines->table = table;
	lines->encoding.version = (uint8_t)version;
	lines->encoding.address_bytes = lines->view->unit->encoding.address_bytes;
	if (version >= 5) {
		lines->encoding.address_bytes = bytes_u8(&table);
		bytes_u8(&table); /* segment selector size */
	}
	length = bytes_uint(&table, lines->encoding.offset_bytes);
	*header = bytes_sub(&table, length);
	lines->program = table;
	return bytes_ok(header);
}

static bool read_opcodes(struct dwarf_lines *lines, struct bytes *header)
{
	lines->min_instruction_bytes = bytes_u8(header);
	if (lines->encoding.version >= 4)
		/*
		 * Operations per instruction, more than 1 only on VLIW
		 * machines.
		 */
		bytes_u8(header);
	bytes_u8(header); /* default_is_stmt */
	lines->line_base = (int8_t)bytes_u8(header);
	lines->line_range = bytes_u8(header);
	lines->opcode_base = bytes_u8(header);
	if (!lines->opcode_base)
		return false;
	lines->operand_counts = bytes_take(header, lines->opcode_base - 1U);
	return bytes_ok(header);
}

/*
 * Reads the header. The program stays empty if data that it needs cannot be
 * read.
 */
static void dwarf_line_read_lines(struct dwarf_lines *lines, struct bytes at,
				  uint64_t max_header_bytes)
{
	struct bytes header;

	if (!read_start(lines, at, &header) || bytes_left(&header) > max_header_bytes ||
	    !read_opcodes(lines, &header)) {
		lines->program = (struct bytes){0};
		lines->are_unread = true;
		return;
	}
	if (lines->encoding.version >= 5)
		dwarf_line_read_tables(lines, &header);
	else
		read_old_tables(lines, &header);
}

struct dwarf_lines *dwarf_lines_new(const struct dwarf_view *view, uint64_t max_header_bytes)
{
	struct dwarf_lines *lines = xcalloc(1, sizeof(*lines));
	const struct dwarf_value *place = &view->root.lines;

	lines->view = view;
	if (place->form)
		dwarf_line_read_lines(
			lines, dwarf_section_at(&view->file->sections, DWARF_LINE, place->number),
			max_header_bytes);
	return lines;
}

uint64_t dwarf_lines_header_bytes(const struct dwarf_lines *lines)
{
	return bytes_left(&lines->table) - bytes_left(&lines->program);
}

struct bytes dwarf_lines_bytes(const struct dwarf_lines *lines)
{
	return lines->table;
}

bool dwarf_lines_are_unread(const struct dwarf_lines *lines)
{
	return lines->are_unread;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	free(lines->directories);
	free(lines->files);
	free(lines);
}

/* The parts of a path: directories, outermost first, then the file name. */
struct path {
	struct bytes parts[3];
	unsigned count;
};

/*
 * Adds a part. A relative part is relative to the part before it; an absolute
 * one replaces it.
 */
static void dwarf_line_add_part(struct path *path, struct bytes part)
{
	if (bytes_left(&part) && *part.at == '/')
		path->count = 0;
	if (bytes_left(&part))
		path->parts[path->count++] = part;
}

static const char *dwarf_line_join(const struct path *path, struct arena *arena)
{
	size_t len = path->count;
	char *ret, *end;

	for (unsigned i = 0; i < path->count; i++)
		len += bytes_left(&path->parts[i]);
	if (!path->count || len > MAX_PATH_BYTES)
		return NULL;
	ret = end = arena_alloc(arena, len);
	for (unsigned i = 0; i < path->count; i++) {
		end = bytes_append(end, path->parts[i]);
		if (end[-1] != '/')
			*end++ = '/';
	}
	end[-1] = '\0';
	return ret;
}

static const char *make_path(const struct dwarf_lines *lines, const struct line_file *file,
			     struct arena *arena)
{
	struct bytes directory = {0};
	struct path path = {.count = 0};

	if (file->directory < lines->directory_count)
		directory = lines->directories[file->directory];
	if (file->directory != 0 || !directory.at) /* directory 0 is the unit's directory */
		dwarf_line_add_part(&path, dwarf_string(lines->view, &lines->view->root.directory));
	dwarf_line_add_part(&path, directory);
	dwarf_line_add_part(&path, file->name);
	return dwarf_line_join(&path, arena);
}

const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t number, struct arena *arena)
{
	struct line_file *file;

	if (number >= lines->file_count)
		return NULL;
	file = &lines->files[number];
	if (!file->path && file->name.at)
		file->path = make_path(lines, file, arena);
	return file->path;
}

/* The advance of a special opcode in address and line (DWARF 5, 6.2.5.1). */
struct special {
	uint32_t address, line;
};

/*
 * The registers of the line program (DWARF 5, 6.2.2) as far as needed, and the
 * addresses to find.
 */
struct line_run {
	const struct dwarf_lines *lines;
	struct bytes at;
	struct special specials[UINT8_MAX + 1];
	uint64_t address, file;
	uint32_t line;
	bool is_gone; /* the sequence belongs to discarded code */

	/* Filled with the sequences; NULL if not needed. */
	struct dwarf_range_index *making;
	/* The part of the current sequence read so far. */
	struct dwarf_range_entry sequence;

	bool has_row; /* the sequence has a row; it extends to the next row */
	uint64_t row_address;
	struct dwarf_place row;

	const uint64_t *vaddrs;
	size_t count;
	size_t next;	 /* index of the first address that is not before the row */
	uint64_t wanted; /* the address at index `next`, if there is a row */
	struct dwarf_place *found;

	/* NULL to find addresses only. */
	void (*each)(void *user, uint64_t vaddr, const struct dwarf_place *place);
	void *user;
};

static void begin_sequence(struct line_run *run)
{
	run->sequence = (struct dwarf_range_entry){
		.low = UINT64_MAX, .offset = (uint64_t)(run->at.at - run->lines->program.at)};
	run->address = 0;
	run->file = 1;
	run->line = 1;
	run->is_gone = true; /* until an address is set */
	run->has_row = false;
}

static void end_sequence(struct line_run *run)
{
	const struct dwarf_range_entry *sequence = &run->sequence;

	if (run->making && sequence->low < sequence->high)
		dwarf_range_index_add(run->making, sequence->low, sequence->high, sequence->offset);
}

static void reach(struct dwarf_range_entry *sequence, uint64_t address)
{
	if (address < sequence->low)
		sequence->low = address;
	if (address > sequence->high)
		sequence->high = address;
}

/* Ends the previous row at this address. */
static void end_row(struct line_run *run)
{
	if (!run->has_row)
		return;
	reach(&run->sequence, run->address);
	for (; run->next < run->count && run->vaddrs[run->next] < run->address; run->next++)
		run->found[run->next] = run->row;
}

static void begin_row(struct line_run *run)
{
	run->has_row = true;
	run->row_address = run->address;
	run->row = (struct dwarf_place){true, run->line, run->file};
}

static void add_any_row(struct line_run *run)
{
	bool goes_on = run->has_row && run->address >= run->row_address;

	if (run->is_gone)
		return;
	end_row(run);
	if (!goes_on)
		run->next = search_first(run->vaddrs, run->count, run->address);
	run->wanted = run->next < run->count ? run->vaddrs[run->next] : UINT64_MAX;
	reach(&run->sequence, run->address);
	begin_row(run);
	if (run->each)
		run->each(run->user, run->address, &run->row);
}

/*
 * Adds a row. The common case is fast: the row ends before the next address to
 * find, and there is no callback.
 */
static inline void dwarf_line_add_row(struct line_run *run)
{
	if (run->has_row && run->address >= run->row_address && run->address <= run->wanted &&
	    !run->making && !run->each)
		begin_row(run);
	else
		add_any_row(run);
}

static void dwarf_line_advance(struct line_run *run, uint64_t operations)
{
	run->address += operations * run->lines->min_instruction_bytes;
}

/* Computes the advance of each special opcode once, instead of once per row. */
static void prepare_specials(struct line_run *run)
{
	const struct dwarf_lines *lines = run->lines;
	unsigned range = lines->line_range ? lines->line_range : 1;

	for (unsigned opcode = lines->opcode_base; opcode <= UINT8_MAX; opcode++) {
		unsigned over = lines->line_range ? opcode - lines->opcode_base : 0;

		run->specials[opcode] = (struct special){
			.address = over / range * lines->min_instruction_bytes,
			.line = (uint32_t)lines->line_base + over % range,
		};
	}
}

static void run_special(struct line_run *run, unsigned opcode)
{
	run->address += run->specials[opcode].address;
	run->line += run->specials[opcode].line;
	dwarf_line_add_row(run);
}

/* Returns false at the end of the sequence. */
static bool run_extended(struct line_run *run)
{
	uint64_t length = bytes_uleb(&run->at);
	struct bytes operand = bytes_sub(&run->at, length);

	switch (bytes_u8(&operand)) {
	case DW_LNE_end_sequence:
		end_row(run);
		return false;
	case DW_LNE_set_address:
		run->address = bytes_uint(&operand, (unsigned)bytes_left(&operand));
		run->is_gone = dwarf_is_tombstone(run->address);
		run->has_row &= !run->is_gone;
		break;
	default: /* discriminators and vendor extensions */
		break;
	}
	return true;
}

static void skip_operands(struct line_run *run, unsigned opcode)
{
	for (unsigned i = run->lines->operand_counts[opcode - 1]; i; i--)
		bytes_uleb(&run->at);
}

static void run_standard(struct line_run *run, unsigned opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		dwarf_line_add_row(run);
		break;
	case DW_LNS_advance_pc:
		dwarf_line_advance(run, bytes_uleb(&run->at));
		break;
	case DW_LNS_advance_line:
		run->line += (uint32_t)bytes_sleb(&run->at);
		break;
	case DW_LNS_set_file:
		run->file = bytes_uleb(&run->at);
		break;
	case DW_LNS_const_add_pc:
		run->address += run->specials[UINT8_MAX].address;
		break;
	case DW_LNS_fixed_advance_pc:
		run->address += bytes_u16(&run->at);
		break;
	default:
		skip_operands(run, opcode);
	}
}

static void run_sequence(struct line_run *run)
{
	bool goes_on = true;

	begin_sequence(run);
	while (goes_on && bytes_left(&run->at)) {
		unsigned opcode = bytes_u8(&run->at);

		if (opcode >= run->lines->opcode_base)
			run_special(run, opcode);
		else if (opcode == 0)
			goes_on = run_extended(run);
		else
			run_standard(run, opcode);
	}
	end_sequence(run);
}

static void run_indexed(struct line_run *run, const struct dwarf_range_index *parts)
{
	const struct dwarf_range_entry *part;
	size_t next = 0;

	while ((part = dwarf_range_index_next(parts, &next, 0, run->vaddrs, run->count))) {
		run->at = bytes_at(run->lines->program, part->offset);
		run_sequence(run);
	}
}

/* Bounds the memory, because each part needs memory for all addresses. */
enum { PARTS_MAX = 8 };

struct dwarf_line_finder {
	const struct dwarf_lines *lines;
	struct dwarf_range_index *index;
	const uint64_t *vaddrs;
	size_t count;
	struct dwarf_parts parts;	      /* sequences, by offset in the program */
	struct dwarf_place *found[PARTS_MAX]; /* by part */
};

/*
 * Guesses the start of the next sequence after this offset: it follows bytes
 * that look like the end of a sequence.
 */
static uint64_t guess_sequence(const void *user, uint64_t offset)
{
	const struct dwarf_lines *lines = user;
	static const unsigned char end[] = {0, 1, DW_LNE_end_sequence};
	struct bytes at = bytes_at(lines->program, offset);
	const unsigned char *found = bytes_left(&at)
					     ? memmem(at.at, bytes_left(&at), end, sizeof(end))
					     : NULL;

	return found ? (uint64_t)(found + sizeof(end) - lines->program.at) : UINT64_MAX;
}

static void dwarf_line_divide(struct dwarf_line_finder *finder, uint64_t part_bytes)
{
	if (finder->index && finder->index->are_made)
		part_bytes = UINT64_MAX;
	dwarf_parts_divide(&finder->parts, 0, bytes_left(&finder->lines->program), part_bytes,
			   PARTS_MAX, guess_sequence, finder->lines);
}

struct dwarf_line_finder *dwarf_line_finder_new(const struct dwarf_lines *lines,
						struct dwarf_range_index *index,
						const uint64_t *vaddrs, size_t count,
						uint64_t part_bytes)
{
	struct dwarf_line_finder *finder = xcalloc(1, sizeof(*finder));

	*finder = (struct dwarf_line_finder){
		.lines = lines, .index = index, .vaddrs = vaddrs, .count = count};
	dwarf_line_divide(finder, part_bytes);
	return finder;
}

size_t dwarf_line_finder_parts(const struct dwarf_line_finder *finder)
{
	return finder->parts.count;
}

/*
 * Runs sequences up to the end, or to the start of part `next` or a later part.
 */
static uint64_t run_sequences(struct line_run *run, const struct dwarf_line_finder *finder,
			      size_t next)
{
	while (bytes_left(&run->at)) {
		uint64_t offset = (uint64_t)(run->at.at - run->lines->program.at);

		if (dwarf_parts_begin(&finder->parts, &next, offset))
			return offset;
		run_sequence(run);
	}
	return UINT64_MAX;
}

void dwarf_line_finder_run(struct dwarf_line_finder *finder, size_t number)
{
	struct dwarf_part *part = &finder->parts.items[number];
	const bool is_made = finder->index && finder->index->are_made;
	struct line_run run = {
		.lines = finder->lines,
		.at = bytes_at(finder->lines->program, part->first),
		.vaddrs = finder->vaddrs,
		.count = finder->count,
		.found = finder->found[number] = xcalloc(finder->count, sizeof(struct dwarf_place)),
		.making = finder->index && !is_made ? &part->making : NULL,
	};

	if (finder->lines->opcode_base)
		prepare_specials(&run);
	part->end = UINT64_MAX;
	if (is_made)
		run_indexed(&run, finder->index);
	else
		part->end = run_sequences(&run, finder, number + 1);
}

static void dwarf_line_take_known(const struct dwarf_place *found, size_t count,
				  struct dwarf_place *ret)
{
	for (size_t i = 0; i < count; i++)
		if (found[i].is_known)
			ret[i] = found[i];
}

void dwarf_line_finder_finish(struct dwarf_line_finder *finder, struct dwarf_place *ret)
{
	uint64_t end = 0;

	memset(ret, 0, finder->count * sizeof(*ret));
	for (size_t i = 0; i < finder->parts.count; i++) {
		if (dwarf_parts_join(&finder->parts.items[i], &end, finder->index))
			dwarf_line_take_known(finder->found[i], finder->count, ret);
		free(finder->found[i]);
	}
	if (finder->index)
		finder->index->are_made = true;
	free(finder);
}

void dwarf_lines_each(const struct dwarf_lines *lines,
		      void (*row)(void *user, uint64_t vaddr, const struct dwarf_place *place),
		      void *user)
{
	struct line_run run = {.lines = lines, .at = lines->program, .each = row, .user = user};

	if (lines->opcode_base)
		prepare_specials(&run);
	while (bytes_left(&run.at))
		run_sequence(&run);
}
