/*
 * HotSpot's code cache in the memory of a process: which code blob holds a pc, and how large its
 * frames are.
 *
 * The code cache consists of heaps. A heap is divided into segments; a map with a byte per segment
 * leads from any of them back to the block it belongs to. So a pc is looked up with a few small
 * reads. Blobs are freed and others made in their place while one looks: what is found is true for
 * the moment only. Everything read is bounded and checked, as in vm_structs.h. Source: heap.hpp,
 * codeBlob.hpp, stubs.hpp and interpreter.hpp of OpenJDK 11 to 25.
 */
#ifndef PROF_UNWIND_CODE_CACHE_H
#define PROF_UNWIND_CODE_CACHE_H

#include "base/bytes.h"
#include "unwind/vm_structs.h"

enum { CODE_HEAPS_MAX = 8 };

struct code_heap {
	uint64_t low, high; /* blocks */
	uint64_t map;	    /* a byte per segment */
	unsigned segment_log2;
};

struct code_heaps {
	struct code_heap heaps[CODE_HEAPS_MAX];
	unsigned count;
};

/* False if they cannot be read (any more). */
bool code_heaps_read(const struct vm_memory *memory, const struct vm_layout *layout,
		     struct code_heaps *ret);
/* NULL: the pc is in none of them. */
const struct code_heap *code_heaps_find(const struct code_heaps *heaps, uint64_t pc);

enum code_kind {
	CODE_METHOD,	  /* a compiled method: frames of a fixed size */
	CODE_RUNTIME,	  /* a routine of the virtual machine with frames of a fixed size */
	CODE_INTERPRETER, /* frames with a frame pointer */
	CODE_ADAPTER,	  /* between interpreted and compiled code: moves arguments, has no frame */
	CODE_FRAMELESS,	  /* only a return address on the stack */
	CODE_STUBS,	  /* hand-written routines; most keep a frame pointer */
};

struct code_blob {
	uint64_t start, end;  /* of its code */
	uint64_t complete;    /* pcs below it are in the prologue; 0: not known */
	uint64_t block;	      /* address of the header */
	uint64_t name;	      /* address of its name */
	uint32_t frame_bytes; /* with the return address; 0: no fixed size */
	enum code_kind kind;
};

/* False if no blob that is in use holds the pc. */
bool code_blob_find(const struct vm_memory *memory, const struct vm_layout *layout,
		    const struct code_heap *heap, uint64_t pc, struct code_blob *ret);
/* What is read at its block to see whether a blob is still there. */
enum { CODE_HEADER_BYTES_MAX = 512 };
size_t code_header_bytes(const struct vm_layout *layout);
bool code_blob_is_valid(const struct vm_layout *layout, const struct code_heap *heap,
			const struct code_blob *blob, struct bytes header);

/* An entry of the interpreter, through which methods are called. */
struct method_entry {
	uint64_t start, end;
	uint64_t makes_frame; /* the instruction that pushes the frame pointer; 0: it makes none */
};

enum { METHOD_ENTRIES_MAX = 64 };

struct method_entries {
	struct method_entry at[METHOD_ENTRIES_MAX];
	unsigned count;
};

void method_entries_read(const struct vm_memory *memory, const struct vm_layout *layout,
			 struct method_entries *ret);
/* NULL: the pc is in none. */
const struct method_entry *method_entries_find(const struct method_entries *entries, uint64_t pc);

#endif
