/*
 * A file mapped read-only, instead of reading it.
 *
 * The file can be truncated while it is mapped. Touching a page that is gone
 * raises SIGBUS, and the handler of signals_survive_cut_files() then maps zeros
 * from that page to the end of its block. To protect other memory, each mapped
 * file has whole blocks of address space, aligned to their size. The handler
 * replaces the whole rest of a block, because each replaced part costs a
 * mapping of the process, and the kernel allows 65,530 of them
 * (vm.max_map_count). Source: mmap(2), process_vm_readv(2).
 */
#ifndef PROF_BASE_MAPPED_FILE_H
#define PROF_BASE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { MAPPED_FILE_BLOCK_BYTES = 2 << 20 };

/*
 * Returns NULL with errno if the file cannot be mapped. The descriptor can be
 * closed afterwards.
 */
void *mapped_file_new(int fd, size_t size_bytes);
void mapped_file_free(void *data, size_t size_bytes);

/*
 * Copies len mapped bytes, each read once. Returns false if a page of them is
 * gone. If process_vm_readv is not permitted (in a sandbox), such pages read as
 * zeros instead.
 */
bool mapped_file_read(const void *from, size_t len, void *into);

struct mapped_file_part {
	const void *from;
	size_t len;
	void *into;
};

enum { MAPPED_FILE_PARTS_MAX = 4 };

/* Like mapped_file_read(), for a few short parts, in one system call. */
bool mapped_file_read_parts(const struct mapped_file_part *parts, size_t count);

/*
 * Returns whether the bytes, at most two pages of them, are in memory, so that
 * reading them does not wait for the file. For a file that prof may not write
 * to, the kernel always reports that they are. Source: mincore(2).
 */
bool mapped_file_has(const void *data, size_t len);

#endif
