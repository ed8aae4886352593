/*
 * The bytes of an ELF file: mapped whole, or on the heap. Several ELF files can share them.
 *
 * Every range is checked. The owner of a mapped file may write to it while it is read: what must
 * not change between two reads is copied first, and each byte of a copy is read once.
 */
#ifndef PROF_ELF_ELF_BYTES_H
#define PROF_ELF_ELF_BYTES_H

#include "base/bytes.h"
#include "base/error.h"
#include "elf/file_origin.h"

#include <stdatomic.h>

struct elf_bytes {
	unsigned char *data;
	size_t size_bytes;
	bool is_mapped;	    /* else data is on the heap */
	atomic_uint *users; /* of data; private */
	struct file_origin origin;
};

/* Borrows fd. `name` is for messages. Fails if it is not a regular file with bytes in it. */
MUST_CHECK struct error *elf_bytes_map(int fd, const char *name, struct elf_bytes *ret);
/* Takes data, which is on the heap. */
struct elf_bytes elf_bytes_of_heap(void *data, size_t len, struct file_origin origin);
/* The same bytes for another ELF file. Either may be deinitialized first. */
struct elf_bytes elf_bytes_share(const struct elf_bytes *bytes);
void elf_bytes_deinit(struct elf_bytes *bytes);

struct bytes elf_bytes_all(const struct elf_bytes *bytes);
/* Failed, too, if it has more bytes than the file has data: it is a hole, or the file lies. */
struct bytes elf_bytes_part(const struct elf_bytes *bytes, uint64_t offset, uint64_t len);
/* False if the file no longer has the part. Parts elsewhere in memory are copied as well. */
bool elf_bytes_copy(const struct elf_bytes *bytes, struct bytes part, void *into);
/*
 * The part itself; of a foreign file a private copy, in *copy, which the caller frees: the
 * libraries that decompress are not made for input that changes while they read it. NULL if it
 * cannot be had.
 */
const unsigned char *elf_bytes_steady(const struct elf_bytes *bytes, struct bytes part,
				      void **copy);
/* Drops the pages of a part of a mapped file. */
void elf_bytes_release(const struct elf_bytes *bytes, struct bytes part);

enum { ELF_FIRST_BYTES = 4096 };

/*
 * Private copies of parts of the file: what is checked is what is used. Zero-initialized but for
 * `from`, or by elf_copies_init(), which copies the start of the file, where most headers are.
 */
struct elf_copies {
	const struct elf_bytes *from;
	unsigned char first[ELF_FIRST_BYTES];
	size_t first_bytes;
	void *other; /* the last part elsewhere; private */
};

void elf_copies_init(struct elf_copies *copies, const struct elf_bytes *from);
void elf_copies_deinit(struct elf_copies *copies);
/* Valid until the next one. Empty and failed if it cannot be read. */
struct bytes elf_copies_take(struct elf_copies *copies, uint64_t offset, uint64_t len);
/*
 * The same for a table of headers. *count: of them; becomes the number of those that lie in the
 * file, and take no more than max_bytes.
 */
struct bytes elf_copies_take_table(struct elf_copies *copies, uint64_t offset, size_t *count,
				   size_t entry_bytes, size_t max_bytes);

#endif
