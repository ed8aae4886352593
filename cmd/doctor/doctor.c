/*
 * prof doctor: diagnoses recording limits of this machine or a process and
 * missing symbols in a profile, and suggests commands that fix them.
 */
#include "cmd/doctor/doctor.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "cmd/command.h"
#include "cmd/doctor/doctor_fix.h"
#include "cmd/help.h"
#include "cmd/input/input.h"
#include "cmd/ui/message.h"
#include "doctor/machine_findings.h"
#include "doctor/module_advice.h"
#include "doctor/module_probe.h"
#include "doctor/module_weights.h"
#include "doctor/packages.h"
#include "doctor/process_findings.h"
#include "record/debug_fetcher.h"
#include "report/runtime_use.h"

#include <stdlib.h>
#include <string.h>

struct doctor_options {
	struct pager_options pager;
	struct input_options input;
	bool json, verbose;
	bool fixes, runs_fixes;
};

static const struct option_entry doctor_option_table[] = {
	OPTION_COMMON(OUTPUT, 'v', "verbose", NULL, "also list complete and rarely sampled modules",
		      option_true, offsetof(struct doctor_options, verbose)),
	OPTION_COMMON(OUTPUT, 0, "json", NULL, "print JSON; prof-doctor(1) describes the schema",
		      option_true, offsetof(struct doctor_options, json)),
	OPTION_COMMON(OUTPUT, 0, "fix", NULL,
		      "print the lines that let users record more; they set sysctls and "
		      "debuginfod, and mount tracefs",
		      option_true, offsetof(struct doctor_options, fixes)),
	OPTION_COMMON(OUTPUT, 0, "yes", NULL, "with --fix: run these lines (needs root)",
		      option_true, offsetof(struct doctor_options, runs_fixes)),
	PAGER_ENTRIES(struct doctor_options, pager),
	INPUT_ENTRIES(struct doctor_options, input),
	{0},
};

void diagnosis_deinit(struct diagnosis *diagnosis)
{
	findings_deinit(&diagnosis->findings);
	module_list_deinit(&diagnosis->modules);
}

static struct advice_context context_here(const struct doctor_options *options)
{
	struct advice_context context = {
		.has_debuginfod = debug_fetcher_has_servers(&options->input.symbols),
		.is_root = geteuid() == 0,
	};

	distribution_here(&context.distribution);
	return context;
}

/* JIT code belongs to the runtime whose program or library is in the list. */
static void find_runtimes(struct module_list *list)
{
	const char *path;
	enum runtime runtime = module_list_runtime(list, &path);

	for (size_t i = 0; i < list->count; i++)
		list->items[i].runtime = runtime;
}

/* Adds an archive that the package manager does not know if it has a package
 * that helps. */
static void add_archive(const struct module_list *list, const struct distribution *distribution,
			struct findings *findings)
{
	char *command = distribution_archive(distribution);

	for (size_t i = 0; i < list->count && command; i++) {
		if (!module_list_matters(list, &list->items[i]) || !list->items[i].archived)
			continue;
		findings_add(findings, &(struct finding){
					       .subject = "debug packages",
					       .state = FINDING_LIMITED,
					       .what = xstrdup("apt does not know the archive of "
							       "packages with -dbgsym"),
					       .command = STEAL(command),
				       });
	}
	free(command);
}

/* container: a process in a container, or NULL. */
static void advise(struct diagnosis *diagnosis, const struct doctor_options *options,
		   const struct process_facts *container)
{
	struct advice_context context = context_here(options);
	struct module_list *list = &diagnosis->modules;

	find_runtimes(list);
	module_list_sort(list);
	packages_find(&context.distribution, list);
	if (container)
		distribution_of_process(container->pid, container->uid, &context.distribution);
	for (size_t i = 0; i < list->count; i++)
		module_advise(&list->items[i], &context);
	module_list_sort(list);
	if (!container)
		add_archive(list, &context.distribution, &diagnosis->findings);
	diagnosis->has_modules = true;
}

static size_t mattering_modules(const struct module_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += module_list_matters(list, &list->items[i]);
	return count;
}

static void doctor_add_names(const struct module_list *list, struct findings *findings)
{
	size_t count = mattering_modules(list);

	findings_add(findings,
		     &(struct finding){
			     .subject = "names",
			     .state = !count	      ? FINDING_OK
				      : list->unnamed ? FINDING_MISSING
						      : FINDING_LIMITED,
			     .what = xasprintf("%s of the samples have a function without a "
					       "symbol; %zu of %zu modules lack symbols or lines",
					       humanize_share(list->unnamed, list->samples).text,
					       count, list->count),
		     });
}

static void doctor_add_runtimes(const struct profile *profile, struct findings *findings)
{
	struct runtime_uses uses;

	runtime_uses_count(profile, &uses);
	for (enum runtime runtime = RUNTIME_NONE + 1; runtime < RUNTIMES; runtime++) {
		const char *path = uses.of[runtime].path;

		if (runtime_is_nameless(&uses, runtime))
			findings_add(findings,
				     &(struct finding){
					     .subject = "runtime",
					     .state = FINDING_LIMITED,
					     .what = runtime_use_fact(&uses, runtime),
					     .command = xstrdup(runtime_advice(runtime, path)),
				     });
	}
}

static void examine_machine(struct diagnosis *diagnosis)
{
	CLEANUP(free_ptr) struct machine_facts *facts = xcalloc(1, sizeof(*facts));

	machine_facts_read(facts);
	machine_findings(facts, &diagnosis->findings);
}

static struct error *examine_process(pid_t pid, const struct doctor_options *options,
				     struct diagnosis *diagnosis)
{
	CLEANUP(process_facts_deinit) struct process_facts facts;

	if (!process_facts_read(pid, &facts))
		return error_new("no process %d, and no file of this name", (int)pid);
	module_probe_process(pid, &options->input.symbols, &diagnosis->modules);
	process_findings(&facts, &diagnosis->modules, &diagnosis->findings);
	advise(diagnosis, options, facts.in_container ? &facts : NULL);
	return NULL;
}

/* Folded stacks have only names. */
static bool doctor_has_modules(const struct profile *profile)
{
	for (uint32_t id = 0; id < profile_module_count(profile); id++)
		if (profile_get_module(profile, id)->kind != PROFILE_MODULE_NONE)
			return true;
	return false;
}

static void take_outcome(const struct input *input, const uint32_t *rows, struct module_list *list)
{
	for (uint32_t id = 0; id < profile_module_count(input->profile); id++)
		if (rows[id] != NO_ROW)
			listed_module_set_sources(&list->items[rows[id]],
						  &input->finalized.symbolized, id);
}

static void doctor_list_modules(const struct input *input, const struct doctor_options *options,
				struct module_list *list)
{
	CLEANUP(free_ptr) uint32_t *rows = module_weights(input->profile, list);

	if (input->is_recording) {
		take_outcome(input, rows, list);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		list->items[i].is_kept = true;
	module_probe_profile(input->profile, rows, options->input.symfs, &options->input.symbols,
			     list);
}

static struct error *examine_file(const char *path, const struct doctor_options *options,
				  struct diagnosis *diagnosis)
{
	struct input_options reading = options->input;
	CLEANUP(input_deinit) struct input input = {0};
	struct error *err;

	reading.shows_progress = !options->json;
	err = input_read(path, &reading, &input);
	if (err)
		return err;
	if (!doctor_has_modules(input.profile))
		return error_hint(error_new("%s has only function names and no modules, so prof "
					    "doctor cannot diagnose it",
					    path),
				  "record with -o prof.pb.gz");
	doctor_list_modules(&input, options, &diagnosis->modules);
	advise(diagnosis, options, NULL);
	doctor_add_names(&diagnosis->modules, &diagnosis->findings);
	doctor_add_runtimes(input.profile, &diagnosis->findings);
	findings_sort(&diagnosis->findings);
	return NULL;
}

/* Returns true for a number that is not the name of a file. */
static bool doctor_is_pid(const char *word, pid_t *ret)
{
	size_t digits = strspn(word, "0123456789");

	if (!digits || word[digits] || digits > 9 || access(word, F_OK) == 0)
		return false;
	*ret = atoi(word);
	return *ret > 0;
}

static struct error *doctor_print(const struct diagnosis *diagnosis,
				  const struct doctor_options *options)
{
	struct pager pager;
	struct error *err;

	if (options->json) {
		doctor_print_json(diagnosis, stdout);
		return NULL;
	}
	pager_open(&pager, &options->pager);
	doctor_print_text(diagnosis, options->verbose, &pager);
	err = pager_show(&pager);
	pager_close(&pager);
	return err;
}

static int examine(const char *word, const struct doctor_options *options)
{
	CLEANUP(diagnosis_deinit) struct diagnosis diagnosis = {.target = word};
	struct error *err = NULL;
	pid_t pid;

	if (!word)
		examine_machine(&diagnosis);
	else if (doctor_is_pid(word, &pid))
		err = examine_process(pid, options, &diagnosis);
	else
		err = examine_file(word, options, &diagnosis);
	if (!err)
		err = doctor_print(&diagnosis, options);
	return err ? message_failure(err) : STATUS_OK;
}

static struct error *doctor_check(const struct doctor_options *options, const char *word)
{
	if (options->runs_fixes && !options->fixes)
		return error_new("--yes is for --fix");
	if (options->fixes && (word || options->json))
		return error_new("--fix is for the machine, without a file, a process or --json");
	return NULL;
}

static int fix_machine(const struct doctor_options *options)
{
	CLEANUP(free_ptr) struct machine_facts *facts = xcalloc(1, sizeof(*facts));

	machine_facts_read(facts);
	return doctor_fix(facts, options->runs_fixes);
}

/* Options may stand in front of the operand and behind it. */
static struct error *doctor_parse(int argc, char **argv, struct doctor_options *options,
				  const char **word, enum option_group *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(doctor_option_table, argc, argv, options, &rest,
						  help);

		if (err || *help || rest >= argc)
			return err;
		if (*word)
			return error_new("more than one file or process: %s and %s", *word,
					 argv[rest]);
		*word = argv[rest];
	}
	return NULL;
}

static int doctor_run(int argc, char **argv)
{
	struct doctor_options options = {0};
	const char *word = NULL;
	enum option_group help = GROUP_NONE;
	struct error *err = doctor_parse(argc, argv, &options, &word, &help);

	if (!err && help)
		return help_print(&command_doctor, help);
	if (!err)
		err = doctor_check(&options, word);
	if (err)
		return message_failure(error_usage(error_hint(err, "see prof doctor --help")));
	return options.fixes ? fix_machine(&options) : examine(word, &options);
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "diagnose recording limits and missing symbols, and suggest fixes",
	.usage = "[FILE|PID] [options]",
	.description =
		"Reports what limits recording on this machine, what that costs, and the "
		"command that fixes it. With a PID: what recording that process needs. With a "
		"FILE, a pprof profile or a perf recording: which modules lack symbols or "
		"lines.",
	.examples = "prof doctor\n"
		    "sudo prof doctor --fix --yes\n"
		    "prof doctor prof.pb.gz\n"
		    "prof doctor $(pidof postgres)",
	.options = doctor_option_table,
	.run = doctor_run,
};
