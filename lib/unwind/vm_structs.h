/*
 * Finds HotSpot's data structures. libjvm exports tables with the fields and
 * sizes of its own types, for debuggers. Offsets differ between JDK versions
 * and are known only from these tables.
 *
 * All data is read from the memory of the profiled process and is untrusted:
 * the number of entries, the lengths of names and the offsets are bounded.
 *
 * Source: vmStructs.hpp and vmStructs.cpp of OpenJDK 11 to 25.
 */
#ifndef PROF_UNWIND_VM_STRUCTS_H
#define PROF_UNWIND_VM_STRUCTS_H

#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Access to the memory of the process. */
struct vm_memory {
	/*
	 * Copies [address, address + len). Returns false if any byte of it
	 * cannot be read.
	 */
	bool (*read)(const struct vm_memory *memory, uint64_t address, void *into, size_t len);
};

bool vm_read_u64(const struct vm_memory *memory, uint64_t address, uint64_t *ret);
/*
 * Reads a string, truncated to less than `room` bytes. Returns false if nothing
 * can be read.
 */
bool vm_read_string(const struct vm_memory *memory, uint64_t address, char *into, size_t room);

/*
 * Variables that libjvm exports: the addresses of the tables and the layout of
 * their entries.
 */
enum { VM_SYMBOLS = 11 };
struct vm_symbols {
	uint64_t vaddrs[VM_SYMBOLS];
};

/*
 * Returns false if the file does not export them: it is not HotSpot's libjvm,
 * or a very old one.
 */
bool vm_symbols_find(struct elf_file *libjvm, struct vm_symbols *ret);

/* A field. `at` is its offset in its type, or its address if it is static. */
struct vm_field {
	uint64_t at;
	uint8_t bytes; /* size of an integer; 0 for other types */
	bool is_known;
};

/* The fields and sizes that are needed to find code. */
struct vm_layout {
	struct vm_field code_cache_heaps; /* static field */
	struct vm_field array_length, array_data;
	struct vm_field heap_memory, heap_segment_map, heap_segment_log2;
	struct vm_field space_low, space_high;
	struct vm_field block_length, block_used;
	struct vm_field blob_name, blob_size, blob_frame_complete, blob_frame_words;
	/* Depends on the version: one of the two is known. */
	struct vm_field blob_code_begin, blob_code_offset;
	struct vm_field interpreter_code; /* static field */
	struct vm_field queue_buffer, queue_end;
	struct vm_field codelet_size, codelet_description;
	uint64_t block_bytes;
};

/*
 * `bias` is the difference between the process's addresses and the vaddrs.
 * Returns false if a table lacks any of the fields.
 */
bool vm_layout_read(const struct vm_memory *memory, const struct vm_symbols *symbols, uint64_t bias,
		    struct vm_layout *ret);

#endif
