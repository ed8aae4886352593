/*
 * CPython 3.11 to 3.15.
 *
 * A thread's frames are a list, innermost first. One call of the loop
 * (_PyEval_EvalFrameDefault) runs several of them, because Python functions
 * call each other without a call in C. Each call of the loop has a record in
 * its C stack frame, which shows where its frames end:
 *
 *  - 3.11: a _PyCFrame. The outermost frame of the call has is_entry.
 *  - 3.12: a _PyCFrame, and a frame that belongs to the interpreter and follows
 *    the outermost frame of the call in the list.
 *  - 3.13 and later: such a frame only. From 3.15 on, the list ends with one in
 *    the state of the thread.
 *
 * Sources: pycore_frame.h, pycore_interpframe_structs.h, ceval.c.
 */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"
#include "elf/classes.h"
#include "runtime/cpython_gil.h"
#include "runtime/cpython_lines.h"
#include "runtime/cpython_text.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

enum {
	VERSION_3_12 = 0x030c,
	SYMBOL_BYTES_MAX = 32 << 20,
	FRAME_BYTES_MAX = 160,
	/* Threads and interpreters that are searched for a thread. */
	THREADS_MAX = 4096,
	/* Frames that are omitted count, too. */
	LINKS_MAX = 2 * SCRIPT_FRAMES_MAX,
	/* A reference to an object has flags in these bits. */
	REFERENCE_BITS = 7,
	/* Values of an owner. */
	OWNED_BY_STACK = 0,
	OWNED_BY_INTERPRETER = 3,
	WORD = 8,
};

/* --- Detection ------------------------------------------------------------ */

/*
 * The loop may be split into a hot and a cold part. If it is split into
 * functions for instructions (_TAIL_CALL_…), they have no record.
 */
static bool is_loop_name(const char *name)
{
	static const char loop[] = "_PyEval_EvalFrameDefault";

	return text_begins(name, loop) &&
	       (!name[sizeof(loop) - 1] || name[sizeof(loop) - 1] == '.');
}

static void note_symbol(struct runtime_image *image, const char *name, uint64_t vaddr,
			const Elf64_Sym *symbol, uint64_t *version)
{
	if (is_loop_name(name))
		runtime_add_loop(image, vaddr, vaddr + symbol->st_size);
	else if (!strcmp(name, "PyCode_Type"))
		image->code_type = vaddr;
	else if (!strcmp(name, "PyUnicode_Type"))
		image->text_type = vaddr;
	else if (!strcmp(name, "PyBytes_Type"))
		image->bytes_type = vaddr;
	else if (!strcmp(name, "Py_Version"))
		*version = vaddr;
}

static void read_symbols(struct elf_file *elf, const char *symbols_name, const char *strings_name,
			 struct runtime_image *image, uint64_t *version)
{
	CLEANUP(free_ptr) void *symbols_memory = NULL;
	CLEANUP(free_ptr) void *strings_memory = NULL;
	struct elf_section symbols, strings;
	struct bytes at;
	Elf64_Sym symbol;

	if (!elf_file_copy_section(elf, symbols_name, SYMBOL_BYTES_MAX, &symbols,
				   &symbols_memory) ||
	    !elf_file_copy_section(elf, strings_name, SYMBOL_BYTES_MAX, &strings, &strings_memory))
		return;
	at = symbols.data;
	while (elf_take_symbol(&at, false, &symbol)) {
		struct bytes name = bytes_at(strings.data, symbol.st_name);

		if (symbol.st_shndx == SHN_UNDEF || !bytes_left(&name) ||
		    !memchr(name.at, 0, bytes_left(&name)))
			continue;
		note_symbol(image, (const char *)name.at, elf_file_symbol_vaddr(elf, &symbol),
			    &symbol, version);
	}
}

static const char *refusal_of(enum cpython_reading reading, const struct runtime_image *image)
{
	switch (reading) {
	case CPYTHON_READ:
		break;
	case CPYTHON_TOO_OLD:
		return "it is older than Python 3.11";
	case CPYTHON_TOO_NEW:
		return "it is newer than Python 3.15";
	case CPYTHON_FREE_THREADED:
		return "it is a free-threaded build";
	case CPYTHON_DAMAGED:
		return "its .PyRuntime section is damaged";
	}
	if (!image->loop_count || !image->code_type || !image->text_type || !image->bytes_type)
		return "its file has no symbols";
	return NULL;
}

static bool cpython_detect(struct elf_file *elf, struct runtime_image *ret)
{
	struct runtime_image image = {.runtime = &cpython_runtime};
	struct elf_section state;
	uint64_t version_at = 0;
	uint32_t version = 0;
	size_t index = 0;
	struct bytes at;

	if (elf_file_is_32(elf) || elf_file_machine(elf) != EM_X86_64 ||
	    !elf_file_has_section(elf, ".PyRuntime") ||
	    !elf_file_next_section(elf, ".PyRuntime", &index, &state))
		return false;
	read_symbols(elf, ".dynsym", ".dynstr", &image, &version_at);
	read_symbols(elf, ".symtab", ".strtab", &image, &version_at);
	if (version_at) {
		at = elf_file_loaded(elf, version_at);
		version = bytes_u32(&at);
	}
	image.state = state.vaddr;
	at = elf_file_loaded(elf, image.state);
	image.refusal = refusal_of(cpython_layout_read(at, version, &image.layout), &image);
	*ret = image;
	return true;
}

/* --- Threads -------------------------------------------------------------- */

/*
 * Whether the state belongs to the thread and is in the list of its
 * interpreter. The memory of an ended thread's state can still look valid.
 */
static bool is_thread(const struct cpython_layout *layout, struct script_reader *reader,
		      uint64_t state, pid_t own_tid)
{
	uint64_t id, previous, interpreter, listed;

	if (!state || !script_read_u64(reader, state + layout->thread_id, &id) ||
	    id != (uint64_t)own_tid ||
	    !script_read_u64(reader, state + layout->thread_previous, &previous) ||
	    !script_read_u64(reader, state + layout->thread_interpreter, &interpreter))
		return false;
	return script_read_u64(reader,
			       previous ? previous + layout->thread_next
					: interpreter + layout->interpreter_threads,
			       &listed) &&
	       listed == state;
}

static bool find_thread(const struct runtime_process *process, struct script_reader *reader,
			pid_t own_tid, uint64_t *ret)
{
	const struct cpython_layout *layout = &process->image.layout;
	uint64_t at = process->image.state + process->bias + layout->interpreters, interpreter;
	unsigned left = THREADS_MAX;

	for (; script_read_u64(reader, at, &interpreter) && interpreter;
	     at = interpreter + layout->interpreter_next) {
		uint64_t thread_at = interpreter + layout->interpreter_threads, state;

		while (left && script_read_u64(reader, thread_at, &state) && state) {
			if (is_thread(layout, reader, state, own_tid)) {
				*ret = state;
				return true;
			}
			thread_at = state + layout->thread_next;
			left--;
		}
		if (!left || !--left)
			break;
	}
	return false;
}

/* --- Frames --------------------------------------------------------------- */

struct cpython_frame {
	uint64_t at, previous, code, instruction;
	uint8_t owner;
	bool is_entry;
};

static bool read_frame(const struct cpython_layout *layout, struct script_reader *reader,
		       uint64_t at, struct cpython_frame *ret)
{
	unsigned char bytes[FRAME_BYTES_MAX];
	uint8_t is_entry = 0;

	if (at % WORD || !script_read(reader, at, bytes, layout->frame_owner + 1U))
		return false;
	ret->at = at;
	memcpy(&ret->previous, bytes + layout->frame_previous, WORD);
	memcpy(&ret->code, bytes + layout->frame_code, WORD);
	memcpy(&ret->instruction, bytes + layout->frame_instruction, WORD);
	memcpy(&ret->owner, bytes + layout->frame_owner, 1);
	if (layout->frame_is_entry)
		memcpy(&is_entry, bytes + layout->frame_is_entry, 1);
	ret->code &= ~(uint64_t)REFERENCE_BITS;
	ret->is_entry = is_entry;
	return true;
}

static bool add_frame(const struct cpython_layout *layout, struct script_walk *walk,
		      const struct cpython_frame *frame)
{
	const int64_t bytes = (int64_t)(frame->instruction - frame->code - layout->code_units);
	const struct script_raw_frame raw = {
		.frame = {.unit = bytes >= 0 && bytes / 2 < INT32_MAX ? (int32_t)(bytes / 2) : -1},
		.at = frame->at,
		.is_stacked = frame->owner == OWNED_BY_STACK,
	};

	return script_walk_add_frame(walk, &raw, frame->code);
}

/* Up to 3.12: goes on to the record of the outer call of the loop, which must
 * have the frame that is next in the list. */
static bool leave_record(const struct cpython_layout *layout, struct script_reader *reader,
			 uint64_t previous_frame, uint64_t *record)
{
	uint64_t outer;

	return script_read_u64(reader, *record + layout->record_previous, record) && *record &&
	       script_read_u64(reader, *record + layout->record_frame, &outer) &&
	       outer == previous_frame;
}

/* Adds the boundary of a call of the loop. *record is that of this call. */
static bool add_entry(const struct cpython_layout *layout, struct script_walk *walk,
		      const struct cpython_frame *frame, uint64_t *record)
{
	struct script_frame entry = {
		.is_entry = true,
		.at = frame->at,
		.word_at = frame->at + layout->frame_previous,
		.word = frame->previous,
	};

	if (layout->version <= VERSION_3_12) {
		entry.word_at = *record + layout->record_frame;
		if (layout->version < VERSION_3_12)
			entry.at = *record;
		if (!script_read_u64(&walk->reader, entry.word_at, &entry.word) ||
		    !leave_record(layout, &walk->reader, frame->previous, record))
			return false;
	}
	return script_walk_add_entry(walk, &entry);
}

/* Adds one frame, or the boundary that follows it or that it is. */
static bool take_frame(const struct cpython_layout *layout, struct script_walk *walk,
		       const struct cpython_frame *frame, uint64_t *record)
{
	if (layout->version >= VERSION_3_12) {
		if (frame->owner == OWNED_BY_INTERPRETER)
			return add_entry(layout, walk, frame, record);
		return frame->owner > OWNED_BY_INTERPRETER || add_frame(layout, walk, frame);
	}
	return add_frame(layout, walk, frame) &&
	       (frame->is_entry ? add_entry(layout, walk, frame, record) : frame->previous != 0);
}

static enum runtime_reading cpython_walk(const struct runtime_process *process, pid_t own_tid,
					 uint64_t *state, struct script_walk *walk)
{
	const struct cpython_layout *layout = &process->image.layout;
	struct script_reader *reader = &walk->reader;
	struct cpython_frame frame;
	uint64_t at, record = 0, base = 0;
	unsigned left = LINKS_MAX;

	if (!is_thread(layout, reader, *state, own_tid) &&
	    !find_thread(process, reader, own_tid, state))
		return RUNTIME_NO_THREAD;
	if (!script_read_u64(reader, *state + layout->thread_frame, &at))
		return RUNTIME_INCONSISTENT;
	if (layout->version <= VERSION_3_12) {
		record = at;
		if (!script_read_u64(reader, record + layout->record_frame, &at))
			return RUNTIME_INCONSISTENT;
	}
	if (layout->thread_base && !script_read_u64(reader, *state + layout->thread_base, &base))
		return RUNTIME_INCONSISTENT;
	for (; at && at != base; at = frame.previous) {
		if (!left-- || !read_frame(layout, reader, at, &frame) ||
		    !take_frame(layout, walk, &frame, &record))
			return RUNTIME_INCONSISTENT;
	}
	/* The outermost frame is that of a call of the loop. */
	return !walk->count || walk->frames[walk->count - 1].frame.is_entry ? RUNTIME_READ
									    : RUNTIME_INCONSISTENT;
}

/* --- Code objects --------------------------------------------------------- */

enum {
	HEADS = 3, /* of name, file and lines */
	FILE_HEAD = 1,
	CODE_BYTES = 256,
	HEAD_BYTES = 192,
	CODES_AT_ONCE = 32,
	PAGE = 4096,
};

struct code_heads {
	struct memory_part parts[CODES_AT_ONCE * HEADS];
	unsigned char code[CODES_AT_ONCE][CODE_BYTES];
	unsigned char heads[CODES_AT_ONCE][HEADS][HEAD_BYTES];
};
_Static_assert(sizeof(struct code_heads) <= SCRIPT_SCRATCH_BYTES,
	       "the scratch memory is too small");

static uint64_t code_word(const unsigned char *code, unsigned offset)
{
	uint64_t word = 0;

	if (offset <= CODE_BYTES - sizeof(word))
		memcpy(&word, code + offset, sizeof(word));
	return word;
}

static uint32_t code_number(const unsigned char *code, unsigned offset)
{
	return (uint32_t)code_word(code, offset);
}

/* Up to 3.12. 3.11 has the two summands, 3.12 the sum. */
static uint32_t frame_bytes_of(const struct cpython_layout *layout, const unsigned char *code)
{
	enum { OWN_WORDS = 9, WORDS_MAX = 1 << 24 };
	uint32_t words = layout->code_stack ? code_number(code, layout->code_stack) : 0;

	if (layout->code_locals)
		words += code_number(code, layout->code_locals) + OWN_WORDS;
	return words < WORDS_MAX ? words * WORD : 0;
}

/*
 * Reads the start of each code object. Since 3.12 it has a number that no other
 * code of the process ever has, between the first line and the lines.
 */
static bool identify_codes(const struct runtime_process *process, struct script_reader *reader,
			   struct script_code *codes, unsigned count, struct code_heads *heads)
{
	const struct cpython_layout *layout = &process->image.layout;

	for (unsigned i = 0; i < count; i++)
		heads->parts[i] = (struct memory_part){.address = codes[i].address,
						       .into = heads->code[i],
						       .len = layout->code_units};
	reader->memory->read_parts(reader->tid, heads->parts, count);
	for (unsigned i = 0; i < count; i++) {
		const unsigned char *code = heads->code[i];

		if (!heads->parts[i].is_read || code_word(code, layout->object_type) !=
							process->image.code_type + process->bias)
			return false;
		codes[i].file = code_word(code, layout->code_file);
		codes[i].name = code_word(code, layout->code_name);
		codes[i].lines = code_word(code, layout->code_lines);
		codes[i].first_line = code_number(code, layout->code_first_line);
		codes[i].frame_bytes = frame_bytes_of(layout, code);
		codes[i].key = hash_bytes_wide(code + layout->code_first_line,
					       layout->code_lines - layout->code_first_line + WORD);
	}
	return true;
}

/* Returns the size of a string or of a table of lines. */
static uint64_t object_bytes(const struct cpython_layout *layout, const unsigned char *head,
			     bool is_text)
{
	enum { ASCII = 1 << 6, KIND_SHIFT = 2, KIND_MASK = 7, COUNT_MAX = 1 << 30 };
	uint64_t state, count;

	if (!is_text) {
		memcpy(&count, head + layout->object_count, sizeof(count));
		return count + layout->bytes_data;
	}
	memcpy(&state, head + layout->text_state, sizeof(state));
	memcpy(&count, head + layout->text_length, sizeof(count));
	if (count > COUNT_MAX)
		count = COUNT_MAX;
	return (state & ASCII ? layout->text_ascii : layout->text_compact) +
	       count * (state >> KIND_SHIFT & KIND_MASK);
}

/*
 * Adds the contents of names and tables to the keys: in 3.11, an interpreter
 * that compiles again and again reuses their addresses. The first word of an
 * object counts its references.
 */
static bool identify_heads(const struct cpython_layout *layout, struct script_reader *reader,
			   struct script_code *codes, unsigned count, struct code_heads *heads)
{
	for (unsigned i = 0; i < count; i++) {
		const uint64_t at[HEADS] = {codes[i].name, codes[i].file, codes[i].lines};

		for (unsigned j = 0; j < HEADS; j++) {
			size_t in_page = PAGE - at[j] % PAGE;
			bool is_known = j == FILE_HEAD && i && at[j] == codes[i - 1].file;

			heads->parts[i * HEADS + j] =
				(struct memory_part){.address = at[j],
						     .into = heads->heads[i][j],
						     .len = is_known		   ? 0
							    : in_page < HEAD_BYTES ? in_page
										   : HEAD_BYTES};
		}
	}
	reader->memory->read_parts(reader->tid, heads->parts, (size_t)count * HEADS);
	for (unsigned i = 0; i < count * HEADS; i++) {
		struct memory_part *part = &heads->parts[i];
		uint64_t *key = &codes[i / HEADS].key;
		uint64_t bytes;

		if (!part->is_read)
			return false;
		if (!part->len)
			*part = heads->parts[i - HEADS];
		bytes = object_bytes(layout, part->into, i % HEADS != HEADS - 1);
		if (bytes > part->len)
			bytes = part->len;
		*key = hash_mix(*key, hash_bytes_wide((unsigned char *)part->into + WORD,
						      bytes < WORD ? 0 : bytes - WORD));
	}
	return true;
}

/*
 * Up to 3.12, the record of a call that has just started contains what the
 * stack contained before. Frames that are really on the thread's stack of frames
 * follow each other without a gap, except at the start of a piece of it.
 */
static bool are_adjacent(const struct script_walk *walk)
{
	enum { FIRST_IN_PIECE = 24 };
	const struct script_raw_frame *inner = NULL;

	for (unsigned i = 0; i < walk->count; i++) {
		const struct script_raw_frame *frame = &walk->frames[i];

		if (frame->frame.is_entry || !frame->is_stacked)
			continue;
		if (inner && inner->at % PAGE != FIRST_IN_PIECE &&
		    inner->at % PAGE != FIRST_IN_PIECE + WORD &&
		    frame->at + walk->codes[frame->code].frame_bytes != inner->at)
			return false;
		inner = frame;
	}
	return true;
}

static bool cpython_identify(const struct runtime_process *process, struct script_walk *walk,
			     unsigned first)
{
	const struct cpython_layout *layout = &process->image.layout;
	struct code_heads *heads = (struct code_heads *)walk->scratch;

	for (unsigned i = first; i < walk->code_count; i += CODES_AT_ONCE) {
		unsigned left = walk->code_count - i;
		unsigned count = left < CODES_AT_ONCE ? left : CODES_AT_ONCE;

		if (!identify_codes(process, &walk->reader, walk->codes + i, count, heads) ||
		    (layout->version < VERSION_3_12 &&
		     !identify_heads(layout, &walk->reader, walk->codes + i, count, heads)))
			return false;
	}
	return layout->version > VERSION_3_12 || are_adjacent(walk);
}

static uint32_t line_of(const struct script_text *text, int32_t unit)
{
	if (unit < 0)
		return text->first_line;
	return cpython_line(bytes_of(text->lines, text->line_bytes), text->first_line,
			    (uint32_t)unit);
}

const struct script_runtime cpython_runtime = {
	.name = "Python",
	.detect = cpython_detect,
	.walk = cpython_walk,
	.identify = cpython_identify,
	.find_holder = cpython_find_holder,
	.read_text = cpython_text_read,
	.line = line_of,
};
