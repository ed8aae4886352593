/*
 * Lists the code of a module of a profile. The file is searched for at its
 * recorded path and below --symfs, --debug-dir and perf's build-id cache. It is
 * read in a confined process.
 */
#ifndef PROF_CMD_ANNOTATE_MODULE_CODE_H
#define PROF_CMD_ANNOTATE_MODULE_CODE_H

#include "cmd/input/input.h"
#include "symbol/code_listing.h"

struct module_code_request {
	const struct profile *profile;
	uint32_t module;
	const uint64_t *vaddrs; /* in ascending order */
	size_t count;
	const struct input_options *input;
	bool intel_syntax;
};

struct module_code {
	char *path; /* of the file */
	struct code_listing *listing;
	uint64_t *vaddrs; /* the addresses of the request */
	size_t count;
};

/*
 * Fails if no file has the module's build-id (or, for a module without one,
 * code at the module's offset), or if the code cannot be listed
 * (symbol/code_lister.h).
 */
MUST_CHECK struct error *module_code_new(const struct module_code_request *request,
					 struct module_code **ret);
void module_code_free(struct module_code *code);
DEFINE_CLEANUP(module_code, module_code_free)

/* Returns true if a new listing for this address would not show more functions. */
bool module_code_covers(const struct module_code *code, uint64_t vaddr);

#endif
