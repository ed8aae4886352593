/*
 * The addresses of one module that have to be symbolized, and the answer.
 *
 * symbol_requests.h collects the addresses, symbol_request_files.h finds the
 * file that a worker reads, and the replies provide names and lines for frames
 * of the profile.
 */
#ifndef PROF_SYMBOL_SYMBOL_REQUEST_H
#define PROF_SYMBOL_SYMBOL_REQUEST_H

#include "proc/debug_files.h"
#include "proc/kernel_image.h"
#include "profile/profile.h"
#include "symbol/fetched_files.h"
#include "symbol/reply.h"
#include "symbol/worker_pools.h"

#include <stdio.h>

struct symbol_request {
	uint32_t module;
	uint64_t *addresses; /* ascending, without duplicates */
	size_t count, room;
	size_t frames; /* number of frames; two frames can have one address */

	/* The request to the workers. Set by symbol_request_files_prepare(). */
	bool has_request; /* false if there is no file to read */
	struct worker_pools_request request;
	struct debug_files debug_files;
	struct fetched_opener opener; /* searches debug_files and fetched files */
	FILE *map;		      /* perf-PID.map or jitdump of JIT code */
	/* The kernel whose lines are looked up, or NULL. */
	const struct kernel_image *kernel;

	/* The answer. */
	struct reply *reply; /* NULL if there is none yet */
	char *problem;	     /* why there is no reply */
	char *loss;	     /* how its worker failed */
	char *refused;	     /* how the worker that read a fetched debug file failed */

	/* Results in the profile. */
	size_t unnamed, lineless; /* numbers of frames */
	/* The profile's function for each function of the reply. Private. */
	function_id *functions;
	uint32_t *name_aliases; /* aliases in the reply; private */
};

void symbol_request_deinit(struct symbol_request *request);

/*
 * Takes ownership of the reply. The reply for a kernel's file is joined with
 * the names from the running kernel.
 */
void symbol_request_take_reply(struct symbol_request *request, struct reply *reply);
/*
 * Like symbol_request_take_reply(), for the result of an engine in this
 * process.
 */
void symbol_request_take_result(struct symbol_request *request, const struct engine_result *result);

/* How completely an address is symbolized. */
enum named { UNNAMED, NAMED, NAMED_WITH_LINE };

enum named symbol_request_named(const struct symbol_request *request, uint32_t address);

/* Call once before the first symbol_request_give(), when the reply is final. */
void symbol_request_begin_giving(struct symbol_request *request);
/*
 * Gives a frame the lines of addresses[address], or the start of its function
 * if there are no lines. Counts the frames that lack a name or line.
 */
void symbol_request_give(struct symbol_request *request, uint32_t address, struct profile *profile,
			 frame_id frame);

#endif
