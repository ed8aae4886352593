/*
 * The code of a module of a profile, listed. Its file is found where it was recorded, or where
 * --symfs, --debug-dir and perf's build-id cache keep files, and is read in a confined process.
 */
#ifndef PROF_CMD_MODULE_CODE_H
#define PROF_CMD_MODULE_CODE_H

#include "cmd/input.h"
#include "symbol/code_listing.h"

struct module_code_request {
	const struct profile *profile;
	uint32_t module;
	const uint64_t *vaddrs; /* ascending */
	size_t count;
	const struct input_options *input;
	bool intel_syntax;
};

struct module_code {
	char *path; /* of the file */
	struct code_listing *listing;
	uint64_t *vaddrs; /* of the request */
	size_t count;
};

/*
 * Fails if no file has the module's build-id or, if the profile knows none, code at the module's
 * offset, or if its code cannot be listed (symbol/code_lister.h).
 */
MUST_CHECK struct error *module_code_new(const struct module_code_request *request,
					 struct module_code **ret);
void module_code_free(struct module_code *code);
DEFINE_CLEANUP(module_code, module_code_free)

/* Whether another listing for this address would show no more functions. */
bool module_code_covers(const struct module_code *code, uint64_t vaddr);

#endif
