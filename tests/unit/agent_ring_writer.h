/* Writes records into an agent ring, both as libprof-inside.so does and as it
 * never would. */
#ifndef PROF_TESTS_UNIT_AGENT_RING_WRITER_H
#define PROF_TESTS_UNIT_AGENT_RING_WRITER_H

#include "base/clock.h"
#include "inside/file.h"

#include <string.h>
#include <unistd.h>

enum { TEST_REGISTERS = 3 };
#if defined(__x86_64__)
#define TEST_REGS_MASK (1u << 6 | 1u << 7 | 1u << 8) /* bp, sp, ip */
enum { TEST_PC_BIT = 8 };
#else
#define TEST_REGS_MASK (1u << 29 | 1u << 31 | UINT64_C(1) << 32) /* fp, sp, pc */
enum { TEST_PC_BIT = 32 };
#endif

static inline struct inside_ring *agent_ring_of(const struct inside_file *file, unsigned index)
{
	return (struct inside_ring *)(void *)(file->mapped +
					      (size_t)(1 + index) * INSIDE_PAGE_BYTES);
}

static inline unsigned char *agent_ring_bytes(const struct inside_file *file, unsigned index)
{
	return file->mapped + (size_t)(1 + INSIDE_RINGS) * INSIDE_PAGE_BYTES +
	       (size_t)index * INSIDE_RING_BYTES;
}

/* The record starts with its header, whose length and time are set here. */
static inline void agent_ring_write(const struct inside_file *file, unsigned index, void *record,
				    size_t len)
{
	struct inside_ring *ring = agent_ring_of(file, index);
	size_t at = ring->head % INSIDE_RING_BYTES, padded = (len + 7) / 8 * 8;
	struct inside_header header;

	if (at + padded > INSIDE_RING_BYTES) {
		uint32_t pad[2] = {(uint32_t)(INSIDE_RING_BYTES - at), INSIDE_PAD};

		memcpy(agent_ring_bytes(file, index) + at, pad, sizeof(pad));
		ring->head += INSIDE_RING_BYTES - at;
		at = 0;
	}
	memcpy(&header, record, sizeof(header));
	header.bytes = (uint32_t)padded;
	if (!header.time_ns)
		header.time_ns = clock_now_ns();
	memcpy(record, &header, sizeof(header));
	memcpy(agent_ring_bytes(file, index) + at, record, len);
	ring->head += padded;
}

static inline struct inside_header header_of(enum inside_type type, unsigned flags, int pid,
					     int tid)
{
	return (struct inside_header){.type = (uint16_t)type,
				      .flags = (uint16_t)flags,
				      .pid = (uint32_t)pid,
				      .tid = (uint32_t)tid};
}

static inline void agent_ring_write_start(const struct inside_file *file, unsigned index,
					  int parent, int pid, const char *comm, bool exec)
{
	struct inside_start start = {
		.header = header_of(INSIDE_START, exec ? INSIDE_START_EXEC : 0, pid, pid),
		.parent_pid = (uint32_t)parent,
	};

	strncpy(start.comm, comm, sizeof(start.comm) - 1);
	agent_ring_write(file, index, &start, sizeof(start));
}

static inline void agent_ring_write_maps(const struct inside_file *file, unsigned index, int pid,
					 const char *text)
{
	struct {
		struct inside_maps maps;
		char text[4096];
	} record = {.maps.header = header_of(INSIDE_MAPS, 0, pid, pid)};

	record.maps.text_bytes = (uint32_t)strlen(text);
	strncpy(record.text, text, sizeof(record.text) - 1);
	agent_ring_write(file, index, &record, sizeof(record.maps) + strlen(text));
}

struct agent_ring_test_stack {
	struct inside_stack stack;
	uint64_t registers[TEST_REGISTERS], words[4];
};

static inline struct agent_ring_test_stack stack_at(uint64_t pc)
{
	return (struct agent_ring_test_stack){
		.stack = {.regs_mask = TEST_REGS_MASK,
			  .stack_bytes = sizeof(((struct agent_ring_test_stack *)0)->words)},
		.registers = {1, 2, pc},
		.words = {11, 12, 13, 14},
	};
}

static inline void agent_ring_write_cpu(const struct inside_file *file, unsigned index, int pid,
					int tid, uint64_t period_ns)
{
	struct {
		struct inside_header header;
		uint64_t period_ns;
		struct agent_ring_test_stack stack;
	} record = {header_of(INSIDE_CPU, 0, pid, tid), period_ns, stack_at(0x1234)};

	agent_ring_write(file, index, &record, sizeof(record));
}

static inline void agent_ring_write_alloc(const struct inside_file *file, unsigned index, int pid,
					  int tid, uint64_t address, unsigned flags)
{
	struct {
		struct inside_header header;
		uint64_t address, size_bytes, period_bytes;
		struct agent_ring_test_stack stack;
	} record = {header_of(INSIDE_ALLOC, flags, pid, tid), address, 100, 512 << 10,
		    stack_at(0x5678)};

	agent_ring_write(file, index, &record, sizeof(record));
}

static inline void agent_ring_write_free(const struct inside_file *file, unsigned index, int pid,
					 int tid, uint64_t address)
{
	struct inside_free record = {.header = header_of(INSIDE_FREE, 0, pid, tid),
				     .address = address};

	agent_ring_write(file, index, &record, sizeof(record));
}

#endif
