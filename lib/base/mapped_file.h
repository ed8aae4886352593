/*
 * A file mapped read-only, in place of reading it.
 *
 * The file can be truncated while it is mapped: touching a page that is gone raises SIGBUS, and the
 * handler of signals_survive_cut_files() then puts zeros from that page to the end of its block.
 * So that it never hits other memory, each mapped file has whole blocks of address space for
 * itself, aligned to their size. A whole block at once, because each hole that is filled costs a
 * mapping of the process, of which the kernel allows 65,530 (vm.max_map_count). Source: mmap(2),
 * process_vm_readv(2).
 */
#ifndef PROF_BASE_MAPPED_FILE_H
#define PROF_BASE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { MAPPED_FILE_BLOCK_BYTES = 2 << 20 };

/* NULL, with errno, if the file cannot be mapped. The descriptor can be closed afterwards. */
void *mapped_file_new(int fd, size_t size_bytes);
void mapped_file_free(void *data, size_t size_bytes);

/*
 * Copies len mapped bytes, each read once. False if a page of them is gone. Where process_vm_readv
 * is not permitted (a sandbox), such pages read as zeros instead.
 */
bool mapped_file_read(const void *from, size_t len, void *into);

struct mapped_file_part {
	const void *from;
	size_t len;
	void *into;
};

enum { MAPPED_FILE_PARTS_MAX = 4 };

/* The same for a few short parts, in one system call. */
bool mapped_file_read_parts(const struct mapped_file_part *parts, size_t count);

/*
 * Whether the bytes, at most two pages of them, are in memory: reading them does not wait for the
 * file. For a file that prof may not write to, the kernel says so always. Source: mincore(2).
 */
bool mapped_file_has(const void *data, size_t len);

#endif
