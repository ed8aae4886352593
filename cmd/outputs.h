/*
 * The outputs of a command: opens the outputs that its options name, writes the
 * profile to them, and prints the summary. Prints errors.
 */
#ifndef PROF_CMD_OUTPUTS_H
#define PROF_CMD_OUTPUTS_H

#include "cmd/options/output_options.h"
#include "cmd/push/push.h"
#include "output/output.h"
#include "record/finalize.h"

struct outputs {
	struct output *items;
	size_t count;
	/* the profile cannot be made again: if its file cannot be written, it
	 * is written elsewhere */
	bool cannot_repeat;
	struct format_label *labels; /* set by outputs_take_labels() */
	/* Called if the disk is full. Removes something, so that
	 * outputs_write() tries again. If NULL, the write fails. */
	bool (*make_room)(void *user);
	void *user;
};

/*
 * Opens the outputs that the options name. The default is stdout if that is a
 * pipe, otherwise prof.pb.gz, or prof.html with --open. Returns a status.
 */
int outputs_open(struct outputs *outputs, struct output_options *options);
/* Opens one more output, like output_open(). Returns a status. */
int outputs_add(struct outputs *outputs, const struct output_directory *directory,
		const char *pattern, const struct format *format);
/* Returns true if one of the formats needs timestamps. */
bool outputs_need_timestamps(const struct outputs *outputs);
/* Returns true if all outputs are rows. */
bool outputs_are_rows(const struct outputs *outputs);
/* Adds the labels of pushed profiles to rows. Fails if there are labels but
 * neither rows nor servers. */
MUST_CHECK struct error *outputs_take_labels(struct outputs *outputs,
					     struct format_options *options,
					     const struct push *push);
/* Frees the outputs and removes temporary files. */
void outputs_close(struct outputs *outputs);

/* Writes the profile to all outputs, even if one fails. Returns a status. */
int outputs_write(struct outputs *outputs, const struct profile *profile,
		  const struct format_options *options);

/* Writes the outputs that were prepared for a checkpoint. Called in the child.
 * Returns false if one failed. */
bool outputs_write_prepared(struct outputs *outputs, const struct profile *profile,
			    const struct format_options *options, bool prints_errors);

/* All members are borrowed. */
struct outputs_finish {
	const struct output_options *options;
	struct outputs *outputs;
	const struct profile *profile;
	/* NULL if a profile was read from a file */
	const struct finalize_result *finalized;
	bool reading;		    /* the samples are from a file */
	uint64_t sampling_cpu_ns;   /* of prof, until the last sample */
	const char *unsampled_hint; /* as in struct summary */
	bool explains_emptiness;    /* as in struct summary */
};

/* Writes the profile, prints the summary and opens a viewer. Returns a status. */
int outputs_finish(const struct outputs_finish *finish);

/* Returns "prof" and these words, without the secrets in --push options. The
 * caller frees it. */
char *outputs_command_line(char *const *words, int count);

#endif
