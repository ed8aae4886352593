#include "record/local_pipeline.h"

void local_pipeline_open(struct pipeline *pipeline, const struct import_options *options)
{
	pipeline_open(pipeline, &(struct pipeline_options){
					.arch = arch_native(),
					.files =
						&(struct recorded_files){
							.symfs = options->symfs,
							.debug_dir = options->symbols.debug_dir,
							.writer = options->writer,
						},
					.depth = UNWIND_DEPTH_MAX,
				});
}

void local_pipeline_symbolize(struct pipeline *pipeline, const struct import_options *options,
			      struct symbolize_outcome *ret)
{
	session_finish(pipeline->session);
	finalize_symbols(
		&(struct finalize_options){
			.pipeline = pipeline,
			.loop = options->loop,
			.cancel = options->cancel,
			.listener = options->listener,
			.caller = options->caller,
			.symbols = options->symbols,
		},
		ret);
}
