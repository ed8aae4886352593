#include "cmd/delivery.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/showing.h"
#include "cmd/summary.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool stdout_is_pipe(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

int outputs_add(struct outputs *outputs, const char *pattern, const struct format *format)
{
	struct output output;
	bool is_usage = false;
	struct error *err = output_open(pattern, format, &output, &is_usage);

	if (err)
		return message_failure(err, is_usage ? STATUS_USAGE : STATUS_FAILED);
	for (size_t i = 0; i < outputs->count && !err; i++)
		if (output_is_same(&output, &outputs->items[i]))
			err = error_new("-o %s is given twice", output.path);
	if (err) {
		output_discard(&output);
		return message_failure(err, STATUS_USAGE);
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
			return message_failure(error_new("%s: only prof record writes %s",
							 output->path, output->format->name),
					       STATUS_USAGE);
	}
	return STATUS_OK;
}

static const char *usual_output(const struct delivery_options *options)
{
	if (options->opens)
		return "prof.html";
	return stdout_is_pipe() ? "-" : "prof.pb.gz";
}

int outputs_open(struct outputs *outputs, struct delivery_options *options)
{
	struct option_list *patterns = &options->outputs;
	int status = STATUS_OK;

	if (!patterns->count)
		error_free(option_append(patterns, usual_output(options)));
	for (size_t i = 0; i < patterns->count && status == STATUS_OK; i++)
		status = outputs_add(outputs, patterns->items[i], options->format);
	if (status == STATUS_OK && !options->takes_records)
		status = refuse_records(outputs);
	return status;
}

bool outputs_want_moments(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		if (outputs->items[i].format->wants_moments)
			return true;
	return false;
}

void outputs_close(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		output_discard(&outputs->items[i]);
	free(outputs->items);
}

char *delivery_command(char *const *words, int count)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("prof", out);
	for (int i = 0; i < count; i++)
		fprintf(out, " %s", words[i]);
	fclose(out);
	return text;
}

void delivery_help(bool takes_records)
{
	printf("\nFormats, by the extension of FILE or by NAME:\n");
	for (const struct format *const *format = formats; *format; format++)
		if ((*format)->write || takes_records)
			printf("  %-17s %-10s %s\n", (*format)->extensions[0], (*format)->name,
			       (*format)->summary);
}

/* Who reads stdout and leaves early has seen enough: nobody needs to be told. */
static int fail(const struct output *output, struct error *err)
{
	if (error_number(err) != EPIPE || !output_is_stdout(output->path))
		return message_failure(err, STATUS_FAILED);
	error_free(err);
	return STATUS_FAILED;
}

int outputs_write(struct outputs *outputs, const struct profile *profile,
		  const struct format_options *options)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->items[i];
		/* Records were written when they came. */
		struct error *err = output->format->write ? output_write(output, profile, options)
							  : NULL;

		if (err)
			status = fail(output, err);
	}
	return status;
}

static void summarize(const struct delivery *delivery)
{
	const struct completeness *completeness = delivery->completeness;

	if (!completeness) {
		summary_print_files(delivery->outputs->items, delivery->outputs->count);
		return;
	}
	summary_print(&(struct summary){
		.profile = delivery->profile,
		.quality = &completeness->quality,
		.naming = &completeness->naming,
		.outputs = delivery->outputs->items,
		.output_count = delivery->outputs->count,
		.reading = delivery->reading,
		.sampling_cpu_ns = delivery->sampling_cpu_ns,
		.verbose = delivery->options->verbose,
	});
}

int deliver(const struct delivery *delivery)
{
	int status = outputs_write(delivery->outputs, delivery->profile,
				   &delivery->options->format_options);

	if (!delivery->options->quiet)
		summarize(delivery);
	if (delivery->options->opens && status == STATUS_OK)
		show_output(delivery->outputs->items, delivery->outputs->count);
	return status;
}
