#include "perf/ring_set.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	/* A sample ring holds the samples of this time, within these bounds. */
	RING_MS = 100,
	RING_SET_RING_BYTES_MIN = 2 << 20,
	RING_SET_RING_BYTES_MAX = 16 << 20,
	DEFAULT_RING_BYTES = 4 << 20, /* if the rate is unknown */
	/* Rings are not halved below this size, because a few records with
	 * large stacks must fit. */
	SMALLEST_RING_BYTES = 128 << 10,
	/* A ring that is smaller than this, or than the requested size, is
	 * reported to the user. */
	SMALL_RING_BYTES = 512 << 10,
	/* The side-band ring has this fraction of a sample ring, but more if
	 * the reader polls by time, and at least SIDE_BAND_BYTES_MIN. */
	SIDE_BAND_SHARE = 8,
	POLLED_SIDE_BAND_SHARE = 4,
	SIDE_BAND_BYTES_MIN = 32 << 10,
	/*
	 * The kernel wakes the reader after this many bytes. They are still in
	 * the cache, most of the ring remains free while the reader waits for a
	 * CPU, and a wakeup is cheap compared with reading them.
	 */
	WATERMARK_BYTES = 256 << 10,
	/*
	 * A context switch is two records of 40 bytes. The reader polls every
	 * few ms, but may have to wait for a CPU.
	 */
	SWITCHES_PER_SECOND = 200000,
	SWITCH_BYTES = 2 * 40,
	SWITCHES_MS = 50,
	SWITCH_RING_BYTES_MAX = 1 << 20,
};

_Static_assert((int64_t)SWITCHES_PER_SECOND *SWITCH_BYTES *SWITCHES_MS / 1000 <=
		       SWITCH_RING_BYTES_MAX,
	       "a ring holds the switches of that time");

void ring_set_init(struct ring_set *set, unsigned kinds, size_t cpu_count)
{
	*set = (struct ring_set){.cpu_count = (unsigned)cpu_count};
	for (unsigned kind = 0; kind < RING_KINDS; kind++)
		if (kinds & 1U << kind)
			set->kinds[set->kind_count++] = (enum ring_kind)kind;
	set->items = xcalloc(ring_set_count(set), sizeof(*set->items));
	for (unsigned i = 0; i < ring_set_count(set); i++)
		set->items[i].fd = -1;
}

static void ring_set_close_all(struct ring_set *set)
{
	for (unsigned i = 0; i < ring_set_count(set); i++)
		ring_close(&set->items[i]);
}

void ring_set_deinit(struct ring_set *set)
{
	ring_set_close_all(set);
	free(set->items);
}

static size_t round_down_to_pages(size_t bytes)
{
	size_t rounded = ring_control_bytes();

	while (rounded <= bytes / 2)
		rounded *= 2;
	return rounded;
}

static size_t default_bytes(uint64_t bytes_per_second)
{
	uint64_t bytes = bytes_per_second * RING_MS / 1000;

	if (!bytes)
		return DEFAULT_RING_BYTES;
	if (bytes > RING_SET_RING_BYTES_MAX)
		return RING_SET_RING_BYTES_MAX;
	return bytes < RING_SET_RING_BYTES_MIN ? RING_SET_RING_BYTES_MIN : bytes;
}

struct ring *ring_set_of(const struct ring_set *set, enum ring_kind kind)
{
	for (unsigned i = 0; i < set->kind_count; i++)
		if (set->kinds[i] == kind)
			return set->items + i * set->cpu_count;
	return NULL;
}

size_t ring_set_bytes(const struct ring_set *set, enum ring_kind kind)
{
	size_t side_bytes = set->ring_bytes /
			    (set->is_polled ? POLLED_SIDE_BAND_SHARE : SIDE_BAND_SHARE);

	switch (kind) {
	case RINGS_SIDE_BAND:
		return side_bytes < SIDE_BAND_BYTES_MIN ? SIDE_BAND_BYTES_MIN : side_bytes;
	case RINGS_SWITCHES:
		return set->ring_bytes < SWITCH_RING_BYTES_MAX ? set->ring_bytes
							       : SWITCH_RING_BYTES_MAX;
	case RINGS_SAMPLES:
		return set->ring_bytes;
	default:
		return set->captured_bytes;
	}
}

static uint32_t watermark(const struct ring_set *set, enum ring_kind kind)
{
	size_t ring_bytes = set->ring_bytes;

	/* The reader polls these by time. */
	if (kind == RINGS_SWITCHES)
		return (uint32_t)(ring_set_bytes(set, kind) / 2);
	/* Every side-band record wakes the reader, so that files are opened
	 * while their process is alive. */
	if (kind != RINGS_SAMPLES)
		return 1;
	if (set->is_polled)
		return (uint32_t)(ring_bytes / 2);
	return (uint32_t)(ring_bytes / 4 > WATERMARK_BYTES ? WATERMARK_BYTES : ring_bytes / 4);
}

static struct error *ring_set_open_all(struct ring_set *set, const unsigned *cpus)
{
	for (unsigned i = 0; i < ring_set_count(set); i++) {
		enum ring_kind kind = ring_set_kind(set, i);
		struct error *err = ring_open(cpus[i % set->cpu_count], ring_set_bytes(set, kind),
					      watermark(set, kind), &set->items[i]);

		if (err)
			return err;
	}
	return NULL;
}

/* Returns false if the rings already have the smallest size. */
static bool shrink(struct ring_set *set)
{
	if (set->captured_bytes == set->ring_bytes && set->ring_bytes <= SMALLEST_RING_BYTES)
		return false;
	if (set->captured_bytes == set->ring_bytes)
		set->captured_bytes /= 2;
	else
		set->ring_bytes /= 2;
	return true;
}

static bool is_for_lack_of_memory(const struct error *err)
{
	return error_number(err) == EPERM || error_number(err) == ENOMEM;
}

struct error *ring_set_open(struct ring_set *set, const unsigned *cpus, size_t wanted_bytes,
			    uint64_t bytes_per_second, bool is_polled)
{
	size_t bytes = round_down_to_pages(wanted_bytes ? wanted_bytes
							: default_bytes(bytes_per_second));

	set->ring_bytes = set->captured_bytes = bytes;
	set->is_polled = is_polled;
	for (;;) {
		struct error *err = ring_set_open_all(set, cpus);

		if (!err)
			return NULL;
		ring_set_close_all(set);
		if (!is_for_lack_of_memory(err) || !shrink(set))
			return err;
		error_free(err);
		set->is_shrunk = set->ring_bytes < (wanted_bytes ? bytes : SMALL_RING_BYTES);
	}
}

struct error *ring_set_watch(const struct ring_set *set, int *ret)
{
	CLEANUP(close_fd) int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return error_errno(errno, "watch the ring buffers");
	for (unsigned i = 0; i < ring_set_count(set); i++) {
		struct epoll_event interest = {.events = EPOLLIN};

		if (ring_set_kind(set, i) == RINGS_CAPTURED)
			continue;
		if (epoll_ctl(fd, EPOLL_CTL_ADD, set->items[i].fd, &interest) < 0)
			return error_errno(errno, "watch the ring buffers");
	}
	*ret = steal_fd(&fd);
	return NULL;
}
