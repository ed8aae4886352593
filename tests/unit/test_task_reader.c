/*
 * Reads the tasks of this process, which has the layout of a tokio program with
 * three kinds of futures: a coroutine that awaits a future inside it, a
 * pointer, or several futures at once.
 */
#include "tasks/task_reader.h"

#include "base/alloc.h"
#include "tasks/thread_pointer.h"

#include "lacking.h"
#include "unit_test.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct vtable {
	uint64_t poll, trailer;
};

struct task {
	uint64_t state;
	const struct vtable *vtable;
	unsigned char future_state, unused[7];
	struct task *inner;
	uint64_t count;
	struct {
		struct task *previous, *next;
	} trailer;
};

/* The head of the runtime's list. */
static __thread struct task *list;

enum { COROUTINE, LEAF, LIST };
enum { POLL = 0x1234000, INSIDE = 3, POINTED = 4, MANY = 5 };
enum { RUNNING = 1, NOTIFIED = 4 };

static const struct vtable vtable = {POLL, offsetof(struct task, trailer)};
static const struct vtable unknown_vtable = {POLL + 1, offsetof(struct task, trailer)};

static struct layout_node nodes[] = {
	[COROUTINE] = {.role = LAYOUT_FRAME,
		       .size_bytes = sizeof(struct task),
		       .discriminant_offset = offsetof(struct task, future_state),
		       .discriminant_bytes = 1,
		       .first_variant = 2,
		       .variant_count = 4},
	[LEAF] = {.role = LAYOUT_FRAME, .variant_count = 1},
	[LIST] = {.role = LAYOUT_LIST, .first_variant = 1, .variant_count = 1},
};
static struct layout_variant variants[] = {
	{.is_default = true},
	{.is_default = true},
	{.value = 1, .is_over = true},
	{.value = INSIDE, .first_edge = 0, .edge_count = 1, .line = 33},
	{.value = POINTED, .first_edge = 1, .edge_count = 1},
	{.value = MANY, .first_edge = 2, .edge_count = 2},
};
static struct layout_edge edges[] = {
	{.kind = LAYOUT_INSIDE, .node = LEAF},
	{.kind = LAYOUT_POINTER, .offset = offsetof(struct task, inner), .node = COROUTINE},
	{.kind = LAYOUT_INSIDE, .node = LEAF},
	{.kind = LAYOUT_SLICE,
	 .offset = offsetof(struct task, inner),
	 .other = offsetof(struct task, count),
	 .stride_bytes = sizeof(struct task),
	 .node = COROUTINE},
};
static struct layout_root tasks[] = {{.vaddr = POLL, .node = COROUTINE}};
static uint32_t strings[] = {0};

static int find_tls(struct dl_phdr_info *info, size_t size, void *user)
{
	struct task_layout *layout = user;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS) {
			layout->tls_bytes = info->dlpi_phdr[i].p_memsz;
			layout->tls_alignment = info->dlpi_phdr[i].p_align;
		}
	return 1; /* the first is the program */
}

static struct task_layout layout_here(void)
{
	struct task_layout layout = {
		.header = {.state = offsetof(struct task, state),
			   .vtable = offsetof(struct task, vtable),
			   .trailer = offsetof(struct vtable, trailer),
			   .next = sizeof(struct task *),
			   .has_trailer = true},
		.context = LIST,
		.nodes = nodes,
		.node_count = ARRAY_SIZE(nodes),
		.variants = variants,
		.variant_count = ARRAY_SIZE(variants),
		.edges = edges,
		.edge_count = ARRAY_SIZE(edges),
		.tasks = tasks,
		.task_count = ARRAY_SIZE(tasks),
		.strings = strings,
		.string_count = 1,
		.text = (char[]){""},
		.text_bytes = 1,
	};
	uint64_t thread_pointer;

	dl_iterate_phdr(find_tls, &layout);
	if (thread_pointer_find((pid_t)syscall(SYS_gettid), &thread_pointer))
		layout.context_offset = (uintptr_t)&list - thread_pointer_tls(thread_pointer,
									      layout.tls_bytes,
									      layout.tls_alignment);
	return layout;
}

struct seen {
	unsigned waits, frames, ready;
	double share;
	uint32_t line; /* of the outermost frame */
};

static void see(void *user, const struct task_wait *wait)
{
	struct seen *seen = user;

	seen->waits++;
	seen->frames += (unsigned)wait->count;
	seen->ready += wait->is_ready;
	seen->share += wait->share;
	seen->line = variants[wait->places[0].variant].line;
}

static struct seen read_all(struct task_counts *counts)
{
	struct task_layout layout = layout_here();
	CLEANUP(task_reader_cleanup)
	struct task_reader *reader = task_reader_new(getpid(), &layout, 0);
	struct seen seen = {0};

	assert_int_equal(task_reader_find_lists(reader), 1);
	task_reader_read(reader, see, &seen);
	*counts = task_reader_counts(reader);
	return seen;
}

static void link_all(struct task *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		all[i].vtable = all[i].vtable ? all[i].vtable : &vtable;
		all[i].trailer.previous = i ? &all[i - 1] : NULL;
		all[i].trailer.next = i + 1 < count ? &all[i + 1] : NULL;
	}
	list = all;
}

static bool is_lacking(void)
{
	uint64_t unused;

	return !thread_pointer_find(getpid(), &unused);
}

TEST(tasks_are_found_with_what_they_await)
{
	struct task all[] = {{.future_state = INSIDE},
			     {.future_state = INSIDE, .state = NOTIFIED},
			     {.future_state = 1},
			     {.state = RUNNING, .future_state = INSIDE},
			     {.future_state = INSIDE, .vtable = &unknown_vtable}};
	struct task_counts counts;
	struct seen seen;

	if (is_lacking())
		RETURN_LACKING("glibc on x86-64");
	link_all(all, ARRAY_SIZE(all));
	seen = read_all(&counts);
	assert_int_equal(seen.waits, 2);
	assert_int_equal(seen.frames, 4);
	assert_int_equal(seen.ready, 1);
	assert_int_equal(seen.line, 33);
	assert_int_equal(counts.tasks, 5);
	assert_int_equal(counts.running, 1);
	assert_int_equal(counts.unknown, 1);
}

TEST(a_task_that_awaits_several_futures_counts_once_in_all)
{
	struct task inner[3] = {
		{.future_state = INSIDE}, {.future_state = 1}, {.future_state = INSIDE}};
	struct task all[] = {{.future_state = MANY, .inner = inner, .count = 3}};
	struct task_counts counts;
	struct seen seen;

	if (is_lacking())
		RETURN_LACKING("glibc on x86-64");
	link_all(all, 1);
	seen = read_all(&counts);
	assert_int_equal(seen.waits, 3);
	assert_true(seen.share > 0.999 && seen.share < 1.001);
}

TEST(pointers_to_nowhere_and_in_circles_end)
{
	struct task all[] = {{.future_state = POINTED, .inner = (void *)8}, /* NOLINT */
			     {.future_state = POINTED},
			     {.future_state = MANY, .count = UINT64_MAX}};
	struct task_counts counts;
	struct seen seen;

	if (is_lacking())
		RETURN_LACKING("glibc on x86-64");
	all[1].inner = &all[1];
	all[2].inner = &all[2];
	link_all(all, ARRAY_SIZE(all));
	seen = read_all(&counts);
	assert_int_equal(counts.tasks, 3);
	assert_true(seen.frames < 64 * 64 * 3);
	/* A circular list, and a list with an invalid pointer. */
	all[2].trailer.next = &all[1];
	read_all(&counts);
	assert_int_equal(counts.tasks, 3);
	assert_int_equal(counts.cut_lists, 1);
	all[1].trailer.next = (void *)8; /* NOLINT */
	read_all(&counts);
	assert_int_equal(counts.tasks, 2);
	assert_int_equal(counts.cut_lists, 1);
}

TEST(of_many_tasks_a_share_is_read_and_scaled)
{
	enum { COUNT = 5 * TASK_READ_MAX };
	CLEANUP(free_ptr) struct task *all = xcalloc(COUNT, sizeof(*all));
	struct task_layout layout;
	CLEANUP(task_reader_cleanup) struct task_reader *reader = NULL;
	struct seen seen = {0};

	if (is_lacking())
		RETURN_LACKING("glibc on x86-64");
	for (size_t i = 0; i < COUNT; i++)
		all[i].future_state = INSIDE;
	link_all(all, COUNT);
	layout = layout_here();
	reader = task_reader_new(getpid(), &layout, 0);
	task_reader_find_lists(reader);
	task_reader_read(reader, see, &seen);
	assert_int_equal(seen.waits, COUNT);
	seen = (struct seen){0};
	task_reader_read(reader, see, &seen);
	assert_int_equal(task_reader_counts(reader).tasks, COUNT);
	assert_true(seen.waits > TASK_READ_MAX / 2 && seen.waits < 2 * TASK_READ_MAX);
	assert_true(seen.share > 0.85 * COUNT && seen.share < 1.15 * COUNT);
}
