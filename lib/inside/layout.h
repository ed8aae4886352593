/*
 * What prof and libprof-inside.so share: a memfd named INSIDE_FILE_NAME, mapped by prof and by
 * every process that runs the library. This is the only header of prof that the library includes.
 *
 *     page 0                   struct inside_control
 *     page 1 + i               struct inside_lane of lane i, for i < INSIDE_LANES
 *     then, per lane           INSIDE_LANE_BYTES of records
 *
 * Handover: the environment variable INSIDE_VARIABLE is "FD:PID": the descriptor in the process
 * that has started the program, which it inherits over fork and execve; where it was closed, the
 * library opens /proc/PID/fd/FD. A library that finds neither, or another magic or version, does
 * nothing.
 *
 * A lane is a ring of bytes with one writer at a time. A thread takes a lane for a record by
 * setting its owner from 0 to its tid. It never waits: where a lane is taken or full, it tries the
 * next one. If no lane has room, the record is lost, and counted. head and tail count bytes since
 * the beginning and only grow; a record is written entirely before head moves over it (release). A
 * record is a multiple of 8 bytes and does not cross the end of its lane: INSIDE_PAD fills the
 * rest. There are always INSIDE_FREE_RESERVE bytes left for INSIDE_FREE: other records find no room
 * before.
 *
 * prof believes nothing that it reads here: the other side may write anything at any time.
 *
 * Order: a record's time is read before it is written, and INSIDE_ALLOC is written before malloc()
 * returns, INSIDE_FREE before the block is given back. So a reader that first notes the time, then
 * all heads, and takes the records up to that time, merged by time, never sees a block's end
 * without its beginning, nor an address twice:
 * - If one record is written before the time of another is read, all that is in its lane before it
 *   has an earlier time than the other.
 * - Such records have different times: between both readings of the clock a record is written,
 *   which takes longer than a tick of the clock.
 */
#ifndef PROF_INSIDE_LAYOUT_H
#define PROF_INSIDE_LAYOUT_H

#include <stdint.h>

#define INSIDE_VARIABLE "PROF_INSIDE"
#define INSIDE_FILE_NAME "prof-inside"
#define INSIDE_LIBRARY_NAME "libprof-inside.so"
#define INSIDE_MAGIC UINT64_C(0x3165646973666f70)

enum {
	INSIDE_VERSION = 3,
	INSIDE_PAGE_BYTES = 4096, /* of the layout; the machine's pages may be larger */
	INSIDE_LANES = 16,
	INSIDE_LANE_BYTES = 1 << 20,
	INSIDE_FREE_RESERVE = INSIDE_LANE_BYTES / 8,
	INSIDE_STACK_MAX = 32 << 10,
	INSIDE_MAPS_MAX = 32 << 10, /* of text in one INSIDE_MAPS */
};

#define INSIDE_SCALE (UINT64_C(1) << 44)

#define INSIDE_FILE_BYTES                                                                          \
	((uint64_t)(1 + INSIDE_LANES) * INSIDE_PAGE_BYTES +                                        \
	 (uint64_t)INSIDE_LANES * INSIDE_LANE_BYTES)

/* Written by prof, read by the library, except for the counters. All accesses are atomic. */
struct inside_control {
	uint64_t magic;
	uint32_t version;
	/* The inode of prof's pid namespace (/proc/self/ns/pid). In another one pids mean other
	 * processes: the library stays idle there and counts itself in `foreign`. */
	uint32_t pid_namespace;
	/* Mean number of bytes between two sampled allocations; 0: allocations are not recorded. */
	uint64_t alloc_period;
	/* INSIDE_SCALE / alloc_period, or 0: what a byte counts on the way to the next sample. It
	 * is all that the library looks at for an allocation. */
	uint64_t alloc_scale;
	uint32_t alloc_maps; /* mmap and munmap of anonymous memory count as allocations, too */
	/* The rate of each thread's CPU timer; 0: none. Read when a thread begins. */
	uint32_t cpu_hz;
	/* INSIDE_START and INSIDE_MAPS are written: also set where only the mappings are wanted. */
	uint32_t records_mappings;

	/* Counters, written by the library. */
	uint32_t foreign;   /* processes of another pid namespace */
	uint64_t untracked; /* sampled blocks whose free() will not be seen: INSIDE_ALLOC says so */
	/* Records for which there was no lane with room. */
	uint64_t lost;		 /* INSIDE_ALLOC and INSIDE_CPU … */
	uint64_t lost_frees;	 /* … and INSIDE_FREE … */
	uint64_t lost_mappings;	 /* … and INSIDE_START and INSIDE_MAPS */
	uint32_t timers_refused; /* threads that got no CPU timer */

	/* Written by prof: the inode of its time namespace (/proc/self/ns/time), and by how much
	 * CLOCK_MONOTONIC is ahead in it. */
	uint32_t time_namespace;
	uint64_t time_offset_ns;
};

struct inside_lane {
	uint32_t owner; /* tid of the thread that writes; 0: none */
	uint32_t zero;
	uint64_t head; /* bytes written, by the library */
	uint64_t pad[6];
	uint64_t tail; /* bytes read, by prof */
};

enum inside_type {
	INSIDE_PAD,   /* to the end of the lane; may be of 8 bytes, with no more than the first 8 */
	INSIDE_START, /* a process begins: struct inside_start */
	INSIDE_MAPS,  /* executable mappings: struct inside_maps */
	INSIDE_CPU,   /* a thread has used CPU time: struct inside_cpu */
	INSIDE_ALLOC, /* a sampled allocation: struct inside_alloc */
	INSIDE_FREE,  /* a block is given back: struct inside_free */
};

struct inside_header {
	uint32_t bytes; /* of the record with this header */
	uint16_t type;	/* enum inside_type */
	uint16_t flags;
	/* INSIDE_PAD has no more than the above. */
	uint64_t time_ns; /* CLOCK_MONOTONIC of the first time namespace */
	uint32_t pid, tid;
};

enum { INSIDE_START_EXEC = 1 }; /* else a child of fork(): it has its parent's mappings */

struct inside_start {
	struct inside_header header;
	uint32_t parent_pid, zero;
	char comm[16]; /* ends with 0; empty in a child under a filter of system calls */
};

/*
 * Whole lines of /proc/self/maps with 'x' among their permissions: all of them after
 * INSIDE_START_EXEC, in one record or several. What a program loads later is in /proc/PID/maps.
 */
struct inside_maps {
	struct inside_header header;
	uint32_t text_bytes, zero;
	/* the text, padded with 0 */
};

/*
 * Registers and stack of a sample, behind struct inside_cpu or inside_alloc: first the values of
 * the registers in regs_mask (bit numbers of asm/perf_regs.h), the lowest bit first, 8 bytes each;
 * then stack_bytes of the stack from the stack pointer on, padded to 8.
 */
struct inside_stack {
	uint64_t regs_mask;
	uint64_t stack_bytes;
};

struct inside_cpu {
	struct inside_header header;
	uint64_t period_ns; /* CPU time since the last sample, as far as the timer knows */
	struct inside_stack stack;
};

enum {
	INSIDE_ALLOC_UNTRACKED = 1, /* no INSIDE_FREE will follow */
	INSIDE_ALLOC_MAPPING = 2,   /* of mmap() */
};

/* The registers are those of the library's own code: callee-saved ones, stack pointer and pc. The
 * library's frames are to be left out of the stack. */
struct inside_alloc {
	struct inside_header header;
	uint64_t address, size_bytes;
	uint64_t period_bytes; /* control.alloc_period when it was sampled */
	struct inside_stack stack;
};

struct inside_free {
	struct inside_header header;
	uint64_t address;
	uint64_t size_bytes; /* of munmap(), which may be of a part; else 0 */
};

_Static_assert(sizeof(struct inside_control) <= INSIDE_PAGE_BYTES, "one page");
_Static_assert(sizeof(struct inside_header) == 24, "no padding");
_Static_assert(sizeof(struct inside_alloc) == 64, "no padding");

#endif
