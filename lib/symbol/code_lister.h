/*
 * Lists code (symbol/code_listing.h) in a confined process, so that a file that does harm gives an
 * error. The process may take 512 MiB of memory and ten seconds of CPU time; if prof is root, it
 * becomes nobody.
 */
#ifndef PROF_SYMBOL_CODE_LISTER_H
#define PROF_SYMBOL_CODE_LISTER_H

#include "symbol/code_listing.h"

/*
 * Fails as code_listing_write() does, or if the process cannot be started, dies, takes too long or
 * sends nonsense.
 */
MUST_CHECK struct error *code_lister_run(const struct code_listing_request *request,
					 struct code_listing **ret);

#endif
