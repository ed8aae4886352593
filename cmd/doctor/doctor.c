/*
 * prof doctor: what stands in the way of good profiles on this machine, of a process, or of the
 * names in a profile, and the command that helps.
 */
#include "cmd/doctor/doctor.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "cmd/command.h"
#include "cmd/doctor/machine_findings.h"
#include "cmd/doctor/module_advice.h"
#include "cmd/doctor/module_probe.h"
#include "cmd/doctor/module_weights.h"
#include "cmd/doctor/packages.h"
#include "cmd/doctor/process_findings.h"
#include "cmd/input.h"
#include "cmd/ui/message.h"
#include "record/debug_fetcher.h"

#include <stdlib.h>
#include <string.h>

struct doctor_options {
	struct pager_options pager;
	struct input_options input;
	bool json, verbose;
};

static const struct option_entry table[] = {
	OPTION_ENTRY('v', "verbose", NULL, "also list modules that lack nothing or matter little",
		     option_true, offsetof(struct doctor_options, verbose)),
	OPTION_ENTRY(0, "json", NULL, "print JSON", option_true,
		     offsetof(struct doctor_options, json)),
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

/* JIT code is of the runtime whose program or library is there. */
static void find_jits(struct module_list *list)
{
	enum jit jit = JIT_UNKNOWN;

	for (size_t i = 0; i < list->count && jit == JIT_UNKNOWN; i++)
		if (list->items[i].kind == PROFILE_MODULE_FILE)
			jit = jit_of_path(list->items[i].path);
	for (size_t i = 0; i < list->count; i++)
		list->items[i].jit = jit;
}

/* If a package that helps is in an archive that the package manager does not know. */
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

/* container: a process in one, or NULL. */
static void advise(struct diagnosis *diagnosis, const struct doctor_options *options,
		   const struct process_facts *container)
{
	struct advice_context context = context_here(options);
	struct module_list *list = &diagnosis->modules;

	find_jits(list);
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

static void add_names(const struct module_list *list, struct findings *findings)
{
	size_t count = mattering_modules(list);

	findings_add(findings,
		     &(struct finding){
			     .subject = "names",
			     .state = !count	      ? FINDING_OK
				      : list->unnamed ? FINDING_MISSING
						      : FINDING_LIMITED,
			     .what = xasprintf("%s of the samples have a function without a name; "
					       "%zu of %zu modules lack names or lines",
					       humanize_share(list->unnamed, list->samples).text,
					       count, list->count),
		     });
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

/* Folded stacks have names only. */
static bool has_modules(const struct profile *profile)
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

static void list_modules(const struct input *input, const struct doctor_options *options,
			 struct module_list *list)
{
	CLEANUP(free_ptr) uint32_t *rows = module_weights(input->profile, list);

	if (input->is_recording) {
		take_outcome(input, rows, list);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		list->items[i].is_kept = true;
	module_probe_profile(input->profile, rows, &options->input, list);
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
	if (!has_modules(input.profile))
		return error_hint(error_new("%s has names only, no modules: it cannot say what is "
					    "missing",
					    path),
				  "record with -o prof.pb.gz");
	list_modules(&input, options, &diagnosis->modules);
	advise(diagnosis, options, NULL);
	add_names(&diagnosis->modules, &diagnosis->findings);
	findings_sort(&diagnosis->findings);
	return NULL;
}

/* A number that is not the name of a file. */
static bool is_pid(const char *word, pid_t *ret)
{
	size_t digits = strspn(word, "0123456789");

	if (!digits || word[digits] || digits > 9 || access(word, F_OK) == 0)
		return false;
	*ret = atoi(word);
	return *ret > 0;
}

static struct error *print(const struct diagnosis *diagnosis, const struct doctor_options *options)
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
	else if (is_pid(word, &pid))
		err = examine_process(pid, options, &diagnosis);
	else
		err = examine_file(word, options, &diagnosis);
	if (!err)
		err = print(&diagnosis, options);
	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

static int print_help(void)
{
	printf("Usage: prof doctor [FILE|PID] [options]\n\n"
	       "Says what stands in the way of good profiles, what that costs, and the command "
	       "that helps:\non this machine; of a process; or for the names and lines in a "
	       "profile (pprof) or\na recording of perf.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

/* Options may stand in front of the operand and behind it. */
static struct error *parse(int argc, char **argv, struct doctor_options *options, const char **word,
			   bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, options, &rest, help);

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
	bool help = false;
	struct error *err = parse(argc, argv, &options, &word, &help);

	if (!err && help)
		return print_help();
	if (err)
		return message_failure(error_hint(err, "prof doctor --help says more"),
				       STATUS_USAGE);
	return examine(word, &options);
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say what limits profiles here, or names in a profile, and what helps",
	.options = table,
	.run = doctor_run,
};
