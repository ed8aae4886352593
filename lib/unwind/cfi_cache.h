/*
 * The call frame information of the modules in stacks: loaded at a module's first frame, its
 * separate debug file's when an address has no rule in its own.
 *
 * What takes longer than a lookup is left to the threads of cfi_loader.h. Stacks of a recorded file
 * wait for them, so that the result is always the same. Live, the rings must be read, so a stack
 * waits up to 20 ms for a module, and all stacks of a second 100 ms; until the CFI is there the
 * module has none.
 *
 * Memory is bounded: of the private copies of foreign files 96 MB are kept, the owner with most of
 * them loses that which was used least recently, and gets it again at the next lookup; no owner
 * gets any when loading his files has taken 10 s of CPU time.
 */
#ifndef PROF_UNWIND_CFI_CACHE_H
#define PROF_UNWIND_CFI_CACHE_H

#include "proc/address_spaces.h"
#include "unwind/cfi.h"
#include "unwind/functions.h"

struct cfi_cache;

/* spaces must outlive it. */
struct cfi_cache *cfi_cache_new(struct address_spaces *spaces, const struct arch *arch,
				bool is_live);
void cfi_cache_free(struct cfi_cache *cache);

/* What is known of a module's CFI. Valid until the next call of cfi_cache_get(). */
struct module_cfi {
	const struct cfi *own;		   /* NULL: there is none */
	const struct cfi *debug;	   /* of the separate debug file; NULL: there is none */
	const struct functions *functions; /* asked for with `debug`; NULL: there are none */
};

/* NULL if the module has no file, or its CFI is not there (yet). */
const struct module_cfi *cfi_cache_get(struct cfi_cache *cache, module_id id);
/* The same, but changes nothing. NULL if cfi_cache_get() has not found it before. */
const struct module_cfi *cfi_cache_known(const struct cfi_cache *cache, module_id id);
/*
 * Asks for the CFI of the module's debug file, of which there is none yet, and its functions. True
 * if that is final: it is there now, or there is none. The module has CFI.
 */
bool cfi_cache_ask_debug_file(struct cfi_cache *cache, module_id id);

/* Notes that a lookup used the module's CFI. */
void cfi_cache_touch(struct cfi_cache *cache, module_id id);

#endif
