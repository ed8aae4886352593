#include "record/pipeline.h"

#include "record/interrupt_code.h"

static struct profile *new_profile(const struct pipeline *pipeline)
{
	struct profile *profile = profile_new();

	if (pipeline->needs_timestamps)
		profile_keep_timestamps(profile);
	if (pipeline->counts_polls)
		profile_keep_sample_order(profile);
	return profile;
}

void pipeline_open(struct pipeline *pipeline, const struct pipeline_options *options)
{
	const char *proc = options->files ? NULL : "/proc";

	if (options->files)
		pipeline->spaces = address_spaces_new_recorded(options->files);
	else
		pipeline->spaces = address_spaces_new(proc);
	if (!options->files && options->debug_dir)
		address_spaces_set_debug_dir(pipeline->spaces, options->debug_dir);
	pipeline->names = names_new(proc);
	pipeline->unwinder = unwinder_new(pipeline->spaces, options->arch, !options->files);
	pipeline->needs_timestamps = options->needs_timestamps;
	pipeline->counts_polls = options->counts_polls;
	pipeline->profile = new_profile(pipeline);
	pipeline->session = session_new(pipeline->spaces, pipeline->names, pipeline->unwinder,
					options->arch, pipeline->profile);
	session_fold_ended(pipeline->session, options->needs_timestamps ? 0 : options->fold_count);
	if (!options->files || options->files->same_kernel)
		session_set_interrupt_code(pipeline->session, interrupt_code_new());
	session_set_depth(pipeline->session, options->depth);
	if (options->scripts)
		session_set_scripts(pipeline->session, options->scripts);
}

struct profile *pipeline_rotate(struct pipeline *pipeline)
{
	struct profile *finished = pipeline->profile;

	pipeline->profile = new_profile(pipeline);
	session_change_profile(pipeline->session, pipeline->profile);
	return finished;
}

void pipeline_close(struct pipeline *pipeline)
{
	session_free(pipeline->session);
	profile_free(pipeline->profile);
	unwinder_free(pipeline->unwinder);
	names_free(pipeline->names);
	address_spaces_free(pipeline->spaces);
	*pipeline = (struct pipeline){0};
}
