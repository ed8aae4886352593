/*
 * Caches the call frame information (CFI) of modules that occur in stacks.
 *
 * A module's CFI is loaded when its first frame is unwound. The CFI of its
 * separate debug file is loaded when the module's own CFI has no rule for an
 * address.
 *
 * Threads of cfi_loader.h do the slow work. When prof reads a recorded file,
 * each stack waits for them, so that the result is reproducible. In a live
 * recording the rings must be drained: a stack waits at most 20 ms for a
 * module, and all stacks together at most 100 ms per second. Until its CFI is
 * loaded, the module is unwound without CFI.
 *
 * Memory is bounded. The cache keeps 96 MB of private copies of untrusted
 * files. Beyond that, the owner with the most memory loses its least recently
 * used copy, which the next lookup loads again. An owner whose files have taken
 * 10 s of CPU time to load gets no more CFI.
 */
#ifndef PROF_UNWIND_CFI_CACHE_H
#define PROF_UNWIND_CFI_CACHE_H

#include "proc/address_spaces.h"
#include "unwind/cfi.h"
#include "unwind/functions.h"

struct cfi_cache;

/* `spaces` must outlive the cache. */
struct cfi_cache *cfi_cache_new(struct address_spaces *spaces, const struct arch *arch,
				bool is_live);
void cfi_cache_free(struct cfi_cache *cache);

/* The CFI of a module. Valid until the next call of cfi_cache_get(). */
struct module_cfi {
	const struct cfi *own;	 /* NULL if the file has none */
	const struct cfi *debug; /* CFI of the separate debug file, or NULL */
	/* Loaded together with `debug`; NULL if there are none. */
	const struct functions *functions;
};

/* Returns NULL if the module has no file or its CFI is not loaded (yet). */
const struct module_cfi *cfi_cache_get(struct cfi_cache *cache, module_id id);
/*
 * Like cfi_cache_get(), but never loads anything. Returns NULL if
 * cfi_cache_get() has not found the CFI before.
 */
const struct module_cfi *cfi_cache_known(const struct cfi_cache *cache, module_id id);
/*
 * Requests the CFI of the module's debug file, and its functions. The module
 * must have CFI of its own and must not have that of its debug file yet.
 * Returns true if the answer is final: it is loaded, or the module has no debug
 * file.
 */
bool cfi_cache_ask_debug_file(struct cfi_cache *cache, module_id id);

/* Records that a lookup used the module's CFI. */
void cfi_cache_touch(struct cfi_cache *cache, module_id id);

#endif
