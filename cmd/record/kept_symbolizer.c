#include "cmd/record/kept_symbolizer.h"

#include "base/trusted_user.h"

/* Called every few milliseconds. */
static void kept_symbolizer_read_records(void *user)
{
	struct kept_symbolizer *kept = user;
	struct recording *recording = kept->recording;

	if (!kept->is_draining)
		return;
	recorder_drain(recording->recorder);
	if (recording_is_called(recording))
		atomic_store(&recording->cancel, true);
}

bool kept_symbolizer_run(struct kept_symbolizer *kept)
{
	const struct pipeline *pipeline = recorder_pipeline(kept->recording->recorder);
	struct symbolize_outcome outcome;
	bool is_complete;

	session_finish(pipeline->session);
	if (!kept->symbolizer)
		kept->symbolizer = symbolizer_new(
			pipeline->profile, pipeline->spaces,
			&(struct symbolize_options){.proc = "/proc",
						    .threads = 1,
						    .symbols = kept->symbols,
						    .again = true,
						    .cancel = &kept->recording->cancel,
						    .between = kept_symbolizer_read_records,
						    .user = kept,
						    .caller = sudo_caller()});
	symbolizer_set_profile(kept->symbolizer, pipeline->profile);
	kept->is_draining = true;
	symbolizer_run(kept->symbolizer, &outcome);
	kept->is_draining = false;
	atomic_store(&kept->recording->cancel, false);
	is_complete = !outcome.cancelled;
	if (!is_complete)
		kept_symbolizer_forget(kept);
	symbolize_outcome_deinit(&outcome);
	return is_complete;
}

void kept_symbolizer_forget(struct kept_symbolizer *kept)
{
	symbolizer_free(STEAL(kept->symbolizer));
}

uint64_t kept_symbolizer_cpu_ns(const struct kept_symbolizer *kept)
{
	return kept->symbolizer ? symbolizer_cost(kept->symbolizer).cpu_ns : 0;
}
