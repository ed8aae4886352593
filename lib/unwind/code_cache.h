/*
 * Reads HotSpot's code cache in the memory of a process: finds the code blob
 * that contains a pc, and the size of its frames.
 *
 * The code cache consists of heaps, and each heap of segments. A map with one
 * byte per segment leads from a segment back to the block that it belongs to,
 * so a lookup needs only a few small reads. The virtual machine frees and
 * reuses blobs while prof reads, so a result is valid for the moment only. As
 * in vm_structs.h, all values are bounded and checked.
 *
 * Source: heap.hpp, codeBlob.hpp, stubs.hpp and interpreter.hpp of OpenJDK 11
 * to 25.
 */
#ifndef PROF_UNWIND_CODE_CACHE_H
#define PROF_UNWIND_CODE_CACHE_H

#include "base/bytes.h"
#include "unwind/vm_structs.h"

enum { CODE_HEAPS_MAX = 8 };

struct code_heap {
	uint64_t low, high; /* address range of the blocks */
	uint64_t map;	    /* address of the map with one byte per segment */
	unsigned segment_log2;
};

struct code_heaps {
	struct code_heap heaps[CODE_HEAPS_MAX];
	unsigned count;
};

/* Returns false if the heaps cannot be read (any more). */
bool code_heaps_read(const struct vm_memory *memory, const struct vm_layout *layout,
		     struct code_heaps *ret);
/* Returns NULL if no heap contains the pc. */
const struct code_heap *code_heaps_find(const struct code_heaps *heaps, uint64_t pc);

enum code_kind {
	CODE_METHOD,	  /* compiled method: frames of a fixed size */
	CODE_RUNTIME,	  /* routine of the virtual machine: frames of a fixed size */
	CODE_INTERPRETER, /* frames with a frame pointer */
	/*
	 * Moves arguments between interpreted and compiled code. It has no
	 * frame.
	 */
	CODE_ADAPTER,
	CODE_FRAMELESS, /* only a return address on the stack */
	CODE_STUBS,	/* hand-written routines; most keep a frame pointer */
};

struct code_blob {
	uint64_t start, end;  /* range of its code */
	uint64_t complete;    /* pcs below it are in the prologue; 0 if unknown */
	uint64_t block;	      /* address of the block header */
	uint64_t name;	      /* address of its name */
	uint32_t frame_bytes; /* size including the return address; 0 if it varies */
	enum code_kind kind;
};

/* Returns false if no blob that is in use contains the pc. */
bool code_blob_find(const struct vm_memory *memory, const struct vm_layout *layout,
		    const struct code_heap *heap, uint64_t pc, struct code_blob *ret);
/*
 * Number of bytes to read at a blob's block to check that the blob still
 * exists.
 */
enum { CODE_HEADER_BYTES_MAX = 512 };
size_t code_header_bytes(const struct vm_layout *layout);
bool code_blob_is_valid(const struct vm_layout *layout, const struct code_heap *heap,
			const struct code_blob *blob, struct bytes header);

/* An interpreter entry point, through which methods are called. */
struct method_entry {
	uint64_t start, end;
	/*
	 * Address of the instruction that pushes the frame pointer, or 0 if the
	 * entry creates no frame.
	 */
	uint64_t makes_frame;
};

enum { METHOD_ENTRIES_MAX = 64 };

struct method_entries {
	struct method_entry at[METHOD_ENTRIES_MAX];
	unsigned count;
};

void method_entries_read(const struct vm_memory *memory, const struct vm_layout *layout,
			 struct method_entries *ret);
/* Returns NULL if no entry contains the pc. */
const struct method_entry *method_entries_find(const struct method_entries *entries, uint64_t pc);

#endif
