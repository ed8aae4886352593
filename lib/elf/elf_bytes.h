/*
 * The bytes of an ELF file, which are mapped as a whole or on the heap. Several
 * ELF files can share them.
 *
 * Every range is checked. The owner of a mapped file may write to it at any
 * time. So data that must not change between two reads is copied first, and
 * each byte is read only once for the copy.
 */
#ifndef PROF_ELF_ELF_BYTES_H
#define PROF_ELF_ELF_BYTES_H

#include "base/bytes.h"
#include "base/error.h"
#include "elf/file_origin.h"
#include "elf/file_version.h"

#include <stdatomic.h>

struct elf_bytes {
	unsigned char *data;
	size_t size_bytes;
	bool is_mapped;	    /* false if `data` is on the heap */
	atomic_uint *users; /* reference count of `data`; private */
	struct file_origin origin;
	struct file_version version; /* zero on the heap */
};

/*
 * Maps a file. Borrows fd. `name` is for messages. Fails if it is not a regular
 * file or is empty.
 */
MUST_CHECK struct error *elf_bytes_map(int fd, const char *name, struct elf_bytes *ret);
/* Takes ownership of `data`, which is on the heap. */
struct elf_bytes elf_bytes_of_heap(void *data, size_t len, struct file_origin origin);
/*
 * Returns the same bytes for another ELF file. Either may be deinitialized
 * first.
 */
struct elf_bytes elf_bytes_share(const struct elf_bytes *bytes);
void elf_bytes_deinit(struct elf_bytes *bytes);

struct bytes elf_bytes_all(const struct elf_bytes *bytes);
/*
 * Returns a part of the file. The cursor is failed if the part is out of bounds
 * or larger than the data in the file: it would contain a hole, or the file's
 * size is fake.
 */
struct bytes elf_bytes_part(const struct elf_bytes *bytes, uint64_t offset, uint64_t len);
/*
 * Copies a part. Returns false if the file no longer contains it. The part can
 * be memory that is not in the file.
 */
bool elf_bytes_copy(const struct elf_bytes *bytes, struct bytes part, void *into);
/*
 * Returns data that does not change while it is read, for decompression
 * libraries. For a trusted file this is the part itself. For an untrusted file
 * it is a private copy, which is stored in *copy and freed by the caller.
 * Returns NULL if the part cannot be read.
 */
const unsigned char *elf_bytes_steady(const struct elf_bytes *bytes, struct bytes part,
				      void **copy);
/* Drops the pages of a part of a mapped file. */
void elf_bytes_release(const struct elf_bytes *bytes, struct bytes part);

enum { ELF_FIRST_BYTES = 4096 };

/*
 * Private copies of parts of the file, so that the data that is checked is the
 * data that is used. Initialize it with zeros except for `from`, or with
 * elf_copies_init(), which copies the start of the file, where most headers
 * are.
 */
struct elf_copies {
	const struct elf_bytes *from;
	unsigned char first[ELF_FIRST_BYTES];
	size_t first_bytes;
	void *other; /* the last part that is not in `first`; private */
};

void elf_copies_init(struct elf_copies *copies, const struct elf_bytes *from);
void elf_copies_deinit(struct elf_copies *copies);
/*
 * Returns a copy of a part, valid until the next call. The cursor is empty and
 * failed if the part cannot be read.
 */
struct bytes elf_copies_take(struct elf_copies *copies, uint64_t offset, uint64_t len);
/*
 * Like elf_copies_take(), for a table of headers. *count is the number of
 * entries; it is reduced to those that are in the file and fit into max_bytes.
 */
struct bytes elf_copies_take_table(struct elf_copies *copies, uint64_t offset, size_t *count,
				   size_t entry_bytes, size_t max_bytes);

#endif
