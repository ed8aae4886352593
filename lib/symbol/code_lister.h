/*
 * Lists code (symbol/code_listing.h) in a confined process, so that a malicious
 * file causes only an error. The process may use 512 MiB of memory and ten
 * seconds of CPU time. If prof runs as root, the process runs as nobody.
 */
#ifndef PROF_SYMBOL_CODE_LISTER_H
#define PROF_SYMBOL_CODE_LISTER_H

#include "symbol/code_listing.h"

/*
 * Fails like code_listing_write(), and if the process cannot be started, dies,
 * takes too long or sends an invalid listing.
 */
MUST_CHECK struct error *code_lister_run(const struct code_listing_request *request,
					 struct code_listing **ret);

#endif
