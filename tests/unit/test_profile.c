#include "profile/profile.h"
#include "profile/transfer.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

static string_id text(struct profile *profile, const char *str)
{
	return strtab_add(profile_strings(profile), str);
}

static function_id function(struct profile *profile, const char *name)
{
	return profile_function(profile, &(struct profile_function){
						 .name = text(profile, name),
						 .system_name = text(profile, name),
					 });
}

TEST(equal_arguments_give_equal_ids)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_event event = {.name = text(profile, "cpu-clock"), .kind = VALUE_CPU_TIME};
	frame_id frame = profile_frame(profile, 3, 0x1000, false);
	stack_id stack = profile_push(profile, STACK_EMPTY, frame);

	assert_int_equal(profile_add_event(profile, &event), profile_add_event(profile, &event));
	assert_int_equal(profile_frame(profile, 3, 0x1000, false), frame);
	assert_int_equal(profile_push(profile, STACK_EMPTY, frame), stack);
	assert_int_equal(profile_thread_labels(profile, 1, 2, "p", "t"),
			 profile_thread_labels(profile, 1, 2, "p", "t"));
	assert_int_equal(function(profile, "f"), function(profile, "f"));
	assert_int_equal(profile_event_count(profile), 1);
	assert_int_equal(profile_frame_count(profile), 1);
	assert_int_equal(profile_stacks(profile).count, 2);
	assert_int_equal(profile_thread_count(profile), 1);
	assert_int_equal(profile_function_count(profile), 1);
}

TEST(frames_differ_by_module_offset_and_kind_of_address)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	static const uint64_t offsets[] = {0, 1, UINT64_MAX >> 1, 1ull << 63, UINT64_MAX};

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < ARRAY_SIZE(offsets) * 6; i++)
			assert_int_equal(profile_frame(profile, i / 2 % 3, offsets[i / 6], i % 2),
					 i);
	for (uint32_t i = 0; i < profile_frame_count(profile); i++) {
		struct profile_frame frame = profile_get_frame(profile, i);

		assert_int_equal(frame.module, i / 2 % 3);
		assert_int_equal(frame.offset, offsets[i / 6]);
		assert_int_equal(frame.is_return_address, i % 2);
		assert_int_equal(frame.line_count, 0);
	}
}

TEST(threads_and_functions_differ_by_each_of_their_parts)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();

	profile_thread_labels(profile, 1, 2, "p", "t");
	profile_thread_labels(profile, 2, 2, "p", "t");
	profile_thread_labels(profile, 1, 1, "p", "t");
	profile_thread_labels(profile, 1, 2, "t", "t");
	profile_thread_labels(profile, 1, 2, "p", "p");
	assert_int_equal(profile_thread_count(profile), 5);
	for (uint32_t i = 0; i < 16; i++)
		profile_function(profile, &(struct profile_function){.name = i & 1,
								     .system_name = i >> 1 & 1,
								     .file = i >> 2 & 1,
								     .start_line = i >> 3});
	assert_int_equal(profile_function_count(profile), 16);
}

TEST(label_sets_are_equal_whatever_the_order_of_their_keys)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_thread thread = {.pid = 1, .tid = 2};
	/* ids are not in the order of the texts */
	string_id a = text(profile, "z"), b = text(profile, "a");
	struct profile_label labels[] = {
		{.key = a, .text = text(profile, "x")},
		{.key = b, .number = 5, .unit = text(profile, "bytes")},
		{.key = a, .text = text(profile, "w")},
	};
	struct profile_label other_order[] = {labels[1], labels[0], labels[2]};
	struct profile_label other_values[] = {labels[2], labels[0], labels[1]};
	label_set_id set = profile_label_set(profile, &thread, labels, 3);
	const struct profile_label_set *got = profile_get_label_set(profile, set);

	assert_int_equal(profile_label_set(profile, &thread, other_order, 3), set);
	assert_int_not_equal(profile_label_set(profile, &thread, other_values, 3), set);
	assert_int_equal(got->count, 3);
	assert_int_equal(got->labels[0].key, b);
	assert_int_equal(got->labels[1].text, labels[0].text);
	assert_int_equal(got->labels[2].text, labels[2].text);
}

TEST(label_sets_differ_by_thread_and_by_each_part_of_a_label)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	string_id x = text(profile, "x"), y = text(profile, "y");

	for (unsigned repeat = 0; repeat < 2; repeat++) {
		for (pid_t pid = 0; pid < 2; pid++) {
			struct profile_thread thread = {.pid = pid, .tid = 1};

			profile_label_set(profile, &thread, NULL, 0);
			for (unsigned i = 0; i < 16; i++)
				profile_label_set(profile, &thread,
						  &(struct profile_label){
							  .key = i & 1 ? x : y,
							  .text = i & 2 ? x : y,
							  .unit = i & 4 ? x : y,
							  .number = i >> 3,
						  },
						  1);
		}
	}
	assert_int_equal(profile_label_set_count(profile), 2 * 17);
	assert_int_equal(profile_thread_count(profile), 2);
}

TEST(a_stack_knows_its_parent_and_its_depth)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	frame_id frame = profile_frame(profile, 0, 0x10, false);
	stack_id stack = STACK_EMPTY;

	for (uint32_t depth = 1; depth <= 1000; depth++) {
		stack_id deeper = profile_push(profile, stack, frame);

		assert_int_equal(profile_stacks(profile).items[deeper].parent, stack);
		assert_int_equal(profile_stacks(profile).items[deeper].depth, depth);
		stack = deeper;
	}
	assert_int_equal(profile_stacks(profile).items[STACK_EMPTY].depth, 0);
	assert_int_equal(profile_stacks(profile).count, 1001);
}

TEST(samples_add_up_by_stack_labels_and_event)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	frame_id frame = profile_frame(profile, 0, 0x10, false);
	stack_id root = profile_push(profile, STACK_EMPTY, frame);
	stack_id stacks[2] = {root, profile_push(profile, root, frame)};

	profile_add_event(profile, &(struct profile_event){.name = text(profile, "cycles")});
	profile_add_event(profile, &(struct profile_event){.name = text(profile, "faults")});
	for (unsigned i = 0; i < 8 * 100; i++)
		profile_add(profile, i & 1, stacks[i >> 1 & 1], i >> 2 & 1, i & 7);
	assert_int_equal(profile_samples(profile).count, 8);
	for (unsigned i = 0; i < 8; i++) {
		const struct profile_sample *sample = &profile_samples(profile).items[i];

		assert_int_equal(sample->labels, i & 1);
		assert_int_equal(sample->stack, stacks[i >> 1 & 1]);
		assert_int_equal(sample->event, i >> 2 & 1);
		assert_int_equal(sample->samples, 100);
		assert_int_equal(sample->weight, 100 * i);
	}
}

TEST(a_sample_without_frames_is_of_an_unnamed_function)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	stack_id unnamed = profile_push(profile, STACK_EMPTY,
					profile_synthetic_frame(profile, "[unnamed]"));

	profile_add_event(profile, &(struct profile_event){.name = text(profile, "cycles")});
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(profile_add(profile, 0, STACK_EMPTY, 0, 3), 0);
	assert_int_equal(profile_samples(profile).count, 1);
	assert_int_equal(profile_samples(profile).items[0].stack, unnamed);
	assert_int_equal(profile_samples(profile).items[0].weight, 6);
}

TEST(a_module_is_named_once_a_frame_of_it_is)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_module file = {.path = text(profile, "/bin/x")};
	struct profile_line line = {.function = function(profile, "f"), .line = 7};
	frame_id frames[2];

	profile_describe_module(profile, 1, &file);
	for (uint32_t i = 0; i < 2; i++)
		frames[i] = profile_frame(profile, i, 0x10, false);
	profile_set_lines(profile, frames[0], &line, 0);
	assert_false(profile_get_module(profile, 0)->named);
	for (uint32_t i = 0; i < 2; i++)
		profile_set_lines(profile, frames[i], &line, 1);
	profile_describe_module(profile, 0, &file);
	assert_int_equal(profile_module_count(profile), 2);
	assert_true(profile_get_module(profile, 0)->named);
	assert_true(profile_get_module(profile, 1)->named);
	assert_int_equal(profile_get_frame(profile, frames[0]).lines[0].line, 7);
}

TEST(arguments_are_copied)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct profile_segment segment = {.offset = 0x1000, .vaddr = 0x2000, .size_bytes = 0x100};
	struct profile_line lines[] = {{.function = 0, .line = 1}, {.function = 1, .line = 2}};
	char command[] = "prof record";
	frame_id frame = profile_frame(profile, 0, 0x1010, false);

	profile_describe_module(profile, 0,
				&(struct profile_module){.segments = &segment, .segment_count = 1});
	profile_set_lines(profile, frame, lines, 2);
	profile_set_info(profile, &(struct profile_info){.command = command});
	memset(&segment, 0xff, sizeof(segment));
	memset(lines, 0xff, sizeof(lines));
	memset(command, '?', sizeof(command));
	assert_int_equal(profile_frame_vaddr(profile, frame), 0x2010);
	assert_int_equal(profile_get_frame(profile, frame).line_count, 2);
	assert_int_equal(profile_get_frame(profile, frame).lines[1].line, 2);
	assert_string_equal(profile_get_info(profile)->command, "prof record");
	assert_string_equal(profile_get_info(profile)->host, "");
}

TEST(a_note_is_a_named_frame_outside_the_modules)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	frame_id id = profile_synthetic_frame(profile, "[truncated]");
	struct profile_frame frame = profile_get_frame(profile, id);

	assert_int_equal(profile_synthetic_frame(profile, "[truncated]"), id);
	assert_int_not_equal(profile_synthetic_frame(profile, "[other]"), id);
	assert_int_equal(frame.module, PROFILE_SYNTHETIC);
	assert_int_equal(profile_get_module(profile, frame.module)->kind, PROFILE_MODULE_SYNTHETIC);
	assert_int_equal(profile_module_count(profile), 0);
	assert_int_equal(frame.line_count, 1);
	assert_string_equal(
		profile_string(profile,
			       profile_get_function(profile, frame.lines[0].function)->name),
		"[truncated]");
}

static void assert_text(const struct profile *profile, frame_id id, const char *text)
{
	struct profile_frame frame = profile_get_frame(profile, id);

	assert_int_equal(frame.line_count, 1);
	assert_string_equal(
		profile_string(profile,
			       profile_get_function(profile, frame.lines[0].function)->name),
		text);
}

TEST(when_too_many_frames_are_quoted_the_former_ones_still_are)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	frame_id quoted = profile_frame(profile, 0, 0x10, false), first, last;

	first = profile_quoting_frame(profile, "[held by first", " in ", quoted, "]");
	for (int i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "[held by %d", i);
		last = profile_quoting_frame(profile, name, " in ", quoted, "]");
	}
	assert_int_equal(last, profile_synthetic_frame(profile, "[held by 1999]"));
	assert_int_equal(profile_quoting_frame(profile, "[held by first", " in ", quoted, "]"),
			 first);
}

TEST(a_frame_that_quotes_another_one_gets_its_name)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(profile_cleanup) struct profile *copy = profile_new();
	struct idmap modules = {0};
	struct transfer transfer;
	frame_id quoted = profile_frame(profile, 0, 0x100, false);
	frame_id id = profile_quoting_frame(profile, "[held by worker", " in ", quoted, "]");
	string_id name = strtab_add(profile_strings(profile), "holds_lock");
	struct profile_function function = {.name = name, .system_name = name};
	struct profile_line line = {.function = profile_function(profile, &function)};
	event_id event = profile_add_event(profile, &(struct profile_event){.name = name});
	const struct profile_sample *sample;

	assert_int_equal(profile_quoting_frame(profile, "[held by worker", " in ", quoted, "]"),
			 id);
	assert_text(profile, id, "[held by worker]");
	profile_set_lines(profile, quoted, &line, 1);
	assert_text(profile, id, "[held by worker in holds_lock]");
	profile_add(profile, profile_thread_labels(profile, 1, 1, "a", "a"),
		    profile_push(profile, STACK_EMPTY, id), event, 1);
	transfer_init(&transfer, profile, copy, &modules);
	transfer_add(&transfer, &profile_samples(profile).items[0], 1, 1);
	transfer_deinit(&transfer);
	idmap_deinit(&modules);
	sample = &profile_samples(copy).items[0];
	assert_text(copy, profile_stacks(copy).items[sample->stack].frame,
		    "[held by worker in holds_lock]");
}

TEST(a_quoted_frame_is_named_after_the_innermost_function_of_the_program)
{
	static const char *const names[] = {"__gthread_mutex_lock", "std::mutex::lock()",
					    "Journal::append()", "Pool::work()",
					    "std::_Function_handler::_M_invoke()"};
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	frame_id quoted = profile_frame(profile, 0, 0x100, false);
	frame_id other = profile_frame(profile, 0, 0x200, false);
	frame_id id = profile_quoting_frame(profile, "[held by worker", " in ", quoted, "]");
	frame_id lock = profile_quoting_frame(profile, "[held by worker", " in ", other, "]");
	struct profile_line lines[ARRAY_SIZE(names)] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		string_id name = strtab_add(profile_strings(profile), names[i]);

		lines[i].function = profile_function(
			profile, &(struct profile_function){.name = name, .system_name = name});
	}
	profile_set_lines(profile, quoted, lines, ARRAY_SIZE(lines));
	profile_set_lines(profile, other, lines, 2);
	assert_text(profile, id, "[held by worker in Journal::append()]");
	assert_text(profile, lock, "[held by worker in std::mutex::lock()]");
}

TEST(an_offset_becomes_an_address_through_its_segment)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	/* As lld lays out a program: adjacent in the file, apart in memory. */
	static const struct profile_segment segments[] = {
		{.offset = 0x1000, .vaddr = 0x2000, .size_bytes = 0x500},
		{.offset = 0x1500, .vaddr = 0x3500, .size_bytes = 0x100},
	};
	static const struct {
		uint64_t offset;
		bool is_return_address;
		uint64_t vaddr, address;
	} cases[] = {
		{0x0fff, false, 0x0fff, 0x0fff}, {0x1000, false, 0x2000, 0x2000},
		{0x14ff, false, 0x24ff, 0x24ff}, {0x1500, false, 0x3500, 0x3500},
		{0x1500, true, 0x2500, 0x24ff},	 {0x1501, true, 0x3501, 0x3500},
		{0x1600, true, 0x3600, 0x35ff},	 {0x1600, false, 0x1600, 0x1600},
	};

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text(profile, "/lib/libfoo.so"),
							 .segments = segments,
							 .segment_count = ARRAY_SIZE(segments)});
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		frame_id frame = profile_frame(profile, 0, cases[i].offset,
					       cases[i].is_return_address);

		assert_int_equal(profile_frame_vaddr(profile, frame), cases[i].vaddr);
		assert_int_equal(profile_frame_address(profile, frame), cases[i].address);
	}
}

TEST(a_frame_without_a_name_is_called_by_its_module_and_address)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	static const struct {
		const char *path, *name;
	} cases[] = {
		{"/usr/lib/libfoo.so", "[libfoo.so+0x1a2b]"},
		{"[kernel.kallsyms]", "[kernel.kallsyms+0x1a2b]"},
		{"memfd:code", "[memfd:code+0x1a2b]"},
		{"[unknown]", "[unknown+0x1a2b]"},
		{"", "[unknown+0x1a2b]"},
		{"/", "[unknown+0x1a2b]"},
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) char *name = NULL;

		profile_describe_module(
			profile, i, &(struct profile_module){.path = text(profile, cases[i].path)});
		name = profile_frame_address_name(profile, profile_frame(profile, i, 0x1a2c, true));
		assert_string_equal(name, cases[i].name);
	}
}

TEST(a_frame_without_a_name_is_called_by_the_start_of_its_function)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(profile_cleanup) struct profile *copy = profile_new();
	frame_id frame = profile_frame(profile, 0, 0x1a2c, true), copied;
	CLEANUP(idmap_deinit) struct idmap modules = {0};
	CLEANUP(free_ptr) char *name = NULL;
	struct transfer transfer;

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text(profile, "/lib/libfoo.so")});
	assert_int_equal(profile_frame_function_address(profile, frame), 0x1a2b);
	profile_set_into_function(profile, frame, 0x2b);
	name = profile_frame_address_name(profile, frame);
	assert_string_equal(name, "[libfoo.so+0x1a00]");
	assert_int_equal(profile_frame_address(profile, frame), 0x1a2b);
	transfer_init(&transfer, profile, copy, &modules);
	copied = transfer_frame(&transfer, frame);
	transfer_deinit(&transfer);
	assert_int_equal(profile_frame_function_address(copy, copied), 0x1a00);
	profile_set_lines(profile, frame, &(struct profile_line){.function = 0}, 1);
	assert_int_equal(profile_frame_into_function(profile, frame), 0);
}

TEST(named_frames_of_equal_content_are_one_frame)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	string_id name = text(profile, "f"), file = text(profile, "f.py");
	struct profile_function function = {.name = name, .system_name = name, .file = file};
	struct profile_line lines[] = {
		{.function = profile_function(profile, &function), .line = 7},
		{.function = profile_function(profile, &function), .line = 8}};
	frame_id frame = profile_named_frame(profile, 0, 0, lines, 1);

	assert_int_equal(profile_named_frame(profile, 0, 0, lines, 1), frame);
	assert_int_not_equal(profile_named_frame(profile, 0, 0, lines + 1, 1), frame);
	assert_int_not_equal(profile_named_frame(profile, 0, 0, lines, 2), frame);
	assert_int_not_equal(profile_named_frame(profile, 1, 0, lines, 1), frame);
	assert_int_not_equal(profile_named_frame(profile, 0, 16, lines, 1), frame);
	assert_int_not_equal(profile_frame(profile, 0, 0, false), frame);
	assert_int_equal(profile_frame_count(profile), 6);
}
