/*
 * What is asked about the addresses of one module, and what has been answered.
 *
 * inquiries.h collects the addresses, inquiry_files.h finds the file that a worker reads, and the
 * replies give names and lines to frames of the profile.
 */
#ifndef PROF_SYMBOL_INQUIRY_H
#define PROF_SYMBOL_INQUIRY_H

#include "proc/debug_files.h"
#include "proc/kernel_image.h"
#include "profile/profile.h"
#include "symbol/crews.h"
#include "symbol/fetched_files.h"
#include "symbol/reply.h"

#include <stdio.h>

struct inquiry {
	uint32_t module;
	uint64_t *addresses; /* ascending, each once */
	size_t count, room;
	size_t frames; /* an address can be that of two frames */

	/* What is asked of workers. Set by inquiry_files_prepare(). */
	bool has_request; /* else there is no file to read */
	struct crews_request request;
	struct debug_files debug_files;
	struct fetched_opener opener;	   /* of debug_files and of fetched ones */
	FILE *map;			   /* of code compiled at run time */
	const struct kernel_image *kernel; /* of a kernel whose lines are looked up; else NULL */

	/* What has come of it. */
	struct reply *reply; /* NULL: none yet */
	char *problem;	     /* why there is none */
	char *loss;	     /* what has become of its worker */
	char *refused;	     /* what has become of one that read a fetched debug file */

	/* What the profile has got. */
	size_t unnamed, lineless; /* frames */
	function_id *functions;	  /* by the reply's: in the profile; private */
	uint32_t *spellings;	  /* of the reply; private */
};

void inquiry_deinit(struct inquiry *inquiry);

/* Takes the reply. That of a kernel's file is joined with the kernel's own. */
void inquiry_take_reply(struct inquiry *inquiry, struct reply *reply);
/* The same of what an engine in this process has found. */
void inquiry_take_result(struct inquiry *inquiry, const struct engine_result *result);

/* What is known of an address. */
enum named { UNNAMED, NAMED, NAMED_WITH_LINE };

enum named inquiry_named(const struct inquiry *inquiry, uint32_t address);

/* Once before the first inquiry_give(), when the reply is the last. */
void inquiry_begin_giving(struct inquiry *inquiry);
/*
 * Gives a frame the lines of addresses[address], or without lines the start of its function, and
 * counts those that get less.
 */
void inquiry_give(struct inquiry *inquiry, uint32_t address, struct profile *profile,
		  frame_id frame);

#endif
