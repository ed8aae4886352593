#include "proc/perf_map.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/timed_open.h"
#include "proc/tail.h"

#include <unistd.h>

/* The minimum interval between reads of a map, and the maximum per read. */
#define PERF_MAP_INTERVAL_NS (10 * NS_PER_MS)
enum { PERF_MAP_CHUNKS_PER_LOOK = 32 };

/* If the map is older, the clock was set, or the map existed before. */
#define AGE_NS_MAX NS_PER_SECOND

/* The numbers of a line: "7f0000001000 100 ", in any form. */
enum { NUMBERS_BYTES = 64 };

/* The limit for reading symbols (symbol/perfmap.h) is the same. */
enum { PERF_MAP_BYTES_MAX = 256 << 20 };

/* The costs of a line, and of reading a part of the file. */
enum { LINE_STEPS = 32, PERF_MAP_CHUNK_STEPS = 16 << 10 };

/* A longer line is invalid. */
enum { PERF_MAP_LINE_BYTES_MAX = TAIL_BYTES };

struct perf_map_generation {
	uint64_t from_ns;
	uint64_t at; /* offset in the map where it starts */
};

struct perf_map {
	int fd;
	struct timed_caller *caller;
	uint64_t place;
	struct code_index index; /* marks are 1 + the generation of the last sample, or 0 */
	bool is_over;
	uint64_t position; /* of the next line */
	uint64_t looked_ns;
	struct perf_map_generation *generations;
	uint32_t count, room;
};

static void begin_generation(struct perf_map *map, uint64_t from_ns, uint64_t at)
{
	GROW(map->generations, map->count, map->room);
	map->generations[map->count++] = (struct perf_map_generation){.from_ns = from_ns, .at = at};
}

struct perf_map *perf_map_new(int fd, struct timed_caller *caller, struct code_budget *budget,
			      uint64_t place)
{
	struct perf_map *map = xcalloc(1, sizeof(*map));

	map->fd = fd;
	map->caller = caller;
	map->place = place;
	map->index.budget = budget;
	begin_generation(map, 0, 0);
	return map;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	close_fd(&map->fd);
	code_index_deinit(&map->index);
	free(map->generations);
	free(map);
}

/* This is the same file, so its owner was checked when it was first opened. */
int perf_map_open_again(const struct perf_map *map)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/self/fd/%d", map->fd);
	const struct untrusted_name name = {.path = path, .user = geteuid()};

	return timed_open(map->caller, &name, 1, 0, NULL);
}

static bool perf_map_parse_line(struct bytes line, struct code_range *ret)
{
	char text[NUMBERS_BYTES + 1];
	size_t len = bytes_left(&line) < NUMBERS_BYTES ? bytes_left(&line) : NUMBERS_BYTES;
	const char *at = text;
	uint64_t size_bytes;

	*bytes_append(text, bytes_of(line.at, len)) = '\0';
	if (!text_hex(&at, &ret->start) || *at++ != ' ' || !text_hex(&at, &size_bytes))
		return false;
	return size_bytes && !__builtin_add_overflow(ret->start, size_bytes, &ret->end);
}

/* Returns whether the line repeats an earlier one. */
static bool perf_map_is_known(const struct perf_map *map, const struct code_range *range,
			      uint64_t *steps)
{
	uint32_t number = code_index_find(&map->index, range->start, UINT64_MAX, steps);
	const struct code_range *known;

	if (number == CODE_NONE)
		return false;
	known = &map->index.ranges[number];
	return known->start == range->start && known->end == range->end &&
	       known->offset == range->offset;
}

/*
 * Returns whether the range replaces code that has samples in this generation.
 */
static bool begins_generation(const struct perf_map *map, const struct code_range *range,
			      uint64_t *steps)
{
	return map->count < PERF_MAP_GENERATIONS_MAX &&
	       code_index_overlaps(&map->index, range->start, range->end, map->count, steps);
}

/* Converts mtime(7) to the clock of the samples. */
static uint64_t changed_ns(const struct tail *tail)
{
	struct timespec now, tick;
	uint64_t age_ns, now_ns = clock_now_ns();

	clock_gettime(CLOCK_REALTIME, &now);
	clock_getres(CLOCK_REALTIME_COARSE, &tick);
	age_ns = (uint64_t)(now.tv_sec - tail->changed.tv_sec) * NS_PER_SECOND +
		 (uint64_t)(now.tv_nsec - tail->changed.tv_nsec);
	/* The file's time is up to one tick before the write. */
	age_ns = age_ns > (uint64_t)tick.tv_nsec / 2 ? age_ns - (uint64_t)tick.tv_nsec / 2 : 0;
	return age_ns < AGE_NS_MAX ? now_ns - age_ns : now_ns;
}

static void take_range(struct perf_map *map, const struct code_range *range,
		       const struct tail *tail, uint64_t *steps)
{
	if (perf_map_is_known(map, range, steps))
		return;
	if (begins_generation(map, range, steps))
		begin_generation(map, changed_ns(tail), map->position);
	code_index_add(&map->index, range);
}

static void perf_map_take_line(struct perf_map *map, struct bytes line, const struct tail *tail)
{
	struct code_range range = {0};
	uint64_t steps = LINE_STEPS + bytes_left(&line) / LINE_STEPS;

	if (perf_map_parse_line(line, &range)) {
		range.offset = hash_bytes(line.at, bytes_left(&line));
		take_range(map, &range, tail, &steps);
	}
	code_index_spend(&map->index, steps);
}

static bool next_line(struct bytes *rest, struct bytes *ret)
{
	const unsigned char *newline = bytes_left(rest) ? memchr(rest->at, '\n', bytes_left(rest))
							: NULL;

	if (!newline)
		return false;
	*ret = bytes_of(rest->at, (size_t)(newline - rest->at));
	bytes_skip(rest, bytes_left(ret) + 1);
	return true;
}

static bool perf_map_may_read(struct perf_map *map)
{
	return code_index_may_read(&map->index, map->looked_ns, CODE_READING_MAX_NS);
}

/* Returns false if there is no more for now. */
static bool perf_map_read_some(struct perf_map *map)
{
	CLEANUP(tail_cleanup)
	struct tail *tail = tail_read(map->caller, map->place, map->fd, map->position);
	struct bytes rest, line;
	bool has_line;

	if (!tail) {
		map->is_over = true;
		return false;
	}
	rest = bytes_of(tail->bytes, tail->len);
	code_index_spend(&map->index, PERF_MAP_CHUNK_STEPS);
	while ((has_line = next_line(&rest, &line)) && perf_map_may_read(map)) {
		perf_map_take_line(map, line, tail);
		map->position += bytes_left(&line) + 1;
	}
	map->is_over = (!has_line && bytes_left(&rest) == PERF_MAP_LINE_BYTES_MAX) ||
		       map->position > PERF_MAP_BYTES_MAX;
	return tail->len == TAIL_BYTES && !map->is_over;
}

/*
 * Samples arrive in batches. The first one that is later than the last read
 * causes a read.
 */
static void perf_map_look(struct perf_map *map, uint64_t time_ns)
{
	uint64_t now_ns;

	if (map->is_over || time_ns <= map->looked_ns)
		return;
	now_ns = clock_now_ns();
	if (now_ns - map->looked_ns < PERF_MAP_INTERVAL_NS)
		return;
	map->looked_ns = now_ns;
	for (unsigned i = 0; i < PERF_MAP_CHUNKS_PER_LOOK && perf_map_may_read(map); i++)
		if (!perf_map_read_some(map))
			return;
}

uint32_t perf_map_generation(struct perf_map *map, uint64_t pc, uint64_t time_ns, uint64_t *start,
			     uint64_t *end)
{
	struct code_range *range;
	uint32_t number, generation;

	perf_map_look(map, time_ns);
	generation = map->count - 1;
	while (generation && map->generations[generation].from_ns > time_ns)
		generation--;
	*start = *end = 0;
	number = code_index_find(&map->index, pc, UINT64_MAX, NULL);
	if (number == CODE_NONE)
		return generation;
	range = &map->index.ranges[number];
	range->mark = generation + 1;
	*start = range->start;
	*end = range->end;
	return generation;
}

uint64_t perf_map_bytes(const struct perf_map *map, uint32_t generation)
{
	return generation + 1 < map->count ? map->generations[generation + 1].at : UINT64_MAX;
}
