#include "cmd/outputs.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/summary.h"
#include "cmd/ui/message.h"
#include "cmd/viewer.h"
#include "report/runtime_use.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool stdout_is_pipe(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

int outputs_add(struct outputs *outputs, const struct output_directory *directory,
		const char *pattern, const struct format *format)
{
	struct output output;
	struct error *err = output_open(directory, pattern, format, message_error, &output);

	if (err)
		return message_failure(err);
	for (size_t i = 0; i < outputs->count && !err; i++)
		if (output_is_same(&output, &outputs->items[i]))
			err = error_usage(error_new("-o %s was given twice", output.path));
	if (err) {
		output_discard(&output);
		return message_failure(err);
	}
	outputs->items = xreallocarray(outputs->items, outputs->count + 1, sizeof(output));
	outputs->items[outputs->count++] = output;
	return STATUS_OK;
}

static int refuse_records(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++) {
		const struct output *output = &outputs->items[i];

		if (!output->format->write)
			return message_failure(
				error_usage(error_new("%s: only prof record writes %s",
						      output->path, output->format->name)));
	}
	return STATUS_OK;
}

static const char *usual_output(const struct output_options *options)
{
	if (options->opens)
		return "prof.html";
	return stdout_is_pipe() && !options->keeps_stdout ? "-" : "prof.pb.gz";
}

int outputs_open(struct outputs *outputs, struct output_options *options)
{
	options->format_options.names = names_option_style(&options->names, NAMES_FULL);
	struct option_list *patterns = &options->outputs;
	int status = STATUS_OK;

	if (!patterns->count)
		error_free(option_append(patterns, usual_output(options)));
	for (size_t i = 0; i < patterns->count && status == STATUS_OK; i++)
		status = outputs_add(outputs, options->directory, patterns->items[i],
				     options->format);
	if (status == STATUS_OK && !options->takes_records)
		status = refuse_records(outputs);
	return status;
}

bool outputs_need_timestamps(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		if (outputs->items[i].format->needs_timestamps)
			return true;
	return false;
}

static size_t count_rows(const struct outputs *outputs)
{
	size_t count = 0;

	for (size_t i = 0; i < outputs->count; i++)
		count += outputs->items[i].format->is_rows;
	return count;
}

bool outputs_are_rows(const struct outputs *outputs)
{
	return outputs->count && count_rows(outputs) == outputs->count;
}

struct error *outputs_take_labels(struct outputs *outputs, struct format_options *options,
				  const struct push *push)
{
	const struct push_labels *labels = &push->labels;

	if (labels->count && !push->target_count && !count_rows(outputs))
		return error_usage(error_new("--label needs --push, or rows: -o FILE%s",
					     format_ndjson.extensions[0]));
	outputs->labels = xcalloc(labels->count, sizeof(*outputs->labels));
	for (size_t i = 0; i < labels->count; i++)
		outputs->labels[i] = (struct format_label){labels->items[i].key,
							   labels->items[i].text};
	options->rows = (struct ndjson_options){outputs->labels, labels->count};
	return NULL;
}

void outputs_close(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		output_discard(&outputs->items[i]);
	free(outputs->items);
	free(outputs->labels);
}

char *outputs_command_line(char *const *words, int count)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("prof", out);
	for (int i = 0; i < count; i++) {
		CLEANUP(free_ptr)
		char *word = push_word_without_secrets(i ? words[i - 1] : "", words[i]);

		fprintf(out, " %s", word);
	}
	fclose(out);
	return text;
}

/* The status is that of a failure: the file that was asked for is not there. */
static int write_elsewhere(const struct outputs *outputs, struct output *output,
			   const struct profile *profile, const struct format_options *options)
{
	CLEANUP(free_ptr) char *path = NULL;

	if (outputs->cannot_repeat)
		path = output_write_elsewhere(output, profile, options);
	if (path)
		message("the profile is in %s instead", path);
	return STATUS_FAILED;
}

/* Prints no error if the reader of stdout has closed the pipe, as head(1) does. */
static void outputs_fail(const struct output *output, struct error *err)
{
	if (error_number(err) == EPIPE && output_is_stdout(output->path))
		error_free(err);
	else
		message_error(err);
}

static struct error *write_one(const struct outputs *outputs, struct output *output,
			       const struct profile *profile, const struct format_options *options)
{
	struct error *err;

	for (;;) {
		err = output_write(output, profile, options);
		if (!err || error_number(err) != ENOSPC || !outputs->make_room ||
		    !outputs->make_room(outputs->user))
			return err;
		error_free(err);
	}
}

int outputs_write(struct outputs *outputs, const struct profile *profile,
		  const struct format_options *options)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->items[i];
		/* Records were written during the recording. */
		struct error *err = output->format->write
					    ? write_one(outputs, output, profile, options)
					    : NULL;

		if (!err)
			continue;
		outputs_fail(output, err);
		status = write_elsewhere(outputs, output, profile, options);
	}
	return status;
}

bool outputs_write_prepared(struct outputs *outputs, const struct profile *profile,
			    const struct format_options *options, bool prints_errors)
{
	bool all_written = true;

	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->items[i];
		struct error *err = NULL;

		/* The recorder has the descriptor of the perf.data file. */
		if (output->format->write && output->file.fd >= 0)
			err = output_write_prepared(output, profile, options);
		all_written &= !err;
		if (err && prints_errors)
			message_error(error_wrap(err, "checkpoint"));
		else
			error_free(err);
	}
	return all_written;
}

static void summarize(const struct outputs_finish *finish)
{
	const struct finalize_result *finalized = finish->finalized;
	CLEANUP(free_ptr) char *runtimes = NULL;

	if (!finalized) {
		summary_print_files(finish->outputs->items, finish->outputs->count);
		return;
	}
	runtimes = runtime_use_text(finish->profile);
	summary_print(&(struct summary){
		.profile = finish->profile,
		.quality = &finalized->quality,
		.naming = &finalized->symbolized,
		.outputs = finish->outputs->items,
		.output_count = finish->outputs->count,
		.reading = finish->reading,
		.sampling_cpu_ns = finish->sampling_cpu_ns,
		.verbose = finish->options->verbose,
		.unsampled_hint = finish->unsampled_hint,
		.explains_emptiness = finish->explains_emptiness,
		.runtimes = runtimes,
	});
}

int outputs_finish(const struct outputs_finish *finish)
{
	int status = outputs_write(finish->outputs, finish->profile,
				   &finish->options->format_options);

	if (!finish->options->quiet)
		summarize(finish);
	if (finish->options->opens && status == STATUS_OK)
		viewer_open(finish->outputs->items, finish->outputs->count);
	return status;
}
