#include "report/runtime_use.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/idmap.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
	RUNTIME_LEAST_SHARE = 20, /* of the samples, for a runtime to matter: one in 20 */
	NAMED_SHARE_MAX = 20,	  /* of its samples, for it to be nameless: one in 20 */
};

/* The contents of the frames of a stack. */
struct runtime_stack {
	enum runtime runtime; /* of the innermost frame in a runtime's file */
	bool has_code;	      /* JIT code */
	uint16_t listed;      /* bits of the runtimes that may have listed a function */
};

struct runtime_scan {
	const struct profile *profile;
	enum runtime *modules;	      /* by module */
	struct runtime_stack *stacks; /* by stack */
	struct idmap processes;	      /* pid → runtime of its samples */
	struct runtime_uses *uses;
};

static void scan_modules(struct runtime_scan *scan)
{
	uint32_t count = profile_module_count(scan->profile);

	scan->modules = xcalloc(count, sizeof(*scan->modules));
	for (uint32_t id = 0; id < count; id++) {
		const struct profile_module *module = profile_get_module(scan->profile, id);
		const char *path = profile_string(scan->profile, module->path);

		if (module->kind != PROFILE_MODULE_FILE)
			continue;
		scan->modules[id] = runtime_of_path(path);
		scan->uses->of[scan->modules[id]].path = path;
	}
}

/*
 * Returns the runtimes that may have listed the function of a frame of JIT code
 * or of an interpreter.
 */
static uint16_t listed_by(const struct profile *profile, const struct profile_frame *frame)
{
	uint16_t listed = 0;

	for (unsigned i = 0; i < frame->line_count; i++) {
		const struct profile_function *function =
			profile_get_function(profile, frame->lines[i].function);
		const char *name = profile_string(profile, function->name);

		/* HotSpot's stubs have names without its help. */
		if (text_begins(name, "StubRoutines ("))
			continue;
		for (enum runtime runtime = RUNTIME_NONE + 1; runtime < RUNTIMES; runtime++)
			if (text_begins(name, runtime_prefix(runtime)))
				listed |= (uint16_t)(1 << runtime);
	}
	return listed;
}

/*
 * Returns the runtime whose functions prof reads itself and could not read for
 * this stack. They have names otherwise, and the summary counts these samples.
 */
static uint16_t unread_by(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_function *function;

	if (frame->module != PROFILE_SYNTHETIC || !frame->line_count)
		return 0;
	function = profile_get_function(profile, frame->lines[0].function);
	return strcmp(profile_string(profile, function->name), "[python?]") ? 0
									    : 1 << RUNTIME_PYTHON;
}

/* A caller has a smaller id than its callees. */
static void scan_stacks(struct runtime_scan *scan)
{
	const struct profile_stacks stacks = profile_stacks(scan->profile);
	uint32_t modules = profile_module_count(scan->profile);

	scan->stacks = xcalloc(stacks.count, sizeof(*scan->stacks));
	for (stack_id id = STACK_EMPTY + 1; id < stacks.count; id++) {
		struct profile_frame frame = profile_get_frame(scan->profile,
							       stacks.items[id].frame);
		struct runtime_stack *stack = &scan->stacks[id];
		enum profile_module_kind kind;

		*stack = scan->stacks[stacks.items[id].parent];
		stack->listed |= unread_by(scan->profile, &frame);
		if (frame.module >= modules)
			continue;
		if (scan->modules[frame.module])
			stack->runtime = scan->modules[frame.module];
		kind = profile_get_module(scan->profile, frame.module)->kind;
		if (kind != PROFILE_MODULE_JIT && kind != PROFILE_MODULE_INTERPRETED)
			continue;
		stack->has_code |= kind == PROFILE_MODULE_JIT;
		stack->listed |= listed_by(scan->profile, &frame);
	}
}

static uint64_t pid_of(const struct runtime_scan *scan, const struct profile_sample *sample)
{
	return (uint64_t)profile_thread_of(scan->profile, sample->labels)->pid;
}

static void scan_processes(struct runtime_scan *scan)
{
	const struct profile_samples samples = profile_samples(scan->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		enum runtime runtime = scan->stacks[samples.items[i].stack].runtime;

		if (runtime)
			*idmap_put(&scan->processes, pid_of(scan, &samples.items[i]), 0) = runtime;
	}
}

static void count_sample(struct runtime_scan *scan, const struct profile_sample *sample)
{
	const struct runtime_stack *stack = &scan->stacks[sample->stack];
	uint32_t runtime = stack->runtime;

	scan->uses->samples += sample->samples;
	if (!runtime && stack->has_code)
		runtime = idmap_get(&scan->processes, pid_of(scan, sample), 0);
	if (!runtime || runtime == IDMAP_NONE)
		return;
	scan->uses->of[runtime].samples += sample->samples;
	if (stack->listed & 1 << runtime)
		scan->uses->of[runtime].named += sample->samples;
}

void runtime_uses_count(const struct profile *profile, struct runtime_uses *ret)
{
	const struct profile_samples samples = profile_samples(profile);
	struct runtime_scan scan = {.profile = profile, .uses = ret};

	*ret = (struct runtime_uses){0};
	scan_modules(&scan);
	scan_stacks(&scan);
	scan_processes(&scan);
	for (uint64_t i = 0; i < samples.count; i++)
		count_sample(&scan, &samples.items[i]);
	idmap_deinit(&scan.processes);
	free(scan.stacks);
	free(scan.modules);
}

bool runtime_is_nameless(const struct runtime_uses *uses, enum runtime runtime)
{
	const struct runtime_use *use = &uses->of[runtime];

	return use->samples && use->samples * RUNTIME_LEAST_SHARE >= uses->samples &&
	       use->named * NAMED_SHARE_MAX <= use->samples;
}

char *runtime_use_fact(const struct runtime_uses *uses, enum runtime runtime)
{
	return xasprintf("%s of the samples are in %s, whose functions have no names",
			 humanize_share(uses->of[runtime].samples, uses->samples).text,
			 runtime_name(runtime));
}

char *runtime_use_text(const struct profile *profile)
{
	struct runtime_uses uses;
	char *text = NULL;

	runtime_uses_count(profile, &uses);
	for (enum runtime runtime = RUNTIME_NONE + 1; runtime < RUNTIMES; runtime++) {
		CLEANUP(free_ptr) char *before = text;
		CLEANUP(free_ptr) char *fact = NULL;

		if (!runtime_is_nameless(&uses, runtime)) {
			before = NULL;
			continue;
		}
		fact = runtime_use_fact(&uses, runtime);
		text = xasprintf("%s%s%s: %s", before ? before : "", before ? "\n" : "", fact,
				 runtime_advice(runtime, uses.of[runtime].path));
	}
	return text;
}
