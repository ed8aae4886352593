#include "proc/jitdump.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "proc/jitdump_format.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often a file is looked at that a process writes, and how much is read each time. */
#define INTERVAL_NS (100 * NS_PER_MS)
enum { CHUNK_BYTES = 256 << 10, CHUNKS_PER_LOOK = 32 };

/*
 * Functions, their pages, and open pcs, of 56 bytes at most: of all files, and which a file may
 * have whatever the others have.
 */
enum { ALL_MAX = 2 << 20, OWN_MIN = 8 << 10 };

/* Addresses are looked up by pages. Functions in one page, those that were replaced included. */
enum { PAGE_SHIFT = 12, PAGE_FUNCTIONS_MAX = 4096 };

#define NO_LOAD UINT32_MAX

/* A function at an address, from a time on. */
struct load {
	uint64_t start, end;
	uint64_t from_ns;
	uint64_t offset; /* of its first byte in the file */
};

/* In a page: the function that came last, and the link of the one before. */
struct link {
	uint32_t load, next;
};

/* A pc that the file did not reach. */
struct open_pc {
	uint64_t pc;
	uint64_t first_ns, last_ns;
	uint32_t load; /* that was the last one known there; NO_LOAD: none was */
};

struct jitdump {
	struct jitdump_options options;
	int fd;
	bool is_begun; /* its header was read */
	bool is_over;  /* no more will be read */
	bool has_other_clock;
	uint64_t position; /* of the next record */
	uint64_t last_ns;  /* the latest time in it */
	uint64_t looked_ns;
	uint64_t used;	    /* of the budget */
	struct load *loads; /* in the order of the file */
	uint32_t load_count, load_room;
	struct link *links;
	uint32_t link_count, link_room;
	struct idmap pages; /* links */
	struct open_pc *open;
	uint32_t open_count, open_room;
	struct idmap by_pc; /* (pc, load) → open_pc */
};

struct jitdump *jitdump_new(int fd, const struct jitdump_options *options)
{
	struct jitdump *jitdump = xcalloc(1, sizeof(*jitdump));

	jitdump->fd = fd;
	jitdump->options = *options;
	return jitdump;
}

void jitdump_free(struct jitdump *jitdump)
{
	if (!jitdump)
		return;
	jitdump->options.budget->used -= jitdump->used;
	close_fd(&jitdump->fd);
	free(jitdump->loads);
	free(jitdump->links);
	free(jitdump->open);
	idmap_deinit(&jitdump->pages);
	idmap_deinit(&jitdump->by_pc);
	free(jitdump);
}

int jitdump_fd(const struct jitdump *jitdump)
{
	return jitdump->fd;
}

size_t jitdump_count(const struct jitdump *jitdump)
{
	return jitdump->load_count;
}

/* --- Reading --------------------------------------------------------------------------------- */

/* On the heap, as it may be left behind; its descriptor is a copy. */
struct reading {
	struct timed_call call;
	int fd;
	uint64_t from;
	unsigned char *bytes;
	size_t len;
};

static void read_chunk(struct timed_call *call)
{
	struct reading *reading = (struct reading *)call;
	struct stat st;
	uint64_t left;
	ssize_t got;

	if (fstat(reading->fd, &st) < 0 || (uint64_t)st.st_size <= reading->from)
		return;
	left = (uint64_t)st.st_size - reading->from;
	if (left > CHUNK_BYTES)
		left = CHUNK_BYTES;
	reading->bytes = xmalloc(left);
	got = pread(reading->fd, reading->bytes, left, (off_t)reading->from);
	reading->len = got > 0 ? (size_t)got : 0;
}

static void discard_reading(struct timed_call *call)
{
	struct reading *reading = (struct reading *)call;

	close_fd(&reading->fd);
	free(reading->bytes);
	free(reading);
}

/* NULL if the file system does not answer. */
static struct reading *read_at(const struct jitdump *jitdump, uint64_t from)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));

	*reading = (struct reading){
		.call = {.run = read_chunk,
			 .discard = discard_reading,
			 .place = jitdump->options.place},
		.fd = fcntl(jitdump->fd, F_DUPFD_CLOEXEC, 0),
		.from = from,
	};
	return timed_caller_run(jitdump->options.caller, &reading->call) ? reading : NULL;
}

/* --- Functions ------------------------------------------------------------------------------- */

static bool may_add(struct jitdump *jitdump, uint64_t count)
{
	const uint64_t own = jitdump->used + count;
	const uint64_t used = jitdump->options.budget->used + count;

	if (own > OWN_MIN && (used > ALL_MAX || own > (ALL_MAX - used) / 2))
		return false;
	jitdump->used = own;
	jitdump->options.budget->used = used;
	return true;
}

static void add_link(struct jitdump *jitdump, uint64_t page, uint32_t load)
{
	uint32_t *last = idmap_put(&jitdump->pages, page, 0);

	GROW(jitdump->links, jitdump->link_count, jitdump->link_room);
	jitdump->links[jitdump->link_count] = (struct link){.load = load, .next = *last};
	*last = jitdump->link_count++;
}

static void add_load(struct jitdump *jitdump, const struct load *load)
{
	const uint64_t pages = (load->end >> PAGE_SHIFT) - (load->start >> PAGE_SHIFT) + 1;

	if (!may_add(jitdump, 1 + pages))
		return;
	GROW(jitdump->loads, jitdump->load_count, jitdump->load_room);
	jitdump->loads[jitdump->load_count] = *load;
	for (uint64_t page = load->start >> PAGE_SHIFT; page <= (load->end - 1) >> PAGE_SHIFT;
	     page++)
		add_link(jitdump, page, jitdump->load_count);
	jitdump->load_count++;
}

/*
 * The last function at pc that was there at that time. If there was none yet, the first one that
 * came later: some compilers report code when it runs already.
 */
static uint32_t find_load(const struct jitdump *jitdump, uint64_t pc, uint64_t time_ns)
{
	uint32_t link = idmap_get(&jitdump->pages, pc >> PAGE_SHIFT, 0), later = NO_LOAD;

	for (unsigned i = 0; link != IDMAP_NONE && i < PAGE_FUNCTIONS_MAX; i++) {
		const struct link *at = &jitdump->links[link];
		const struct load *load = &jitdump->loads[at->load];

		link = at->next;
		if (pc < load->start || pc >= load->end)
			continue;
		if (load->from_ns <= time_ns)
			return at->load;
		later = at->load;
	}
	return later;
}

static uint64_t offset_in(const struct load *load, uint64_t pc)
{
	return load->offset + (pc - load->start);
}

static void take_load(struct jitdump *jitdump, const struct jitdump_record *record,
		      struct bytes from)
{
	struct jitdump_load load;

	if (!jitdump_read_load(from, &load))
		return;
	add_load(jitdump, &(struct load){
				  .start = load.address,
				  .end = load.address + load.size_bytes,
				  .from_ns = record->time_ns,
				  .offset = jitdump->position + load.code_at,
			  });
}

static void take_move(struct jitdump *jitdump, const struct jitdump_record *record,
		      struct bytes from)
{
	struct jitdump_move move;
	struct load load;
	uint32_t old;

	if (!jitdump_read_move(from, &move))
		return;
	old = find_load(jitdump, move.from, record->time_ns);
	if (old == NO_LOAD)
		return;
	load = jitdump->loads[old];
	load.offset = offset_in(&load, move.from);
	if (move.size_bytes > load.end - move.from)
		move.size_bytes = load.end - move.from;
	load.start = move.to;
	load.end = move.to + move.size_bytes;
	load.from_ns = record->time_ns;
	add_load(jitdump, &load);
}

/* --- Records --------------------------------------------------------------------------------- */

static void begin(struct jitdump *jitdump, struct bytes from)
{
	struct jitdump_header header;

	if (bytes_left(&from) < JITDUMP_HEADER_BYTES)
		return;
	if (!jitdump_read_header(from, &header)) {
		jitdump->is_over = true;
		return;
	}
	jitdump->is_begun = true;
	jitdump->has_other_clock = header.has_other_clock || jitdump->options.has_other_time;
	jitdump->position = header.size_bytes;
}

/* Whether what is needed of a record is there. */
static bool is_readable(const struct jitdump_record *record, struct bytes from)
{
	struct jitdump_load load;

	if (bytes_left(&from) >= record->size_bytes || bytes_left(&from) == CHUNK_BYTES)
		return true;
	switch (record->kind) {
	case JITDUMP_LOAD:
		return jitdump_read_load(from, &load);
	case JITDUMP_MOVE:
		return bytes_left(&from) >= JITDUMP_MOVE_BYTES;
	default:
		return true;
	}
}

static void take_record(struct jitdump *jitdump, const struct jitdump_record *record,
			struct bytes from)
{
	switch (record->kind) {
	case JITDUMP_LOAD:
		take_load(jitdump, record, from);
		break;
	case JITDUMP_MOVE:
		take_move(jitdump, record, from);
		break;
	case JITDUMP_CLOSE:
		jitdump->is_over = true;
		break;
	default:
		break;
	}
	if (record->time_ns > jitdump->last_ns)
		jitdump->last_ns = record->time_ns;
	jitdump->position += record->size_bytes;
	if (jitdump->position >= JITDUMP_BYTES_MAX)
		jitdump->is_over = true;
}

/* The records that are whole in these bytes, which are at the position. */
static void take_records(struct jitdump *jitdump, struct bytes from)
{
	const uint64_t start = jitdump->position;
	struct jitdump_record record;

	while (!jitdump->is_over) {
		struct bytes rest = bytes_at(from, jitdump->position - start);

		if (bytes_left(&rest) < JITDUMP_RECORD_BYTES)
			return;
		if (!jitdump_read_record(rest, &record))
			jitdump->is_over = true;
		else if (is_readable(&record, rest))
			take_record(jitdump, &record, rest);
		else
			return;
	}
}

/* False if there is no more for now. */
static bool read_some(struct jitdump *jitdump)
{
	const uint64_t from = jitdump->position;
	struct reading *reading = read_at(jitdump, from);
	struct bytes bytes;

	if (!reading) {
		jitdump->is_over = true;
		return false;
	}
	bytes = bytes_of(reading->bytes, reading->len);
	if (jitdump->is_begun)
		take_records(jitdump, bytes);
	else
		begin(jitdump, bytes);
	discard_reading(&reading->call);
	return jitdump->position != from && !jitdump->is_over;
}

static void read_chunks(struct jitdump *jitdump, unsigned count)
{
	for (unsigned i = 0; i < count && !jitdump->is_over; i++)
		if (!read_some(jitdump))
			return;
}

/* False if it was looked at just now. */
static bool look(struct jitdump *jitdump)
{
	uint64_t now_ns;

	if (jitdump->is_over)
		return false;
	if (jitdump->options.is_complete) {
		jitdump_read_on(jitdump);
		return true;
	}
	now_ns = clock_now_ns();
	if (now_ns - jitdump->looked_ns < INTERVAL_NS)
		return false;
	jitdump->looked_ns = now_ns;
	read_chunks(jitdump, CHUNKS_PER_LOOK);
	return true;
}

void jitdump_read_on(struct jitdump *jitdump)
{
	read_chunks(jitdump, UINT_MAX);
	if (jitdump->options.is_complete)
		jitdump->is_over = true;
}

/* --- Places ---------------------------------------------------------------------------------- */

static bool locate_open(struct jitdump *jitdump, uint64_t pc, uint64_t time_ns, uint32_t load,
			struct jitdump_place *ret)
{
	uint32_t *id = idmap_put(&jitdump->by_pc, pc, load);
	struct open_pc *open;

	if (*id == IDMAP_NONE) {
		if (!may_add(jitdump, 1)) {
			idmap_remove(&jitdump->by_pc, pc, load);
			return false;
		}
		*id = jitdump->open_count;
		GROW(jitdump->open, jitdump->open_count, jitdump->open_room);
		jitdump->open[jitdump->open_count++] = (struct open_pc){
			.pc = pc, .first_ns = time_ns, .last_ns = time_ns, .load = load};
	}
	open = &jitdump->open[*id];
	if (time_ns < open->first_ns)
		open->first_ns = time_ns;
	if (time_ns > open->last_ns)
		open->last_ns = time_ns;
	*ret = (struct jitdump_place){.offset = JITDUMP_OPEN | (uint64_t)*id << 1};
	return true;
}

bool jitdump_locate(struct jitdump *jitdump, uint64_t pc, uint64_t time_ns,
		    struct jitdump_place *ret)
{
	const struct load *at;
	uint32_t load;

	if (time_ns > jitdump->last_ns)
		look(jitdump);
	if (jitdump->has_other_clock)
		time_ns = UINT64_MAX;
	load = find_load(jitdump, pc, time_ns);
	if (jitdump->options.is_complete ? load == NO_LOAD : !jitdump->is_begun && jitdump->is_over)
		return false;
	if (!jitdump->options.is_complete && (load == NO_LOAD || time_ns > jitdump->last_ns))
		return locate_open(jitdump, pc, time_ns, load, ret);
	at = &jitdump->loads[load];
	*ret = (struct jitdump_place){
		.offset = offset_in(at, pc), .start = at->start, .end = at->end};
	return true;
}

bool jitdump_settle(const struct jitdump *jitdump, uint64_t offset, uint64_t *ret)
{
	const uint64_t id = (offset & ~JITDUMP_OPEN) >> 1;
	const struct open_pc *open;
	uint32_t load;

	*ret = 0;
	if (id >= jitdump->open_count)
		return false;
	open = &jitdump->open[id];
	*ret = open->pc;
	load = jitdump->has_other_clock ? open->load : NO_LOAD;
	/* Another function may have come in between: most of the time counts. */
	if (load == NO_LOAD)
		load = find_load(jitdump, open->pc,
				 open->first_ns + (open->last_ns - open->first_ns) / 2);
	if (load == NO_LOAD)
		return false;
	*ret = offset_in(&jitdump->loads[load], open->pc);
	return true;
}
