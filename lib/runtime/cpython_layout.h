/*
 * Where CPython keeps what is needed to read its frames.
 *
 * From 3.13 on, the interpreter describes itself: its variable _PyRuntime,
 * which fills the section .PyRuntime, starts with a table of offsets
 * (_Py_DebugOffsets in pycore_debug_offsets.h). 3.11 and 3.12 have no such
 * table. Their offsets are those of pycore_frame.h, pystate.h and code.h, which
 * are the same in all releases of one minor version.
 */
#ifndef PROF_RUNTIME_CPYTHON_LAYOUT_H
#define PROF_RUNTIME_CPYTHON_LAYOUT_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* All members but the first are offsets. A version that lacks one has 0. */
struct cpython_layout {
	uint32_t version;      /* 0x030b: 3.11 */
	uint16_t interpreters; /* in _PyRuntime */
	uint32_t interpreter_next, interpreter_threads;
	uint16_t thread_previous, thread_next, thread_interpreter, thread_id;
	/* The current frame, or up to 3.12 the loop's record that has it. */
	uint16_t thread_frame;
	uint16_t thread_base;			/* since 3.15: the frame that ends the list */
	uint16_t record_frame, record_previous; /* up to 3.12 */
	uint16_t frame_previous, frame_code, frame_instruction, frame_owner;
	uint16_t frame_is_entry; /* 3.11 */
	/* The GIL: in _PyRuntime (3.11), or where the interpreter points to it.
	 * Both are 0 if its layout is unknown. */
	uint16_t runtime_gil;
	uint32_t interpreter_gil;
	uint16_t gil_holder; /* in the GIL */
	uint16_t code_file, code_name, code_lines, code_first_line, code_units;
	/* Up to 3.12: the two summands of the size of a frame in words, of
	 * which 3.12 has only one. */
	uint16_t code_locals, code_stack;
	uint16_t object_type, object_count;
	uint16_t bytes_data;
	uint16_t text_state, text_length, text_ascii, text_compact;
};

enum cpython_reading {
	CPYTHON_READ,
	CPYTHON_TOO_OLD,       /* before 3.11 */
	CPYTHON_TOO_NEW,       /* after 3.15 */
	CPYTHON_FREE_THREADED, /* built without the GIL */
	CPYTHON_DAMAGED,
};

/*
 * Reads the layout from the first bytes of _PyRuntime in the file. `version` is
 * the value of Py_Version (0x030b07f0), or 0 if the file has no such variable;
 * it counts only if _PyRuntime does not describe itself.
 */
enum cpython_reading cpython_layout_read(struct bytes runtime, uint32_t version,
					 struct cpython_layout *ret);

#endif
