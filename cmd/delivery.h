/*
 * From a profile to files: writes the outputs and tells how it went. What a recording ends in, and
 * a conversion as well.
 */
#ifndef PROF_CMD_DELIVERY_H
#define PROF_CMD_DELIVERY_H

#include "cmd/completion.h"
#include "cmd/delivery_options.h"
#include "cmd/output.h"

struct outputs {
	struct output *items;
	size_t count;
};

/* Those that were asked for; none: down the pipe that stdout is, or into the usual file. Tells what
 * is wrong; the result is a status. */
int outputs_open(struct outputs *outputs, struct delivery_options *options);
/* One more. */
int outputs_add(struct outputs *outputs, const char *pattern, const struct format *format);
/* Does one of them show when samples were taken? */
bool outputs_want_moments(const struct outputs *outputs);
void outputs_close(struct outputs *outputs);

/* The result is a status: a failed output does not cost the others. */
int outputs_write(struct outputs *outputs, const struct profile *profile,
		  const struct format_options *options);

/* All borrowed. */
struct delivery {
	const struct delivery_options *options;
	struct outputs *outputs;
	const struct profile *profile;
	const struct completeness *completeness; /* NULL: it was a profile before */
	bool reading;				 /* what others recorded */
	uint64_t sampling_cpu_ns;		 /* prof's own, until the last sample */
};

/* The result is a status, as of outputs_write(). */
int deliver(const struct delivery *delivery);

/* "prof" and the words behind it, to be freed. */
char *delivery_command(char *const *words, int count);
/* The formats, for --help; takes_records: as in the options. */
void delivery_help(bool takes_records);

#endif
