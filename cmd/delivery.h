/*
 * From stacks to files: names the frames, describes the profile, writes the outputs and tells how
 * it went. What a recording ends in, and reading one as well.
 */
#ifndef PROF_CMD_DELIVERY_H
#define PROF_CMD_DELIVERY_H

#include "cmd/delivery_options.h"
#include "cmd/output.h"
#include "cmd/signals.h"
#include "session.h"

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
	const struct signals *signals; /* one cuts naming short */
	struct outputs *outputs;
	struct session *session;
	struct profile *profile;
	struct spaces *spaces;
	const char *proc;	  /* as in symbolize_options */
	struct profile_info info; /* but for the quality, which is found out here */
	bool reading;		  /* what others recorded */
	bool shares_terminal;	  /* with a command, whose last line is not to be written over */
	uint64_t sampling_cpu_ns; /* prof's own, so far */
};

/* The result is a status, as of outputs_write(). */
int deliver(const struct delivery *delivery);

/* "prof" and the words behind it, to be freed. */
char *delivery_command(char *const *words, int count);
/* The formats, for --help. */
void delivery_help(void);

#endif
