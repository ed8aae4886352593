#include "base/gzip.h"
#include "format/pprof/read.h"
#include "output.h"
#include "report/display_labels.h"
#include "sample_profile.h"
#include "unit_test.h"

enum { INTERPRETER, PYTHON };

#define FOLDED                                                                                     \
	"app;_start;py::main_[j];eval 1\n"                                                         \
	"app;_start;py::main_[j];eval;py::step_[j] 2\n"

/* A Python program: main() calls step() twice, with C code of the interpreter
 * in between. */
static struct profile *python_profile(void)
{
	struct profile *profile = profile_new();
	const struct profile_line lines[] = {
		{.function = add_function(profile, "py::main", "py::main", "app.py", 10),
		 .line = 12},
		{.function = add_function(profile, "py::step", "py::step", "lib/step.py", 3),
		 .line = 5},
		{.function = add_function(profile, "py::step", "py::step", "lib/step.py", 3),
		 .line = 7},
	};
	label_set_id thread = profile_thread_labels(profile, 1, 1, "app", "app");
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	stack_id main, calls;

	profile_describe_module(profile, INTERPRETER,
				&(struct profile_module){.path = text_of(profile, "/bin/python3"),
							 .is_main = true});
	profile_describe_module(profile, PYTHON,
				&(struct profile_module){.kind = PROFILE_MODULE_INTERPRETED,
							 .path = text_of(profile, "[python]")});
	main = profile_push(profile, STACK_EMPTY,
			    add_frame(profile, (const char *const[]){"_start", NULL}));
	main = profile_push(profile, main, profile_named_frame(profile, PYTHON, 0, &lines[0], 1));
	calls = profile_push(profile, main,
			     add_frame(profile, (const char *const[]){"eval", NULL}));
	profile_add(profile, thread, calls, event, 1000);
	for (size_t i = 1; i < ARRAY_SIZE(lines); i++)
		profile_add(profile, thread,
			    profile_push(profile, calls,
					 profile_named_frame(profile, PYTHON, 0, &lines[i], 1)),
			    event, 1000 * i);
	return profile;
}

static struct output written(const struct format *format, struct format_options options)
{
	CLEANUP(profile_cleanup) struct profile *profile = python_profile();

	return output_of(format, profile, options);
}

TEST(interpreted_functions_are_code_of_their_own_kind)
{
	CLEANUP(profile_cleanup) struct profile *profile = python_profile();
	CLEANUP(display_labels_deinit) struct display_labels labels;
	unsigned interpreted = 0;

	display_labels_init(&labels, profile);
	for (uint32_t i = 0; i < labels.count; i++) {
		enum code_kind expected = strncmp(labels.items[i].name, "py::", 4)
						  ? CODE_USER
						  : CODE_INTERPRETED;

		assert_int_equal(display_labels_code(&labels, i, false), expected);
		interpreted += expected == CODE_INTERPRETED;
	}
	assert_int_equal(interpreted, 2);
	assert_string_equal(display_module_name(profile, PYTHON), "[python]");
}

TEST(folded_stacks_mark_them_as_not_native)
{
	CLEANUP(output_deinit)
	struct output folded = written(&format_folded,
				       (struct format_options){.folded.annotate = true});

	assert_string_equal(folded.data, FOLDED);
}

TEST(the_svg_has_their_colour_in_its_legend)
{
	CLEANUP(output_deinit)
	struct output svg = written(&format_svg, (struct format_options){0});

	assert_holds(&svg, ">interpreted</text>");
	assert_holds(&svg, "<title>py::main (3 samples, 100.00%, interpreted)</title>"
			   "<rect class=\"interpreted");
	assert_holds(&svg, ".interpreted {");
}

TEST(speedscope_shows_their_files_and_lines)
{
	CLEANUP(output_deinit)
	struct output speedscope = written(&format_speedscope, (struct format_options){0});

	assert_holds(&speedscope, "{\"name\":\"py::main\",\"file\":\"app.py\"");
}

TEST(perf_text_names_the_interpreter_as_their_module)
{
	CLEANUP(output_deinit)
	struct output text = written(&format_perf_script, (struct format_options){0});

	assert_holds(&text, "\t               0 py::main ([python])\n");
}

TEST(the_firefox_profiler_has_a_category_for_them)
{
	CLEANUP(output_deinit)
	struct output packed = written(&format_firefox, (struct format_options){0});
	FILE *in = fmemopen(packed.data, packed.len, "r");
	FILE *gzip = gzip_reader(in, 1 << 20);
	CLEANUP(output_deinit) struct output json = {.data = calloc(1, 1 << 20)};

	json.len = fread(json.data, 1, (1 << 20) - 1, gzip);
	assert_int_equal(fclose(gzip), 0);
	fclose(in);
	assert_holds(&json, "{\"name\":\"interpreted\",\"color\":\"purple\"");
	/* The frames are _start, py::main, eval, and py::step twice. */
	assert_holds(&json, "\"address\":[1,-1,33,-1,-1]");
	assert_holds(&json, "\"category\":[1,5,1,5,5]");
}

TEST(pprof_gives_back_their_kind_and_their_lines)
{
	CLEANUP(output_deinit)
	struct output pprof = written(&format_pprof, (struct format_options){0});
	CLEANUP(close_file) FILE *in = fmemopen(pprof.data, pprof.len, "r");
	CLEANUP(profile_cleanup) struct profile *again = profile_new();
	CLEANUP(error_cleanup) struct error *err = pprof_read(in, again);
	unsigned lines = 0;

	assert_null(err);
	for (frame_id i = 0; i < profile_frame_count(again); i++) {
		struct profile_frame frame = profile_get_frame(again, i);
		const struct profile_module *module = profile_get_module(again, frame.module);

		if (module->kind != PROFILE_MODULE_INTERPRETED)
			continue;
		assert_string_equal(profile_string(again, module->path), "[python]");
		assert_int_equal(frame.line_count, 1);
		lines += frame.lines[0].line;
	}
	assert_int_equal(lines, 12 + 5 + 7);
	CLEANUP(output_deinit)
	struct output folded = output_of(&format_folded, again,
					 (struct format_options){.folded.annotate = true});
	assert_string_equal(folded.data, FOLDED);
}
