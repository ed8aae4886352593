#include "perf/ring.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/refusal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t ring_control_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void ring_init(struct ring *ring, void *memory, size_t data_bytes)
{
	*ring = (struct ring){
		.fd = -1,
		.control = memory,
		.data = (unsigned char *)memory + ring_control_bytes(),
		.size_bytes = data_bytes,
	};
	ring->tail = ring->end = ring->control->data_tail;
}

struct error *ring_open(unsigned cpu, size_t data_bytes, uint32_t watermark_bytes, struct ring *ret)
{
	struct perf_event_attr attr;
	CLEANUP(close_fd) int fd = -1;
	void *memory = NULL;

	attr_ring_owner(&attr, watermark_bytes);
	fd = attr_open(&attr, 0, (int)cpu);
	if (fd < 0)
		return refusal_explain(&(struct refusal){.number = -fd, .cpu = cpu});
	memory = mmap(NULL, ring_control_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	if (memory == MAP_FAILED) {
		int number = errno;

		return error_hint(
			error_errno(number, "map a ring buffer of %zu KiB", data_bytes / 1024),
			"allow more locked memory: ulimit -l unlimited, or sudo sysctl "
			"kernel.perf_event_mlock_kb=8192");
	}
	ring_init(ret, memory, data_bytes);
	ret->fd = steal_fd(&fd);
	return NULL;
}

void ring_close(struct ring *ring)
{
	if (ring->fd < 0)
		return;
	munmap(ring->control, ring_control_bytes() + ring->size_bytes);
	close(ring->fd);
	free(ring->wrapped);
	*ring = (struct ring){.fd = -1};
}

void ring_note_head(struct ring *ring)
{
	ring->end = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

static struct bytes make_contiguous(struct ring *ring, uint64_t offset, uint64_t len)
{
	uint64_t until_end = ring->size_bytes - offset;

	if (len <= until_end)
		return bytes_of(ring->data + offset, len);
	if (!ring->wrapped)
		ring->wrapped = xmalloc(UINT16_MAX);
	memcpy(ring->wrapped, ring->data + offset, until_end);
	memcpy(ring->wrapped + until_end, ring->data, len - until_end);
	return bytes_of(ring->wrapped, len);
}

enum ring_front ring_front(struct ring *ring, struct bytes *raw)
{
	uint64_t unread = ring->end - ring->tail;
	uint64_t offset = ring->tail & (ring->size_bytes - 1);
	struct perf_event_header header;

	if (unread == 0)
		return RING_EMPTY;
	ring->front_bytes = unread;
	/* Record sizes are multiples of 8, so a header never wraps. */
	if (unread > ring->size_bytes || unread < sizeof(header) || offset % sizeof(header) != 0)
		return RING_DAMAGED;
	memcpy(&header, ring->data + offset, sizeof(header));
	if (header.size < sizeof(header) || header.size > unread)
		return RING_DAMAGED;
	ring->front_bytes = header.size;
	*raw = make_contiguous(ring, offset, header.size);
	return RING_RECORD;
}

void ring_prefetch(const struct ring *ring)
{
	enum { LINE_BYTES = 64, HEAD_LINES = 3 };
	uint64_t next = ring->tail + ring->front_bytes, mask = ring->size_bytes - 1;

	/* This is the last record. */
	if (ring->end - next - 1 >= ring->end - ring->tail)
		return;
	for (unsigned i = 0; i < HEAD_LINES; i++)
		__builtin_prefetch(ring->data + ((next + i * LINE_BYTES) & mask));
	__builtin_prefetch(ring->data + ((next + ring->front_bytes - 1) & mask));
}

void ring_skip(struct ring *ring)
{
	ring->tail += ring->front_bytes;
	ring->front_bytes = 0;
}

uint64_t ring_given_back(const struct ring *ring)
{
	return __atomic_load_n(&ring->control->data_tail, __ATOMIC_ACQUIRE);
}

static void give_back(struct ring *ring, uint64_t until)
{
	__atomic_store_n(&ring->control->data_tail, until, __ATOMIC_RELEASE);
}

void ring_advance(struct ring *ring)
{
	ring_skip(ring);
	give_back(ring, ring->tail);
}
