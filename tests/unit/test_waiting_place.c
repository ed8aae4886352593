#include "report/rows.h"
#include "report/waiting_place.h"

#include "unit_test.h"
#include "waiting_profile.h"

#include <string.h>

static const struct row *row_called(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(rows->items[i].name, name))
			return &rows->items[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void assert_row(const struct view *view, const struct rows *rows, const char *name,
		       uint64_t self_ms, uint64_t total_ms, const char *reason)
{
	const struct row *row = row_called(rows, name);
	const char *found = row->reason == ROW_NO_LABEL ? "" : view->labels.items[row->reason].name;

	assert_int_equal(row->self.weight, self_ms * MS);
	assert_int_equal(row->total.weight, total_ms * MS);
	assert_string_equal(found, reason);
}

TEST(the_function_that_waits_has_the_self_time_of_its_waits)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(false);
	struct view view;
	struct rows rows;

	view_init(&view, profile, 1);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_row(&view, &rows, "main", 700, 700, "[futex]");
	assert_row(&view, &rows, "holds_lock", 500, 500, "[mutex held by shop in crunch]");
	assert_int_equal(row_called(&rows, "holds_lock")->reason_weight, 400 * MS);
	CLEANUP(free_ptr) char *most = row_reason(&view, row_called(&rows, "holds_lock"));
	CLEANUP(free_ptr) char *all = row_reason(&view, row_called(&rows, "naps"));
	CLEANUP(free_ptr) char *none = row_reason(&view, row_called(&rows, "worker"));
	assert_string_equal(most, "[mutex held by shop in crunch] 80.0 %");
	assert_string_equal(all, "[nanosleep]");
	assert_string_equal(none, "");
	assert_row(&view, &rows, "naps", 300, 300, "[nanosleep]");
	assert_row(&view, &rows, "worker", 0, 800, "");
	assert_row(&view, &rows, "[futex]", 0, 700, "");
	rows_deinit(&rows);
	rows_init(&rows, &view, ROW_THREAD);
	assert_row(&view, &rows, "worker", 800, 800, "[mutex held by shop in crunch]");
	assert_row(&view, &rows, "shop", 700, 700, "[futex]");
	rows_deinit(&rows);
	view_deinit(&view);
	view_init(&view, profile, 0);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_row(&view, &rows, "std::this_thread::sleep_for", 50, 50, "");
	rows_deinit(&rows);
	view_deinit(&view);
}

TEST(a_lock_that_many_hold_in_turn_is_one_reason)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id off = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	stack_id append = STACK(profile, "append");
	struct view view;
	struct rows rows;

	profile_add(profile, thread, reason_at(profile, append, "[nanosleep]"), off, 4 * MS);
	profile_add(profile, thread, reason_at(profile, append, "[mutex held by a]"), off, 2 * MS);
	profile_add(profile, thread, reason_at(profile, append, "[mutex held by b in f]"), off,
		    3 * MS);
	profile_add(profile, thread, reason_at(profile, append, "[mutex held by c]"), off, 1 * MS);
	view_init(&view, profile, off);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_row(&view, &rows, "append", 10, 10, "[mutex held by b in f]");
	assert_int_equal(row_called(&rows, "append")->reason_weight, 3 * MS);
	assert_int_equal(row_called(&rows, "append")->kind_weight, 6 * MS);
	CLEANUP(free_ptr) char *text = row_reason(&view, row_called(&rows, "append"));
	assert_string_equal(text, "[mutex held by several] 60.0 %");
	rows_deinit(&rows);
	view_deinit(&view);
}

TEST(a_stack_without_own_code_keeps_what_it_has)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id off = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	stack_id pool = STACK(profile, "__clone", "std::thread::run", "__poll");
	struct view view;
	struct rows rows;

	profile_add(profile, thread, reason_at(profile, pool, "[poll]"), off, 5 * MS);
	profile_add(profile, thread, reason_at(profile, STACK_EMPTY, "[stopped]"), off, 3 * MS);
	profile_add(profile, thread, STACK_EMPTY, off, 1 * MS);
	profile_add(profile, thread, STACK(profile, "go", "sync.Lock"), off, 2 * MS);
	view_init(&view, profile, off);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_row(&view, &rows, "std::thread::run", 5, 5, "[poll]");
	assert_row(&view, &rows, "__poll", 0, 5, "");
	assert_row(&view, &rows, "[stopped]", 3, 3, "[stopped]");
	assert_row(&view, &rows, "sync.Lock", 2, 2, "");
	assert_row(&view, &rows, "go", 0, 2, "");
	rows_deinit(&rows);
	view_deinit(&view);
}

TEST(the_waker_of_a_wait_has_no_part_in_its_reason)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id off = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	static const char *const wakers[][2] = {{"write"}, {"feeds"}, {"go"}};
	stack_id wait = reason_at(profile, STACK(profile, "main", "reads", "read"), "[read pipe]");
	stack_id woken = reason_at(profile, wait, "[woken by feeder]");
	struct view view;
	struct rows rows;

	for (size_t i = 0; i < 3; i++)
		woken = profile_push(profile, woken, add_frame(profile, wakers[i]));
	woken = reason_at(profile, woken, "[truncated]");
	assert_int_equal(waiting_reason(profile, woken), wait);
	assert_int_equal(waiting_reason(profile, wait), wait);
	assert_int_equal(waiting_reason(profile, STACK(profile, "main")), STACK_EMPTY);
	profile_add(profile, thread, woken, off, 5 * MS);
	view_init(&view, profile, off);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_row(&view, &rows, "read", 5, 5, "[read pipe]");
	assert_row(&view, &rows, "feeds", 0, 5, "");
	assert_row(&view, &rows, "[truncated]", 0, 5, "");
	rows_deinit(&rows);
	view_deinit(&view);
}

/* Puts a frame of a module on a stack. */
static stack_id call(struct profile *profile, stack_id stack, uint32_t module, const char *name)
{
	struct profile_line line = {.function = add_function(profile, name, name, "", 0)};

	return profile_push(profile, stack, profile_named_frame(profile, module, 0, &line, 1));
}

TEST(a_script_waits_rather_than_its_interpreter_and_anything_than_the_kernel)
{
	enum { NATIVE, KERNEL, SCRIPT };
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	event_id off = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	stack_id script, go;
	struct view view;
	struct rows rows;

	profile_describe_module(profile, NATIVE,
				&(struct profile_module){.kind = PROFILE_MODULE_FILE});
	profile_describe_module(profile, KERNEL,
				&(struct profile_module){.kind = PROFILE_MODULE_KERNEL});
	profile_describe_module(profile, SCRIPT,
				&(struct profile_module){.kind = PROFILE_MODULE_JIT});
	script = call(profile, STACK_EMPTY, NATIVE, "pymain_main");
	script = call(profile, script, SCRIPT, "py::consume:/srv/app.py");
	script = call(profile, script, SCRIPT, "py::get:/usr/lib/python3.11/queue.py");
	script = call(profile, script, NATIVE, "PyThread_acquire_lock_timed");
	go = call(profile, call(profile, STACK_EMPTY, NATIVE, "runtime.schedule"), NATIVE,
		  "runtime.futex");
	go = call(profile, go, KERNEL, "futex_do_wait");
	profile_add(profile, thread, reason_at(profile, script, "[futex]"), off, 5 * MS);
	profile_add(profile, thread, reason_at(profile, go, "[futex]"), off, 3 * MS);
	view_init(&view, profile, off);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_row(&view, &rows, "py::consume:/srv/app.py", 5, 5, "[futex]");
	assert_row(&view, &rows, "runtime.schedule", 3, 3, "[futex]");
	assert_row(&view, &rows, "futex_do_wait", 0, 3, "");
	rows_deinit(&rows);
	view_deinit(&view);
}
