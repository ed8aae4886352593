#include "tasks/task_reader.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "proc/memory.h"
#include "tasks/thread_pointer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS_MAX = 1024, /* threads that are searched for lists */
	LISTS_MAX = 4096,
	WINDOWS = 8,
	WINDOW_BYTES = 1024, /* larger than most tasks */
	DEPTH_MAX = 128,     /* edges from a task */
	FOUND_MAX = 64,	     /* futures that a task awaits at once */
	SLICE_MAX = 64,	     /* elements of a slice that are read */
	CHECKS_MAX = 96,
	VISITS_MAX = 2048, /* objects visited per task */
};

/* Bits of tokio's struct State. They have not changed since version 1.0. */
enum { STATE_RUNNING = 1, STATE_COMPLETE = 2, STATE_NOTIFIED = 4 };

/* A cached part of the process's memory. */
struct window {
	uint64_t address;
	size_t len;
	unsigned char bytes[WINDOW_BYTES];
};

/* A value that determined the path, and must be unchanged at the end. */
struct task_reader_check {
	uint64_t address, value;
	unsigned bytes;
};

/* The end of a path. */
struct task_reader_found {
	struct task_place places[TASK_PLACES_MAX];
	size_t count;
	uint64_t address; /* for lists */
	double share;
};

struct task_reader {
	pid_t pid;
	const struct task_layout *layout;
	uint64_t bias;
	uint64_t *lists;
	size_t list_count, list_room;
	struct task_counts counts;
	uint64_t random;
	double read_share; /* the fraction of all tasks that is read */

	/* State of the task that is being read: */
	struct window windows[WINDOWS];
	unsigned window_count, next_window;
	struct task_place places[TASK_PLACES_MAX];
	size_t place_count;
	struct task_reader_check checks[CHECKS_MAX];
	size_t check_count;
	struct task_reader_found found[FOUND_MAX];
	size_t found_count;
	unsigned visits;
	uint64_t round_visits; /* of all tasks in this round */
	bool is_damaged;       /* something was unreadable or invalid */
};

struct task_reader *task_reader_new(pid_t pid, const struct task_layout *layout, uint64_t bias)
{
	struct task_reader *reader = xcalloc(1, sizeof(*reader));

	reader->pid = pid;
	reader->layout = layout;
	reader->bias = bias;
	reader->read_share = 1;
	return reader;
}

void task_reader_free(struct task_reader *reader)
{
	if (!reader)
		return;
	free(reader->lists);
	free(reader);
}

struct task_counts task_reader_counts(const struct task_reader *reader)
{
	return reader->counts;
}

/* ---- Memory ---- */

static void begin_reading(struct task_reader *reader)
{
	reader->window_count = reader->next_window = 0;
	reader->place_count = reader->check_count = reader->found_count = 0;
	reader->round_visits += reader->visits;
	reader->visits = 0;
	reader->is_damaged = false;
}

/* Reads ahead. A window that cannot be read is empty. */
static struct window *open_window(struct task_reader *reader, uint64_t address, uint64_t bytes)
{
	struct window *window = &reader->windows[reader->next_window];

	window->address = address;
	window->len = memory_read(reader->pid, address, window->bytes,
				  bytes < WINDOW_BYTES ? bytes : WINDOW_BYTES);
	reader->next_window = (reader->next_window + 1) % WINDOWS;
	if (reader->window_count < WINDOWS)
		reader->window_count++;
	return window;
}

/*
 * Reads a number of up to eight bytes. Returns 0 and sets is_damaged if it is
 * unreadable.
 */
static uint64_t task_reader_read_number(struct task_reader *reader, uint64_t address,
					unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < reader->window_count; i++) {
		const struct window *window = &reader->windows[i];
		uint64_t within = address - window->address;

		if (address >= window->address && within <= window->len &&
		    bytes <= window->len - within) {
			memcpy(&value, window->bytes + within, bytes);
			return value;
		}
	}
	if (memory_read(reader->pid, address, &value, bytes) != bytes) {
		reader->is_damaged = true;
		return 0;
	}
	return value;
}

/*
 * Like task_reader_read_number(), but the value must be unchanged at the end.
 */
static uint64_t read_checked(struct task_reader *reader, uint64_t address, unsigned bytes)
{
	uint64_t value = task_reader_read_number(reader, address, bytes);

	if (reader->check_count < CHECKS_MAX)
		reader->checks[reader->check_count++] = (struct task_reader_check){address, value,
										   bytes};
	return value;
}

static bool is_unchanged(struct task_reader *reader)
{
	struct memory_part parts[CHECKS_MAX];
	uint64_t values[CHECKS_MAX] = {0};

	for (size_t i = 0; i < reader->check_count; i++)
		parts[i] = (struct memory_part){reader->checks[i].address, &values[i],
						reader->checks[i].bytes, false};
	memory_read_parts(reader->pid, parts, reader->check_count);
	for (size_t i = 0; i < reader->check_count; i++)
		if (!parts[i].is_read || values[i] != reader->checks[i].value)
			return false;
	return true;
}

/* ---- From an object to what it awaits ---- */

static void add_found(struct task_reader *reader, uint64_t address)
{
	struct task_reader_found *found = &reader->found[reader->found_count];

	if (reader->found_count == FOUND_MAX)
		return;
	reader->found_count++;
	found->count = reader->place_count;
	memcpy(found->places, reader->places, found->count * sizeof(*found->places));
	found->address = address;
	found->share = 1;
}

/* Returns NULL if the object is invalid. */
static const struct layout_variant *variant_of(struct task_reader *reader,
					       const struct layout_node *node, uint64_t address)
{
	const struct layout_variant *variants = &reader->layout->variants[node->first_variant];
	const struct layout_variant *other = NULL;
	unsigned bytes = node->discriminant_bytes;
	uint64_t value, mask = bytes < 8 ? ((uint64_t)1 << 8 * bytes) - 1 : UINT64_MAX;

	if (!node->variant_count || !bytes)
		return node->variant_count ? variants : NULL;
	value = read_checked(reader, address + node->discriminant_offset, bytes);
	for (uint32_t i = 0; i < node->variant_count; i++) {
		if (variants[i].is_default)
			other = &variants[i];
		else if ((variants[i].value & mask) == value)
			return &variants[i];
	}
	return other;
}

static void task_reader_visit(struct task_reader *reader, const struct layout_node *node,
			      uint64_t address, unsigned depth);

static void visit_pointer(struct task_reader *reader, const struct layout_node *node,
			  uint64_t pointer, unsigned depth)
{
	if (!pointer || reader->visits >= VISITS_MAX) {
		reader->visits++;
		return;
	}
	open_window(reader, pointer, node->size_bytes);
	task_reader_visit(reader, node, pointer, depth);
}

static void task_reader_divide(struct task_reader *reader, size_t first, unsigned by)
{
	for (size_t i = first; by > 1 && i < reader->found_count; i++)
		reader->found[i].share /= by;
}

/*
 * Reads only the first elements of a long slice, which stand for all of them.
 */
static void visit_slice(struct task_reader *reader, const struct layout_edge *edge,
			uint64_t address, unsigned depth)
{
	uint64_t items = read_checked(reader, address + edge->offset, 8);
	uint64_t count = read_checked(reader, address + edge->other, 8);
	const struct layout_node *node = &reader->layout->nodes[edge->node];
	size_t first = reader->found_count;
	unsigned live = 0;

	if (count > SLICE_MAX)
		count = SLICE_MAX;
	for (uint64_t i = 0; i < count && !reader->is_damaged; i++) {
		size_t before = reader->found_count;

		visit_pointer(reader, node, items + i * edge->stride_bytes, depth);
		live += reader->found_count > before;
	}
	task_reader_divide(reader, first, live);
}

static void visit_edge(struct task_reader *reader, const struct layout_edge *edge, uint64_t address,
		       unsigned depth)
{
	const struct layout_node *node = &reader->layout->nodes[edge->node];
	uint64_t pointer;

	switch (edge->kind) {
	case LAYOUT_INSIDE:
		task_reader_visit(reader, node, address + edge->offset, depth);
		break;
	case LAYOUT_POINTER:
		pointer = read_checked(reader, address + edge->offset, 8);
		visit_pointer(reader, node, pointer, depth);
		break;
	case LAYOUT_DYNAMIC:
		pointer = read_checked(reader, address + edge->offset, 8);
		node = task_layout_vtable(reader->layout,
					  read_checked(reader, address + edge->other, 8) -
						  reader->bias);
		visit_pointer(reader, node, node ? pointer : 0, depth);
		break;
	case LAYOUT_SLICE:
		visit_slice(reader, edge, address, depth);
		break;
	}
}

/*
 * A task that awaits several futures at once counts for each with an equal
 * part.
 */
static void visit_edges(struct task_reader *reader, const struct layout_variant *variant,
			uint64_t address, unsigned depth)
{
	size_t first = reader->found_count;
	unsigned live = 0;

	for (uint32_t i = 0;
	     i < variant->edge_count && !reader->is_damaged && reader->visits < VISITS_MAX; i++) {
		size_t before = reader->found_count;

		visit_edge(reader, &reader->layout->edges[variant->first_edge + i], address,
			   depth + 1);
		live += reader->found_count > before;
	}
	task_reader_divide(reader, first, live);
}

static void task_reader_visit(struct task_reader *reader, const struct layout_node *node,
			      uint64_t address, unsigned depth)
{
	size_t place = reader->place_count, before = reader->found_count;
	const struct layout_variant *variant;

	if (reader->is_damaged || depth > DEPTH_MAX || reader->visits++ >= VISITS_MAX)
		return;
	if (node->role == LAYOUT_LIST) {
		add_found(reader, address);
		return;
	}
	variant = variant_of(reader, node, address);
	if (!variant) {
		reader->is_damaged = node->variant_count;
		return;
	}
	if (variant->is_over)
		return;
	if (node->role == LAYOUT_FRAME && place < TASK_PLACES_MAX)
		reader->places[reader->place_count++] =
			(struct task_place){(uint32_t)(node - reader->layout->nodes),
					    (uint32_t)(variant - reader->layout->variants)};
	visit_edges(reader, variant, address, depth);
	if (node->role == LAYOUT_FRAME && reader->found_count == before)
		add_found(reader, address);
	reader->place_count = place;
}

/* ---- Lists ---- */

static void task_reader_add_list(struct task_reader *reader, uint64_t address)
{
	for (size_t i = 0; i < reader->list_count; i++)
		if (reader->lists[i] == address)
			return;
	if (reader->list_count == LISTS_MAX)
		return;
	GROW(reader->lists, reader->list_count, reader->list_room);
	reader->lists[reader->list_count++] = address;
}

static void find_in_thread(struct task_reader *reader, pid_t tid)
{
	const struct task_layout *layout = reader->layout;
	uint64_t thread_pointer, context;

	if (!thread_pointer_find(tid, &thread_pointer))
		return;
	context = thread_pointer_tls(thread_pointer, layout->tls_bytes, layout->tls_alignment) +
		  layout->context_offset;
	begin_reading(reader);
	task_reader_visit(reader, &layout->nodes[layout->context], context, 0);
	for (size_t i = 0; i < reader->found_count; i++)
		task_reader_add_list(reader, reader->found[i].address);
}

size_t task_reader_find_lists(struct task_reader *reader)
{
	char path[64];
	DIR *threads;
	const struct dirent *entry;
	unsigned count = 0;

	reader->list_count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", reader->pid);
	threads = opendir(path);
	reader->round_visits = 0;
	while (threads && count < THREADS_MAX && reader->round_visits < TASK_VISITS_MAX &&
	       (entry = readdir(threads))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		count++;
		find_in_thread(reader, tid);
	}
	if (threads)
		closedir(threads);
	return reader->list_count;
}

/* ---- Tasks ---- */

static bool is_chosen(struct task_reader *reader)
{
	reader->random = hash_mix(reader->random + 1, reader->counts.tasks);
	return reader->round_visits < TASK_VISITS_MAX &&
	       (reader->read_share >= 1 ||
		(double)(reader->random >> 11) / (double)(1ULL << 53) < reader->read_share);
}

struct callback {
	void (*found)(void *user, const struct task_wait *wait);
	void *user;
};

static void task_reader_tell(struct task_reader *reader, const struct callback *callback,
			     bool is_ready)
{
	for (size_t i = 0; i < reader->found_count; i++) {
		const struct task_reader_found *found = &reader->found[i];

		if (found->count)
			callback->found(callback->user,
					&(struct task_wait){
						.places = found->places,
						.count = found->count,
						.share = found->share / reader->read_share,
						.is_ready = is_ready,
					});
	}
}

/* The task must be in the first window. */
static void read_task(struct task_reader *reader, uint64_t task, uint64_t vtable,
		      const struct callback *callback)
{
	const struct layout_header *header = &reader->layout->header;
	uint64_t state = read_checked(reader, task + header->state, 8);
	uint64_t poll = task_reader_read_number(reader, vtable + header->poll, 8);
	const struct layout_node *node = task_layout_task(reader->layout, poll - reader->bias);

	if (state & (STATE_RUNNING | STATE_COMPLETE)) {
		reader->counts.running++;
		return;
	}
	if (!node) {
		reader->counts.unknown++;
		return;
	}
	task_reader_visit(reader, node, task, 0);
	if (reader->is_damaged || !is_unchanged(reader)) {
		reader->counts.changed++;
		return;
	}
	reader->counts.read++;
	task_reader_tell(reader, callback, state & STATE_NOTIFIED);
}

/*
 * Returns the address of the list pointers of a task, or 0 if it is no longer a
 * task.
 */
static uint64_t links_of(struct task_reader *reader, uint64_t task, uint64_t vtable)
{
	const struct layout_header *header = &reader->layout->header;
	uint64_t trailer = 0;

	if (header->has_trailer) {
		trailer = task_reader_read_number(reader, vtable + header->trailer, 8);
		if (trailer > UINT32_MAX || trailer % 8)
			return 0;
	}
	return task + trailer;
}

/*
 * Walks a list starting at one of its tasks. Returns the task at which to
 * continue: 0 at the end of the list, or `task` itself if the list has changed.
 */
static uint64_t task_reader_step(struct task_reader *reader, uint64_t task, uint64_t previous,
				 bool reads, const struct callback *callback)
{
	const struct layout_header *header = &reader->layout->header;
	uint64_t vtable, links, next;

	begin_reading(reader);
	open_window(reader, task, WINDOW_BYTES);
	vtable = task_reader_read_number(reader, task + header->vtable, 8);
	links = links_of(reader, task, vtable);
	if (!links || reader->is_damaged)
		return task;
	if (previous && task_reader_read_number(reader, links + header->previous, 8) != previous)
		return task;
	next = task_reader_read_number(reader, links + header->next, 8);
	if (reader->is_damaged)
		return task;
	if (reads)
		read_task(reader, task, vtable, callback);
	return next;
}

static void task_reader_walk(struct task_reader *reader, uint64_t list,
			     const struct callback *callback)
{
	uint64_t previous = 0, task;

	begin_reading(reader);
	task = task_reader_read_number(reader, list, 8);
	while (task && reader->counts.tasks < TASK_WALK_MAX) {
		uint64_t next = task_reader_step(reader, task, previous, is_chosen(reader),
						 callback);

		if (next == task) {
			reader->counts.cut_lists++;
			return;
		}
		reader->counts.tasks++;
		previous = task;
		task = next;
	}
	reader->counts.cut_lists += task != 0;
}

void task_reader_read(struct task_reader *reader,
		      void (*found)(void *user, const struct task_wait *wait), void *user)
{
	const struct callback callback = {found, user};

	reader->counts = (struct task_counts){0};
	reader->round_visits = 0;
	for (size_t i = 0; i < reader->list_count; i++)
		task_reader_walk(reader, reader->lists[i], &callback);
	reader->read_share = reader->counts.tasks > TASK_READ_MAX
				     ? (double)TASK_READ_MAX / (double)reader->counts.tasks
				     : 1;
}
