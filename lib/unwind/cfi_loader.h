/*
 * Loads call frame information in threads of its own, so that whoever walks stacks does not wait
 * for a file, whatever its size, its owner and its file system.
 *
 * There is a thread for the files of root and of prof's user, which loads them in the order of the
 * requests, and a few for foreign ones (elf_file_is_foreign()), each of which has one request at a
 * time, and each owner one of them. So nobody's file waits for that of another owner, and what has
 * been loaded and not been taken yet is bounded. A thread that stands still is replaced when
 * another one is wanted, and left behind. All functions are for one thread, the one that walks.
 */
#ifndef PROF_UNWIND_CFI_LOADER_H
#define PROF_UNWIND_CFI_LOADER_H

#include "proc/debug_files.h"
#include "unwind/cfi.h"
#include "unwind/functions.h"

enum {
	/* Foreign files at once: each takes up to 90 MB. */
	CFI_LOADER_FOREIGN = 3,
	/* Threads that stood still and were replaced. Their owners get nothing loaded any more. */
	CFI_LOADER_LEFT_BEHIND = 8,
};

struct cfi_loader;
struct cfi_load; /* a request */

/* Threads start with the first request. */
struct cfi_loader *cfi_loader_new(const struct arch *arch);
/*
 * Frees its requests, too; what they gave must have been freed. A thread that does not end, because
 * a page of a foreign file never comes, is left behind with what it uses.
 */
void cfi_loader_free(struct cfi_loader *loader);

/*
 * Requests the CFI of an ELF file, and its index. NULL: a request for the owner of this foreign
 * file has not been taken yet, or no thread is free. Try again later.
 */
struct cfi_load *cfi_loader_open(struct cfi_loader *loader, const struct elf_file *elf);
/* Requests the index of a file that is no foreign one. Takes cfi. */
struct cfi_load *cfi_loader_index(struct cfi_loader *loader, struct cfi *cfi);
/*
 * Requests the CFI of the separate debug file of an ELF file, and the functions of the ELF file or
 * of its debug file. Copies files. NULL: as above.
 */
struct cfi_load *cfi_loader_open_debug_file(struct cfi_loader *loader, const struct elf_file *elf,
					    const struct debug_files *files);

/* What a request gave. The caller frees all of it, the CFI first. */
struct loaded_cfi {
	struct cfi *cfi;      /* NULL: there is none, or the file has changed */
	struct elf_file *elf; /* what it reads from; NULL: nothing that the caller must keep */
	struct functions *functions; /* NULL: there are none */
	uint64_t cpu_ns;	     /* what it took */
};

bool cfi_load_is_done(const struct cfi_load *load);
/* Waits for this time. False if it is not done then. */
bool cfi_load_wait(struct cfi_load *load, uint64_t timeout_ns);
/* Waits until it is done. False if its thread stands still: it uses no CPU time for 10 s. */
bool cfi_load_wait_long(struct cfi_load *load);
/* Ends a request that is done. */
struct loaded_cfi cfi_load_take(struct cfi_load *load);

#endif
