/*
 * The outputs of a command: opens those that its options name, writes the profile into them, and
 * prints the summary. Prints errors.
 */
#ifndef PROF_CMD_OUTPUTS_H
#define PROF_CMD_OUTPUTS_H

#include "cmd/output.h"
#include "cmd/output_options.h"
#include "cmd/push.h"
#include "record/finalize.h"

struct outputs {
	struct output *items;
	size_t count;
	bool cannot_repeat; /* a profile that cannot be written into its file is written elsewhere
			     */
	struct format_label *labels; /* of outputs_take_labels() */
	/* On a full disk: removes something, so that outputs_write() tries again. NULL: it fails.
	 */
	bool (*make_room)(void *user);
	void *user;
};

/*
 * Opens the outputs that the options name. By default it is stdout if that is a pipe, else
 * prof.pb.gz, or prof.html with --open. Returns a status.
 */
int outputs_open(struct outputs *outputs, struct output_options *options);
/* Opens one more output, as output_open(). Returns a status. */
int outputs_add(struct outputs *outputs, const struct output_directory *directory,
		const char *pattern, const struct format *format);
/* True if one of the formats needs timestamps. */
bool outputs_need_timestamps(const struct outputs *outputs);
/* True if all are rows. */
bool outputs_are_rows(const struct outputs *outputs);
/* Rows get the labels of what is pushed. Fails if there are labels, and neither rows nor servers to
 * take them. */
MUST_CHECK struct error *outputs_take_labels(struct outputs *outputs,
					     struct format_options *options,
					     const struct push *push);
/* Frees the outputs and removes temporary files. */
void outputs_close(struct outputs *outputs);

/* Writes the profile into all outputs, even if one fails. Returns a status. */
int outputs_write(struct outputs *outputs, const struct profile *profile,
		  const struct format_options *options);

/* Writes the outputs that were prepared for a checkpoint, in the child; false: one failed. */
bool outputs_write_prepared(struct outputs *outputs, const struct profile *profile,
			    const struct format_options *options, bool prints_errors);

/* All borrowed. */
struct outputs_finish {
	const struct output_options *options;
	struct outputs *outputs;
	const struct profile *profile;
	const struct finalize_result *finalized; /* NULL: read from a file of a profile */
	bool reading;				 /* the samples are from a file */
	uint64_t sampling_cpu_ns;		 /* of prof, up to the last sample */
	const char *unsampled_hint;		 /* as in struct summary */
	bool explains_emptiness;		 /* likewise */
};

/* Writes the profile, prints the summary and opens a viewer. Returns a status. */
int outputs_finish(const struct outputs_finish *finish);

/* "prof" and these words, without the secrets that options of pushing hold; to be freed. */
char *outputs_command_line(char *const *words, int count);
/* Prints the formats for --help; takes_records: as in the options. */
void outputs_help(bool takes_records);

#endif
