#include "cmd/diff/diff_recordings.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/diff/diff_page.h"
#include "cmd/diff/diff_pair.h"
#include "cmd/outputs.h"
#include "cmd/ui/message.h"

#include <string.h>

struct diff_recordings {
	const struct diff_command_options *options;
	const struct option_list *old, *new;
	struct diff_pair pair;
	struct outputs outputs;
};

/* Prints a condition that holds or cannot be judged. */
static enum limit_verdict verdict_on(const struct diff_pair *pair,
				     const struct fail_condition *condition)
{
	const struct change *change = fail_condition_is_slower(condition)
					      ? &pair->diff.whole
					      : diff_pair_function(pair, condition->what);
	enum limit_verdict verdict;

	if (!change) {
		message_error(diff_no_function(condition));
		return LIMIT_UNKNOWN;
	}
	verdict = change_judge(change, condition->limit);
	if (verdict == LIMIT_UNKNOWN)
		message_error(diff_cannot_judge(condition, change));
	if (verdict == LIMIT_EXCEEDED)
		message("%s: %+.1f %%, significant and more than %g %%", condition->what,
			diff_change_of(change) * 100, condition->limit * 100);
	return verdict;
}

static int diff_recordings_judge(const struct diff_recordings *recordings)
{
	const struct fail_conditions *conditions = &recordings->options->conditions;
	size_t verdicts[LIMIT_UNKNOWN + 1] = {0};

	if (conditions->count && recordings->pair.diff.verdict == DIFF_NOTHING)
		return message_failure_as(diff_cannot_judge(&conditions->items[0], NULL),
					  STATUS_TROUBLE);
	for (size_t i = 0; i < conditions->count; i++)
		verdicts[verdict_on(&recordings->pair, &conditions->items[i])]++;
	return diff_status(verdicts);
}

static struct error *diff_recordings_check_conditions(const struct diff_recordings *recordings)
{
	const struct fail_conditions *conditions = &recordings->options->conditions;

	for (size_t i = 0; i < conditions->count; i++)
		if (fail_condition_is_slower(&conditions->items[i]) &&
		    diff_pair_is_of_shares(&recordings->pair))
			return diff_pair_cannot_tell(&recordings->pair);
	return NULL;
}

static bool prints_to_stdout(const struct diff_recordings *recordings)
{
	for (size_t i = 0; i < recordings->outputs.count; i++)
		if (output_is_stdout(recordings->outputs.items[i].path))
			return false;
	return !recordings->options->quiet;
}

static int draw(struct diff_recordings *recordings)
{
	const struct diff_pair *pair = &recordings->pair;
	bool of_shares = diff_pair_is_of_shares(pair);
	size_t last = pair->files.count - 1;
	CLEANUP(profile_cleanup) struct profile *sides = NULL;
	CLEANUP(diff_page_deinit) struct diff_page page = {0};
	CLEANUP(free_ptr) char *title = NULL;

	if (!recordings->outputs.count)
		return STATUS_OK;
	title = xasprintf("prof diff %s %s", pair->files.items[0].path,
			  pair->files.items[last].path);
	diff_page_init(&page, &pair->report);
	sides = diff_files_merge_sides(&pair->files, of_shares);
	profile_set_info(sides, &(struct profile_info){.command = title, .headline = page.verdict});
	return outputs_write(
		&recordings->outputs, sides,
		&(struct format_options){
			.difference = of_shares ? DIFFERENCE_SHARES : DIFFERENCE_WEIGHTS,
			.names = names_option_style(&recordings->options->names, NAMES_FULL),
			.page.comparison = &page.comparison,
		});
}

static int diff_recordings_show(const struct diff_recordings *recordings)
{
	struct pager pager;
	struct error *err;

	if (!prints_to_stdout(recordings))
		return STATUS_OK;
	if (recordings->options->json || recordings->options->markdown) {
		(recordings->options->json ? diff_print_json
					   : diff_print_markdown)(&recordings->pair.report, stdout);
		return STATUS_OK;
	}
	pager_open(&pager, &recordings->options->pager);
	diff_print(&recordings->pair.report, &pager);
	err = pager_show(&pager);
	pager_close(&pager);
	return err ? message_failure_as(err, STATUS_TROUBLE) : STATUS_OK;
}

static int diff_recordings_open_outputs(struct diff_recordings *recordings)
{
	const struct option_list *names = &recordings->options->outputs;

	for (size_t i = 0; i < names->count; i++) {
		if (outputs_add(&recordings->outputs, NULL, names->items[i], NULL) != STATUS_OK)
			return STATUS_TROUBLE;
		if (!recordings->outputs.items[i].format->shows_differences)
			return message_failure_as(
				error_hint(
					error_new("%s: the format %s cannot show differences",
						  names->items[i],
						  recordings->outputs.items[i].format->name),
					"folded stacks and the HTML page can: -o FILE.folded, -o "
					"FILE.html"),
				STATUS_TROUBLE);
	}
	return STATUS_OK;
}

static int diff_recordings_run(struct diff_recordings *recordings)
{
	struct error *err = diff_pair_read(&recordings->pair, recordings->options, recordings->old,
					   recordings->new);

	if (!err)
		err = diff_recordings_check_conditions(recordings);
	if (err)
		return message_failure_as(err, STATUS_TROUBLE);
	diff_pair_compare(&recordings->pair);
	if (diff_recordings_show(recordings) != STATUS_OK || draw(recordings) != STATUS_OK)
		return STATUS_TROUBLE;
	return diff_recordings_judge(recordings);
}

static void diff_recordings_deinit(struct diff_recordings *recordings)
{
	diff_pair_deinit(&recordings->pair);
	outputs_close(&recordings->outputs);
}

int diff_recordings(const struct diff_command_options *options, const struct option_list *old,
		    const struct option_list *new)
{
	CLEANUP(diff_recordings_deinit)
	struct diff_recordings recordings = {.options = options, .old = old, .new = new};
	int status = diff_recordings_open_outputs(&recordings);

	return status == STATUS_OK ? diff_recordings_run(&recordings) : status;
}
