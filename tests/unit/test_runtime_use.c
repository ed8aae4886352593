#include "report/runtime_use.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { PID = 7 };

struct process {
	struct profile *profile;
	label_set_id labels;
	uint32_t modules;
};

static void process_init(struct process *process)
{
	*process = (struct process){.profile = profile_new()};
	process->labels = profile_thread_labels(process->profile, PID, PID, "app", "app");
	profile_add_event(process->profile,
			  &(struct profile_event){
				  .name = strtab_add(profile_strings(process->profile), "cpu"),
				  .kind = VALUE_CPU_TIME});
}

/* Calls a function of a new module. name: "" if it has none. */
static stack_id push(struct process *process, stack_id caller, enum profile_module_kind kind,
		     const char *path, const char *name)
{
	struct strtab *strings = profile_strings(process->profile);
	uint32_t module = process->modules++;
	frame_id frame;

	profile_describe_module(
		process->profile, module,
		&(struct profile_module){.kind = kind, .path = strtab_add(strings, path)});
	frame = profile_frame(process->profile, module, 16, false);
	if (*name) {
		struct profile_function function = {.name = strtab_add(strings, name)};

		profile_set_lines(process->profile, frame,
				  &(struct profile_line){.function = profile_function(
								 process->profile, &function)},
				  1);
	}
	return profile_push(process->profile, caller, frame);
}

static void add(struct process *process, stack_id stack, uint64_t samples)
{
	profile_add_samples(process->profile, process->labels, stack, 0, samples, samples);
}

static void assert_text(struct process *process, const char *expected)
{
	CLEANUP(free_ptr) char *text = runtime_use_text(process->profile);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	profile_free(process->profile);
}

TEST(runtimes_are_recognized_by_the_names_of_their_files)
{
	static const struct {
		const char *path;
		enum runtime runtime;
	} cases[] = {
		{"/usr/bin/node", RUNTIME_NODE},
		{"/usr/lib/libnode.so.115", RUNTIME_NODE},
		{"/usr/bin/node_exporter", RUNTIME_NONE},
		{"/usr/bin/nodename", RUNTIME_NONE},
		{"/usr/bin/python3.11", RUNTIME_PYTHON},
		{"libpython3.12.so.1.0", RUNTIME_PYTHON},
		{"/usr/lib/jvm/lib/server/libjvm.so", RUNTIME_JAVA},
		{"/usr/share/dotnet/libcoreclr.so", RUNTIME_DOTNET},
		{"/usr/lib/libruby-3.1.so.3.1.2", RUNTIME_RUBY},
		{"/usr/sbin/php-fpm8.2", RUNTIME_PHP},
		{"/usr/lib/apache2/modules/libphp8.2.so", RUNTIME_PHP},
		{"/usr/lib/erlang/erts-13.1/bin/beam.smp", RUNTIME_BEAM},
		{"/usr/lib/libc.so.6", RUNTIME_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(runtime_of_path(cases[i].path), cases[i].runtime);
}

TEST(every_runtime_has_a_name_and_an_advice)
{
	for (enum runtime runtime = RUNTIME_NONE + 1; runtime < RUNTIMES; runtime++) {
		assert_true(*runtime_name(runtime));
		assert_true(*runtime_advice(runtime, NULL));
		assert_null(strchr(runtime_advice(runtime, NULL), '\n'));
	}
}

TEST(functions_of_an_interpreter_without_names_have_a_line)
{
	struct process process;
	stack_id main;

	process_init(&process);
	main = push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "/usr/bin/python3.12", "main");
	add(&process, push(&process, main, PROFILE_MODULE_FILE, "libc.so.6", "memcpy"), 75);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "sh", "main"), 25);
	assert_text(&process, "75.0 % of the samples are in Python, whose functions have no names: "
			      "start it with python3 -X perf (3.12 or later)");
}

TEST(an_older_python_has_no_option)
{
	struct process process;

	process_init(&process);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "python3.11", "main"), 1);
	assert_text(&process,
		    "100.0 % of the samples are in Python, whose functions have no names: "
		    "this version cannot list them; 3.12 and later can, with python3 -X perf");
}

TEST(python_lists_functions_that_begin_with_py)
{
	struct process process;
	stack_id main;

	process_init(&process);
	main = push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "python3.12", "main");
	add(&process, push(&process, main, PROFILE_MODULE_JIT, "[jit]", "py::f:/x.py"), 10);
	add(&process, main, 90);
	assert_text(&process, NULL);

	/* Code that numba has compiled. */
	process_init(&process);
	main = push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "python3.12", "main");
	add(&process, push(&process, main, PROFILE_MODULE_JIT, "[jit]", "cfunc.f"), 10);
	assert_text(&process, "100.0 % of the samples are in Python, whose functions have no "
			      "names: start it with python3 -X perf (3.12 or later)");
}

TEST(functions_that_prof_could_not_read_need_no_option)
{
	struct process process;
	stack_id main;

	process_init(&process);
	main = push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "python3.12", "main");
	add(&process,
	    profile_push(process.profile, main,
			 profile_synthetic_frame(process.profile, "[python?]")),
	    10);
	assert_text(&process, NULL);
}

TEST(compiled_code_without_callers_belongs_to_the_runtime_of_its_process)
{
	struct process process;

	process_init(&process);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "node", "main"), 10);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_JIT, "[jit]", ""), 90);
	assert_text(&process, "100.0 % of the samples are in Node.js, whose functions have no "
			      "names: start it with node --perf-basic-prof");

	process_init(&process);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_JIT, "[jit]", ""), 90);
	assert_text(&process, NULL);
}

TEST(stubs_of_java_have_names_without_its_help)
{
	struct process process;
	stack_id main;

	process_init(&process);
	main = push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "libjvm.so", "main");
	add(&process, push(&process, main, PROFILE_MODULE_JIT, "[jit]", "StubRoutines (2)"), 10);
	add(&process, push(&process, main, PROFILE_MODULE_JIT, "[jit]", ""), 90);
	assert_text(&process, "100.0 % of the samples are in Java, whose functions have no "
			      "names: record it while it runs (17 or later; another user's as "
			      "root with --java), or start it with java "
			      "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");
}

TEST(a_runtime_with_few_samples_has_no_line)
{
	struct process process;

	process_init(&process);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "node", "main"), 4);
	add(&process, push(&process, STACK_EMPTY, PROFILE_MODULE_FILE, "app", "main"), 96);
	assert_text(&process, NULL);

	process_init(&process);
	assert_text(&process, NULL);
}
