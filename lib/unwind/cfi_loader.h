/*
 * Loads call frame information (CFI) in threads of its own, so that the thread
 * that unwinds stacks never waits for a file, whatever its size, owner or file
 * system.
 *
 * One thread loads the files of root and of prof's user, in the order of the
 * requests. A few more threads load untrusted files (elf_file_is_untrusted()).
 * Each of these handles one request at a time, and each owner has at most one
 * request. So no owner's file delays that of another owner, and the amount of
 * loaded CFI that has not been taken is bounded.
 *
 * A thread that hangs is abandoned, and replaced when another one is needed.
 * All functions must be called by the same thread, the one that unwinds.
 */
#ifndef PROF_UNWIND_CFI_LOADER_H
#define PROF_UNWIND_CFI_LOADER_H

#include "proc/debug_files.h"
#include "unwind/cfi.h"
#include "unwind/functions.h"

enum {
	/*
	 * Untrusted files that are loaded at the same time. Each takes up to 90
	 * MB.
	 */
	CFI_LOADER_UNTRUSTED = 3,
	/*
	 * Hanging threads that may be abandoned and replaced. Nothing more is
	 * loaded for the owners of their files.
	 */
	CFI_LOADER_LEFT_BEHIND = 8,
};

struct cfi_loader;
struct cfi_load; /* a request */

/* Starts no thread; the first request does. */
struct cfi_loader *cfi_loader_new(const struct arch *arch);
/*
 * Frees the requests that were not taken, too. The results of others must have
 * been freed before. A thread that cannot be stopped, because a page of an
 * untrusted file never arrives, is abandoned together with the memory it uses.
 */
void cfi_loader_free(struct cfi_loader *loader);

/*
 * Requests the CFI of an ELF file, including its index. Returns NULL if an
 * earlier request for the owner of this untrusted file has not been taken yet,
 * or if no thread is free. Try again later.
 */
struct cfi_load *cfi_loader_open(struct cfi_loader *loader, const struct elf_file *elf);
/* Requests the index of a trusted file. Takes ownership of `cfi`. */
struct cfi_load *cfi_loader_index(struct cfi_loader *loader, struct cfi *cfi);
/*
 * Requests the CFI of an ELF file's separate debug file, and the functions of
 * the ELF file or of its debug file. Copies `files`. Returns NULL like
 * cfi_loader_open().
 */
struct cfi_load *cfi_loader_open_debug_file(struct cfi_loader *loader, const struct elf_file *elf,
					    const struct debug_files *files);

/* The result of a request. The caller frees all of it, the CFI first. */
struct loaded_cfi {
	struct cfi *cfi;	     /* NULL if there is none or the file has changed */
	struct elf_file *elf;	     /* file that `cfi` reads from, or NULL if it needs none */
	struct functions *functions; /* NULL if there are none */
	uint64_t cpu_ns;	     /* CPU time that loading took */
};

bool cfi_load_is_done(const struct cfi_load *load);
/* Returns false if the request is not done when the time is over. */
bool cfi_load_wait(struct cfi_load *load, uint64_t timeout_ns);
/*
 * Waits until the request is done. Returns false if its thread hangs, which
 * means that it uses no CPU time for 10 s.
 */
bool cfi_load_wait_long(struct cfi_load *load);
/* Returns the result of a request that is done and frees the request. */
struct loaded_cfi cfi_load_take(struct cfi_load *load);

#endif
