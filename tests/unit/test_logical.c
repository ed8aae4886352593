#include "report/logical.h"
#include "report/rows.h"

#include "base/text.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <inttypes.h>
#include <string.h>

enum { PROGRAM, KERNEL, SCRIPT };

static void describe_modules(struct profile *profile)
{
	profile_describe_module(profile, PROGRAM,
				&(struct profile_module){.path = text_of(profile, "/bin/shop")});
	profile_describe_module(profile, KERNEL,
				&(struct profile_module){.kind = PROFILE_MODULE_KERNEL,
							 .path = text_of(profile, "[kernel]")});
	profile_describe_module(profile, SCRIPT,
				&(struct profile_module){.kind = PROFILE_MODULE_INTERPRETED,
							 .path = text_of(profile, "[python]")});
}

/* text: "outer|inlined", "k:of_the_kernel", "[note]", or an address such as
 * "+1a2b". */
static frame_id frame_of(struct profile *profile, char *text)
{
	uint64_t place = profile_frame_count(profile) * 16 + 1;
	struct profile_line lines[8] = {0};
	unsigned count = 0;
	frame_id frame;

	if (*text == '[')
		return profile_synthetic_frame(profile, text);
	frame = profile_frame(profile,
			      text_begins(text, "k:")	  ? KERNEL
			      : text_begins(text, "py::") ? SCRIPT
							  : PROGRAM,
			      place, true);
	if (*text == '+')
		return frame;
	for (char *name; (name = strrchr(text, '|')); *name = '\0')
		lines[count++].function = add_function(profile, name + 1, name + 1, "", 0);
	lines[count++].function = add_function(profile, text, text, "", 0);
	profile_set_lines(profile, frame, lines, count);
	return frame;
}

/* text: frames separated by " > ", root first. */
static stack_id stack_of(struct profile *profile, const char *text)
{
	CLEANUP(free_ptr) char *copy = xstrdup(text);
	stack_id stack = STACK_EMPTY;

	for (char *rest = copy, *next; rest; rest = next) {
		next = strstr(rest, " > ");
		if (next) {
			*next = '\0';
			next += strlen(" > ");
		}
		stack = profile_push(profile, stack, frame_of(profile, rest));
	}
	return stack;
}

static char *text_of_frame(const struct profile *profile, frame_id id, const char *before)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	char *text;

	if (!frame.line_count)
		return xasprintf("%s%s+", before, *before ? " > " : "");
	text = xstrdup(before);
	for (unsigned i = frame.line_count; i-- > 0;) {
		const struct profile_line *line = &frame.lines[i];
		bool is_inlined = i + 1 < frame.line_count;
		const char *name = profile_string(
			profile, profile_get_function(profile, line->function)->name);
		CLEANUP(free_ptr) char *start = text;
		CLEANUP(free_ptr)
		char *folded = line->folded ? xasprintf(" %" PRIu32, line->folded) : xstrdup("");

		text = xasprintf("%s%s%s%s", start,
				 !*start      ? ""
				 : is_inlined ? "|"
					      : " > ",
				 name, folded);
	}
	return text;
}

/* Returns the text that stack_of() reads, with the number of folded lines after
 * a name. The caller frees it. */
static char *text_of_stack(const struct profile *profile, stack_id id)
{
	struct profile_stack stack = profile_stacks(profile).items[id];
	CLEANUP(free_ptr) char *before = NULL;

	if (id == STACK_EMPTY)
		return xstrdup("");
	before = text_of_stack(profile, stack.parent);
	return text_of_frame(profile, stack.frame, before);
}

/* Makes a profile with one sample per stack. The list ends with NULL. */
static struct profile *profile_of(const char *const *stacks)
{
	struct profile *profile = profile_new();
	event_id event = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id labels = profile_thread_labels(profile, 1, 2, "shop", "worker");

	describe_modules(profile);
	for (; *stacks; stacks++)
		profile_add(profile, labels, stack_of(profile, *stacks), event, 10);
	return profile;
}

static void assert_logical(const char *stack, const char *expected)
{
	CLEANUP(profile_cleanup)
	struct profile *original = profile_of((const char *[]){stack, NULL});
	CLEANUP(profile_cleanup) struct profile *logical = logical_profile(original);
	const struct profile_samples samples = profile_samples(logical);
	CLEANUP(free_ptr) char *text = text_of_stack(logical, samples.items[0].stack);

	assert_int_equal(samples.count, 1);
	assert_string_equal(text, expected);
}

TEST(glue_is_folded_into_the_function_that_it_leads_to)
{
	assert_logical("clone3 > start_thread > tokio::runtime::blocking::pool::Inner::run > "
		       "shop::handler|shop::query > core::ops::function::FnOnce::call_once > "
		       "shop::crunch",
		       "shop::handler 3|shop::query > shop::crunch 1");
	assert_logical("_start > __libc_start_main > main > shop", "main 2 > shop");
}

TEST(inlined_glue_is_folded_within_its_frame)
{
	assert_logical("tokio::runtime::task::raw::poll|tokio::runtime::task::core::Core<T,S>::poll"
		       "|shop::handler|std::thread::local::LocalKey<T>::with|shop::crunch",
		       "shop::handler 2|shop::crunch 1");
}

TEST(adaptors_at_the_leaf_are_part_of_their_caller)
{
	assert_logical("shop::crunch|core::iter::range::next > <i32 as core::cmp::PartialOrd>::lt",
		       "shop::crunch");
	assert_logical("shop::crunch|core::iter::range::next > k:apic_timer_interrupt",
		       "shop::crunch > k:apic_timer_interrupt");
}

TEST(work_is_not_folded)
{
	assert_logical("shop::crunch > alloc::vec::Vec<T,A>::push > "
		       "alloc::raw_vec::RawVec<T,A>::grow_one > __libc_malloc",
		       "shop::crunch > alloc::vec::Vec<T,A>::push > __libc_malloc 1");
	assert_logical("shop::crunch > std::sys::sync::mutex::futex::Mutex::lock_contended",
		       "shop::crunch > std::sys::sync::mutex::futex::Mutex::lock_contended");
}

TEST(a_scheduler_without_the_program_is_one_row_above_the_kernel)
{
	static const char park[] = "start_thread > tokio::runtime::scheduler::Context::park > "
				   "parking_lot::condvar::Condvar::wait > __futex";

	CLEANUP(free_ptr) char *kernel = xasprintf("%s > k:futex_wait > k:schedule", park);
	CLEANUP(free_ptr) char *reason = xasprintf("%s > [futex]", park);

	assert_logical(park, "[tokio runtime] 4");
	assert_logical(kernel, "[tokio runtime] 4 > k:futex_wait > k:schedule");
	assert_logical(reason, "[tokio runtime] 4 > [futex]");
	assert_logical("shop::main > tokio::task::spawn > tokio::runtime::context::with > __futex",
		       "shop::main > tokio::task::spawn > [tokio runtime] 2");
}

TEST(an_entry_alone_is_one_row)
{
	assert_logical("clone3 > start_thread", "[libc runtime] 2");
	assert_logical("clone3 > start_thread > k:exit", "[libc runtime] 2 > k:exit");
	assert_logical("runtime.goexit > runtime.gcBgMarkWorker", "runtime.gcBgMarkWorker 1");
	assert_logical("shop::main > std::thread::lifecycle::spawn_unchecked > pthread_create",
		       "shop::main > pthread_create 1");
}

TEST(adaptors_alone_stay)
{
	assert_logical("core::ops::function::FnOnce::call_once",
		       "core::ops::function::FnOnce::call_once");
}

TEST(the_main_of_rust_is_glue_beside_its_runtime_only)
{
	assert_logical("_start > main > std::rt::lang_start > shop::main", "shop::main 3");
	assert_logical("_start > main > shop::main", "main 1 > shop::main");
}

TEST(addresses_stay)
{
	assert_logical("start_thread > +1 > shop::crunch > +2", "+ > shop::crunch > +");
}

TEST(totals_threads_and_times_are_those_of_the_original)
{
	CLEANUP(profile_cleanup) struct profile *original = random_profile(7);
	CLEANUP(profile_cleanup) struct profile *logical = logical_profile(original);
	const struct profile_samples from = profile_samples(original),
				     to = profile_samples(logical);

	assert_int_equal(from.count, to.count);
	for (uint64_t i = 0; i < from.count; i++) {
		assert_int_equal(from.items[i].samples, to.items[i].samples);
		assert_int_equal(from.items[i].weight, to.items[i].weight);
		assert_int_equal(profile_thread_of(original, from.items[i].labels)->tid,
				 profile_thread_of(logical, to.items[i].labels)->tid);
	}
}

TEST(stacks_that_become_equal_become_one)
{
	static const char *const stacks[] = {"start_thread > shop::crunch",
					     "clone3 > start_thread > shop::crunch",
					     "start_thread > shop::crunch|core::mem::swap", NULL};

	CLEANUP(profile_cleanup) struct profile *original = profile_of(stacks);
	CLEANUP(profile_cleanup) struct profile *logical = logical_profile(original);
	struct view view;

	view_init(&view, logical, 0);
	assert_int_equal(view.labels.count, 1);
	assert_int_equal(view.stacks[STACK_EMPTY].total.weight, 30);
	view_deinit(&view);
}

static const struct row *row_called(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(rows->items[i].name, name))
			return &rows->items[i];
	fail_msg("no row %s", name);
	return NULL;
}

TEST(a_wait_is_of_the_runtime_or_the_function_that_chose_it)
{
	static const char *const stacks[] = {
		"shop::main > tokio::runtime::park > std::sync::Condvar::wait > k:futex > [futex]",
		"start_thread > shop::nap > std::thread::sleep > __nanosleep > [nanosleep]", NULL};

	CLEANUP(profile_cleanup) struct profile *original = profile_new();
	CLEANUP(profile_cleanup) struct profile *logical = NULL;
	event_id event = add_event(original, "off-cpu", VALUE_OFF_CPU_TIME);
	label_set_id labels = profile_thread_labels(original, 1, 2, "shop", "worker");
	struct rows rows;
	struct view view;

	describe_modules(original);
	for (const char *const *stack = stacks; *stack; stack++)
		profile_add(original, labels, stack_of(original, *stack), event, 10);
	logical = logical_profile(original);
	view_init(&view, logical, 0);
	rows_init(&rows, &view, ROW_FUNCTION);
	assert_int_equal(row_called(&rows, "[tokio runtime]")->self.weight, 10);
	assert_int_equal(row_called(&rows, "shop::nap")->self.weight, 10);
	assert_string_equal(view.labels.items[row_called(&rows, "shop::nap")->reason].name,
			    "[nanosleep]");
	rows_deinit(&rows);
	view_deinit(&view);
}

TEST(the_share_of_glue_is_the_mean_of_the_samples)
{
	static const char *const stacks[] = {
		"_start > main > k:read > [disk]",
		"clone3 > start_thread > tokio::runtime::run|shop::crunch", NULL};

	CLEANUP(profile_cleanup) struct profile *profile = profile_of(stacks);
	event_id other = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);
	struct glue_share share;

	profile_add_samples(profile, 0, profile_samples(profile).items[1].stack, 0, 1, 20);
	profile_add_samples(profile, 0, profile_samples(profile).items[0].stack, other, 1, 1000);
	/* The call tree has no calls. */
	profile_add_samples(profile, 0,
			    profile_push(profile, STACK_EMPTY,
					 profile_synthetic_frame(profile, "[not sampled]")),
			    0, 1, 1000);
	share = glue_share_of(profile);
	assert_true(share.lines == (2.0 + 3 * 4) / 4);
	assert_true(share.glue == (1.0 + 3 * 3) / 4);
}

TEST(the_share_of_scripts_is_that_of_the_samples_with_a_function_of_one)
{
	static const char *const stacks[] = {"_start > main > py::walk:/srv/app.py > sum", "_start",
					     "main > work", "main > py::run:/srv/app.py", NULL};

	CLEANUP(profile_cleanup) struct profile *profile = profile_of(stacks);

	assert_true(glue_share_of(profile).scripts == 0.5);
}

TEST(a_profile_without_stacks_has_no_glue)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	struct glue_share share = glue_share_of(profile);

	assert_true(share.lines == 0 && share.glue == 0);
	assert_false(glue_share_is_most(&share));
}

TEST(the_view_is_the_default_if_most_frames_are_glue_and_not_only_the_start_of_a_program)
{
	static const struct {
		struct glue_share share;
		bool is_most;
	} cases[] = {
		{{7.9, 4, 0}, true},	{{8, 4, 0}, false},    {{4, 3.9, 0}, false},
		{{97, 80, 0}, true},	{{0, 0, 0}, false},    {{97, 30, 0.51}, true},
		{{97, 30, 0.5}, false}, {{97, 3.9, 1}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(glue_share_is_most(&cases[i].share), cases[i].is_most);
}
