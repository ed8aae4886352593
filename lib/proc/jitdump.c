#include "proc/jitdump.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/jitdump_format.h"
#include "proc/tail.h"

#include <limits.h>

/* The interval for reading a growing file, and the maximum per read. */
#define JITDUMP_INTERVAL_NS (100 * NS_PER_MS)
enum { JITDUMP_CHUNKS_PER_LOOK = 32 };

/* The costs of a record, and of reading a part of the file. */
enum { RECORD_STEPS = 32, JITDUMP_CHUNK_STEPS = 16 << 10 };

/* A pc for a time that the file has not reached. */
struct open_pc {
	uint64_t pc;
	uint64_t first_ns, last_ns;
	uint32_t load; /* the last known function there, or CODE_NONE */
};

struct jitdump {
	struct jitdump_options options;
	int fd;
	bool is_begun; /* its header was read */
	bool is_over;  /* nothing more will be read */
	bool has_other_clock;
	uint64_t position; /* of the next record */
	uint64_t last_ns;  /* latest time in the file */
	uint64_t looked_ns;
	uint64_t reading_max_ns; /* per second */
	struct code_index index; /* offsets are in the file */
	struct open_pc *open;
	uint32_t open_count, open_room;
	struct idmap by_pc; /* (pc, load) → index in `open` */
};

struct jitdump *jitdump_new(int fd, const struct jitdump_options *options)
{
	struct jitdump *jitdump = xcalloc(1, sizeof(*jitdump));

	jitdump->fd = fd;
	jitdump->options = *options;
	jitdump->index.budget = options->budget;
	return jitdump;
}

void jitdump_free(struct jitdump *jitdump)
{
	if (!jitdump)
		return;
	close_fd(&jitdump->fd);
	code_index_deinit(&jitdump->index);
	free(jitdump->open);
	idmap_deinit(&jitdump->by_pc);
	free(jitdump);
}

int jitdump_fd(const struct jitdump *jitdump)
{
	return jitdump->fd;
}

size_t jitdump_count(const struct jitdump *jitdump)
{
	return jitdump->index.count;
}

/* --- Functions ------------------------------------------------------------------------------- */

static uint64_t offset_in(const struct code_range *load, uint64_t pc)
{
	return load->offset + (pc - load->start);
}

static void take_load(struct jitdump *jitdump, const struct jitdump_record *record,
		      struct bytes from)
{
	struct jitdump_load load;

	if (!jitdump_read_load(from, &load))
		return;
	code_index_add(&jitdump->index, &(struct code_range){
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
	struct code_range load;
	uint64_t steps = 0;
	uint32_t old;

	if (!jitdump_read_move(from, &move))
		return;
	old = code_index_find(&jitdump->index, move.from, record->time_ns, &steps);
	code_index_spend(&jitdump->index, steps);
	if (old == CODE_NONE)
		return;
	load = jitdump->index.ranges[old];
	load.offset = offset_in(&load, move.from);
	if (move.size_bytes > load.end - move.from)
		move.size_bytes = load.end - move.from;
	load.start = move.to;
	load.end = move.to + move.size_bytes;
	load.from_ns = record->time_ns;
	code_index_add(&jitdump->index, &load);
}

/* --- Records --------------------------------------------------------------------------------- */

static void jitdump_begin(struct jitdump *jitdump, struct bytes from)
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

/* Returns whether the needed part of the record is there. */
static bool is_readable(const struct jitdump_record *record, struct bytes from)
{
	struct jitdump_load load;

	if (bytes_left(&from) >= record->size_bytes || bytes_left(&from) == TAIL_BYTES)
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

static void jitdump_take_record(struct jitdump *jitdump, const struct jitdump_record *record,
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
	code_index_spend(&jitdump->index, RECORD_STEPS);
	if (jitdump->position >= JITDUMP_BYTES_MAX)
		jitdump->is_over = true;
}

static bool jitdump_may_read(struct jitdump *jitdump)
{
	return !jitdump->is_over &&
	       (jitdump->options.is_complete ||
		code_index_may_read(&jitdump->index, jitdump->looked_ns, jitdump->reading_max_ns));
}

/* Adds the complete records in these bytes, which start at `position`. */
static void take_records(struct jitdump *jitdump, struct bytes from)
{
	const uint64_t start = jitdump->position;
	struct jitdump_record record;

	while (jitdump_may_read(jitdump)) {
		struct bytes rest = bytes_at(from, jitdump->position - start);

		if (bytes_left(&rest) < JITDUMP_RECORD_BYTES)
			return;
		if (!jitdump_read_record(rest, &record)) {
			jitdump->is_over = true;
			return;
		}
		record.time_ns -= jitdump->options.time_offset_ns;
		if (is_readable(&record, rest))
			jitdump_take_record(jitdump, &record, rest);
		else
			return;
	}
}

/* Returns false if there is no more for now. */
static bool jitdump_read_some(struct jitdump *jitdump)
{
	const uint64_t from = jitdump->position;
	CLEANUP(tail_cleanup)
	struct tail *tail = tail_read(jitdump->options.caller, jitdump->options.place, jitdump->fd,
				      from);
	struct bytes bytes;

	if (!tail) {
		jitdump->is_over = true;
		return false;
	}
	bytes = bytes_of(tail->bytes, tail->len);
	code_index_spend(&jitdump->index, JITDUMP_CHUNK_STEPS);
	if (jitdump->is_begun)
		take_records(jitdump, bytes);
	else
		jitdump_begin(jitdump, bytes);
	return jitdump->position != from && !jitdump->is_over;
}

static void read_chunks(struct jitdump *jitdump, unsigned count, uint64_t max_ns)
{
	jitdump->looked_ns = clock_now_ns();
	jitdump->reading_max_ns = max_ns;
	for (unsigned i = 0; i < count && jitdump_may_read(jitdump); i++)
		if (!jitdump_read_some(jitdump))
			return;
}

static void jitdump_look(struct jitdump *jitdump)
{
	if (jitdump->is_over)
		return;
	if (jitdump->options.is_complete)
		jitdump_read_on(jitdump);
	else if (clock_now_ns() - jitdump->looked_ns >= JITDUMP_INTERVAL_NS)
		read_chunks(jitdump, JITDUMP_CHUNKS_PER_LOOK, CODE_READING_MAX_NS);
}

void jitdump_read_on(struct jitdump *jitdump)
{
	read_chunks(jitdump, UINT_MAX, CODE_LAST_READING_MAX_NS);
	if (jitdump->options.is_complete)
		jitdump->is_over = true;
}

/* --- Lookup ----------------------------------------------------------------------------------- */

static bool locate_open(struct jitdump *jitdump, uint64_t pc, uint64_t time_ns, uint32_t load,
			struct jitdump_place *ret)
{
	uint32_t *id = idmap_put(&jitdump->by_pc, pc, load);
	struct open_pc *open;

	if (*id == IDMAP_NONE) {
		if (!code_index_take(&jitdump->index, 1)) {
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
	const struct code_range *at;
	uint32_t load;

	if (time_ns > jitdump->last_ns)
		jitdump_look(jitdump);
	if (jitdump->has_other_clock)
		time_ns = UINT64_MAX;
	load = code_index_find(&jitdump->index, pc, time_ns, NULL);
	if (jitdump->options.is_complete ? load == CODE_NONE
					 : !jitdump->is_begun && jitdump->is_over)
		return false;
	if (!jitdump->options.is_complete && (load == CODE_NONE || time_ns > jitdump->last_ns))
		return locate_open(jitdump, pc, time_ns, load, ret);
	at = &jitdump->index.ranges[load];
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
	load = jitdump->has_other_clock ? open->load : CODE_NONE;
	/*
	 * Another function may have been there for a part of the time. The one
	 * in the middle is used.
	 */
	if (load == CODE_NONE)
		load = code_index_find(&jitdump->index, open->pc,
				       open->first_ns + (open->last_ns - open->first_ns) / 2, NULL);
	if (load == CODE_NONE)
		return false;
	*ret = offset_in(&jitdump->index.ranges[load], open->pc);
	return true;
}
