#include "cmd/push/push.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/text.h"
#include "base/trusted_user.h"
#include "cmd/input/input.h"
#include "cmd/ui/message.h"
#include "output/secret_file.h"
#include "push/backlog.h"
#include "segments/heads.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_TIMEOUT_NS (30 * NS_PER_SECOND)

void push_options_init(struct push_options *options)
{
	*options = (struct push_options){.timeout_ns = USUAL_TIMEOUT_NS};
}

void push_options_deinit(struct push_options *options)
{
	option_list_deinit(&options->targets);
	option_list_deinit(&options->headers);
	option_list_deinit(&options->labels);
}

/* ---- Options ---- */

static bool is_header_text(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && *text != '\t')
			return false;
	return true;
}

/* Adds header and takes its ownership. */
static void add_header(struct push *push, char *header)
{
	push->headers = xreallocarray(push->headers, push->header_count + 2, sizeof(char *));
	push->headers[push->header_count++] = header;
	push->headers[push->header_count] = NULL;
}

static struct error *push_add_headers(struct push *push, const struct option_list *headers)
{
	for (size_t i = 0; i < headers->count; i++) {
		const char *header = headers->items[i];

		if (!strchr(header, ':') || *header == ':' || !is_header_text(header))
			return error_new("--push-header \"%s\": not NAME:VALUE", header);
		add_header(push, xstrdup(header));
	}
	return NULL;
}

static struct error *push_add_targets(struct push *push, const struct option_list *targets)
{
	push->targets = xcalloc(targets->count, sizeof(*push->targets));
	for (; push->target_count < targets->count; push->target_count++) {
		struct error *err = push_target_parse(targets->items[push->target_count],
						      &push->targets[push->target_count]);

		if (err)
			return error_wrap(err, "--push");
	}
	return NULL;
}

static struct error *push_add_labels(struct push *push, const struct option_list *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		const char *label = labels->items[i], *equals = strchr(label, '=');
		CLEANUP(free_ptr) char *key = NULL;

		if (!equals || equals == label)
			return error_new("--label \"%s\": not KEY=VALUE", label);
		key = xstrndup(label, (size_t)(equals - label));
		push_labels_add(&push->labels, key, equals + 1);
	}
	return NULL;
}

static struct error *add_token(struct push *push, const char *path)
{
	CLEANUP(free_ptr) char *token = NULL;
	struct error *err = secret_file_read(path, &token);
	size_t len = err ? 0 : strlen(token);

	if (err)
		return error_wrap(err, "read the token");
	while (len && isspace((unsigned char)token[len - 1]))
		token[--len] = '\0';
	if (!len || !is_header_text(token))
		return error_new("read the token in %s: not one line of text", path);
	add_header(push, xasprintf("Authorization: Bearer %s", token));
	return NULL;
}

static struct error *check_options(const struct push_options *options)
{
	const char *name = options->headers.count ? "--push-header"
			   : options->token_file  ? "--push-token-file"
						  : NULL;

	if (name && !options->targets.count)
		return error_new("%s needs --push", name);
	return NULL;
}

static struct error *take_options(const struct push_options *options, struct push *push)
{
	struct error *err = check_options(options);

	if (!err)
		err = push_add_targets(push, &options->targets);
	if (!err)
		err = push_add_headers(push, &options->headers);
	if (!err)
		err = push_add_labels(push, &options->labels);
	return err;
}

struct error *push_open(const struct push_options *options, bool quiet, struct push *ret)
{
	struct error *err;

	*ret = (struct push){.headers = xcalloc(1, sizeof(char *)),
			     .timeout_ns = options->timeout_ns,
			     .quiet = quiet};
	err = error_usage(take_options(options, ret));
	if (!err && options->token_file)
		err = add_token(ret, options->token_file);
	if (!err && ret->target_count)
		err = error_wrap(push_check_library(sudo_caller()), "--push");
	return err;
}

void push_close(struct push *push)
{
	for (size_t i = 0; i < push->target_count; i++)
		push_target_deinit(&push->targets[i]);
	for (size_t i = 0; i < push->header_count; i++)
		free(push->headers[i]);
	free(push->targets);
	free(push->headers);
	push_labels_deinit(&push->labels);
	*push = (struct push){0};
}

char *push_word_without_secrets(const char *previous, const char *word)
{
	static const char header[] = "--push-h"; /* an option may be abbreviated */
	const char *text = text_begins(word, header) ? strchrnul(word, '=') : word;

	if (text == word && (!text_begins(previous, header) || strchr(previous, '=')))
		return push_without_passwords(word);
	return xasprintf("%.*s", (int)(strcspn(text, ":") + (size_t)(text - word)), word);
}

/* ---- Pushing ---- */

static void print_result(const struct push *push, const struct push_target *target,
			 const struct push_result *result)
{
	bool is_stopped = result->outcome == PUSH_STOPPED;
	const char *why = is_stopped ? "interrupted by a signal" : result->why;

	if (is_stopped && push->is_background)
		return;
	if (!why && !push->quiet && result->parts > 1)
		message("pushed to %s (%s in %u parts)", target->name,
			humanize_bytes(result->bytes).text, result->parts);
	else if (!why && !push->quiet)
		message("pushed to %s (%s)", target->name, humanize_bytes(result->bytes).text);
	else if (why && !push->repeats)
		message_error(error_new("push to %s: %s", target->name, why));
}

/* A profile that was partly refused is not counted as pushed. It is not sent
 * again, because the result would be the same. */
static enum push_outcome deliver(const struct push *push, const struct push_target *target,
				 const struct profile *profile)
{
	struct push_delivery delivery = {
		.labels = &push->labels,
		.headers = (const char *const *)push->headers,
		.timeout_ns = push->timeout_ns,
		.caller = sudo_caller(),
		.wait = push->wait,
	};
	struct push_result result;
	enum push_outcome outcome;

	push_deliver(&delivery, target, profile, &result);
	print_result(push, target, &result);
	outcome = result.outcome == PUSH_DELIVERED && result.why ? PUSH_REJECTED : result.outcome;
	push_result_deinit(&result);
	return outcome;
}

bool push_profile(const struct push *push, const struct profile *profile)
{
	bool is_pushed = true, goes_on = true;

	if (push->guard && push->target_count)
		signal_guard_begin(push->guard, SIGNAL_PHASE_WAITING);
	for (size_t i = 0; i < push->target_count && goes_on; i++) {
		enum push_outcome outcome = deliver(push, &push->targets[i], profile);

		is_pushed &= outcome == PUSH_DELIVERED;
		goes_on = outcome != PUSH_STOPPED;
	}
	return is_pushed;
}

struct backlog_run {
	const struct push *push;
	struct backlog backlog;
	bool *is_over; /* by target: do not try further files */
	bool has_failed;
};

static struct error *read_profile(const struct output_directory *directory, const char *file,
				  struct input *ret)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory->path, file);
	struct stat st;

	return input_read_file(output_directory_open_file(directory, file, &st), path,
			       &(struct input_options){0}, ret);
}

static void push_file_to(struct backlog_run *run, size_t target, const char *file,
			 const struct input *input)
{
	const char *name = run->push->targets[target].name;
	enum push_outcome outcome = deliver(run->push, &run->push->targets[target], input->profile);
	struct error *err = NULL;

	run->has_failed |= outcome != PUSH_DELIVERED;
	run->is_over[target] = outcome != PUSH_DELIVERED && outcome != PUSH_REJECTED;
	if (!run->is_over[target])
		err = backlog_set_done(&run->backlog, name, file);
	if (outcome == PUSH_STOPPED)
		memset(run->is_over, true, run->push->target_count * sizeof(*run->is_over));
	if (err) {
		run->has_failed = run->is_over[target] = true;
		message_error(err);
	}
}

static void push_file(struct backlog_run *run, const char *file)
{
	CLEANUP(input_deinit) struct input input = {0};

	for (size_t i = 0; i < run->push->target_count; i++) {
		struct error *err = NULL;

		if (run->is_over[i] ||
		    backlog_is_done(&run->backlog, run->push->targets[i].name, file))
			continue;
		if (!input.profile)
			err = read_profile(run->backlog.directory, file, &input);
		if (err) {
			run->has_failed = true;
			message_error(err);
			return;
		}
		push_file_to(run, i, file, &input);
	}
}

/* The contents of a merged segment were delivered with it or before it. */
static void push_find_contained(const struct output_directory *directory, struct segment_files *ret)
{
	CLEANUP(segment_files_deinit) struct segment_files files = {0};

	error_free(segment_files_read(directory, &files));
	segment_heads_read(directory, &files);
	segment_heads_take_contained(&files, ret);
}

bool push_directory(const struct push *push, const struct output_directory *directory,
		    const char *prefix)
{
	CLEANUP(free_ptr) bool *is_over = xcalloc(push->target_count, sizeof(*is_over));
	struct backlog_run run = {.push = push, .is_over = is_over};
	CLEANUP(segment_files_deinit) struct segment_files contained = {0};
	struct error *err = backlog_open(directory, prefix, push->has_lock, &run.backlog);

	if (err) {
		message_error(err);
		return false;
	}
	if (push->guard)
		signal_guard_begin(push->guard, SIGNAL_PHASE_WAITING);
	push_find_contained(directory, &contained);
	for (size_t i = 0; i < run.backlog.count; i++)
		if (!segment_files_has(&contained, run.backlog.files[i]))
			push_file(&run, run.backlog.files[i]);
	backlog_close(&run.backlog);
	return !run.has_failed;
}
