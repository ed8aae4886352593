/*
 * The memory that prof and libprof-inside.so share: a memfd named
 * INSIDE_FILE_NAME, mapped by prof and by each process that runs the library.
 * This is the only header of prof that the library includes.
 *
 *     page 0                   struct inside_control
 *     page 1 + i               struct inside_ring i, for i < INSIDE_RINGS
 *     then, per ring           INSIDE_RING_BYTES of records
 *
 * Handover: the environment variable INSIDE_VARIABLE is "FD:PID". FD is a
 * descriptor of the process PID, which started the program. The program
 * inherits it over fork and execve. If it was closed, the library opens
 * /proc/PID/fd/FD. The library does nothing if it finds neither, or a different
 * magic or version.
 *
 * A ring has one writer at a time. To write a record, a thread takes a ring by
 * changing its owner from 0 to its own tid. It never waits: if a ring is taken
 * or full, it tries the next one. If no ring has room, the record is lost and
 * counted. `head` and `tail` count bytes from the start and never decrease. A
 * record is complete before `head` moves past it (release). A record's size is
 * a multiple of 8 bytes. A record does not cross the end of its ring:
 * INSIDE_PAD fills the rest. Only INSIDE_FREE may use the last
 * INSIDE_FREE_RESERVE bytes of a ring.
 *
 * prof trusts nothing that it reads here, because the program may write
 * anything at any time.
 *
 * Order: the time of a record is read before the record is written.
 * INSIDE_ALLOC is written before malloc() returns, and INSIDE_FREE before the
 * block is freed. A reader first notes the time, then all heads, and takes the
 * records up to that time, merged by time. It then never sees the end of a
 * block before its allocation, nor two live blocks at one address, for these
 * reasons:
 *
 * - If one record is written before the time of another is read, everything in
 *   the first record's ring before it has an earlier time than the other.
 * - The two records have different times. A record is written between the two
 *   readings of the clock, which takes longer than a tick of the clock.
 */
#ifndef PROF_INSIDE_LAYOUT_H
#define PROF_INSIDE_LAYOUT_H

#include <stdint.h>

#define INSIDE_VARIABLE "PROF_INSIDE"
#define INSIDE_FILE_NAME "prof-inside"
#define INSIDE_LIBRARY_NAME "libprof-inside.so"
#define INSIDE_MAGIC UINT64_C(0x3165646973666f70)

enum {
	INSIDE_VERSION = 4,
	INSIDE_PAGE_BYTES = 4096, /* of this layout; the machine's pages may be larger */
	INSIDE_RINGS = 16,
	INSIDE_RING_BYTES = 1 << 20,
	INSIDE_FREE_RESERVE = INSIDE_RING_BYTES / 8,
	INSIDE_STACK_MAX = 32 << 10,
	INSIDE_MAPS_MAX = 32 << 10, /* maximum of text in one INSIDE_MAPS */
};

#define INSIDE_SCALE (UINT64_C(1) << 44)

#define INSIDE_FILE_BYTES                                                                          \
	((uint64_t)(1 + INSIDE_RINGS) * INSIDE_PAGE_BYTES +                                        \
	 (uint64_t)INSIDE_RINGS * INSIDE_RING_BYTES)

/*
 * prof writes these members and the library reads them, except for the
 * counters. All accesses are atomic.
 */
struct inside_control {
	uint64_t magic;
	uint32_t version;
	/*
	 * The inode of prof's PID namespace (/proc/self/ns/pid). In other
	 * namespaces pids refer to other processes. There the library stays
	 * idle and increments `other_namespace`.
	 */
	uint32_t pid_namespace;
	/*
	 * Mean number of bytes between two sampled allocations. 0 disables
	 * recording of allocations.
	 */
	uint64_t alloc_period;
	/*
	 * INSIDE_SCALE / alloc_period, or 0. Each allocated byte subtracts this
	 * from the distance to the next sample. The library reads only this
	 * member for an allocation.
	 */
	uint64_t alloc_scale;
	uint32_t alloc_maps; /* mmap and munmap of anonymous memory count as allocations, too */
	/*
	 * The rate of each thread's CPU timer, or 0 for none. Read when a
	 * thread starts.
	 */
	uint32_t cpu_hz;
	/*
	 * Enables INSIDE_START and INSIDE_MAPS. Set even if only the mappings
	 * are needed.
	 */
	uint32_t records_mappings;

	/* Counters, which the library writes: */
	uint32_t other_namespace; /* processes in another PID namespace */
	/*
	 * Sampled blocks whose free() will not be seen
	 * (INSIDE_ALLOC_UNTRACKED).
	 */
	uint64_t untracked;
	/* Records that were lost because no ring had room: */
	uint64_t lost;		 /* INSIDE_ALLOC and INSIDE_CPU */
	uint64_t lost_frees;	 /* INSIDE_FREE */
	uint64_t lost_mappings;	 /* INSIDE_START and INSIDE_MAPS */
	uint32_t timers_refused; /* threads without a CPU timer */
	/*
	 * Calls that load a library whose calls to the C library bypass the
	 * hooks, with RTLD_DEEPBIND or into another namespace (dlmopen(3)).
	 * Some of these calls may have failed.
	 */
	uint32_t unhooked_loads;

	/*
	 * The inode of prof's time namespace (/proc/self/ns/time) and its
	 * offset of CLOCK_MONOTONIC, both written by prof.
	 */
	uint32_t time_namespace;
	uint64_t time_offset_ns;
};

struct inside_ring {
	uint32_t owner; /* tid of the thread that writes; 0 if none */
	uint32_t zero;
	uint64_t head; /* bytes written, by the library */
	uint64_t pad[6];
	uint64_t tail; /* bytes read, by prof */
};

enum inside_type {
	/*
	 * Fills the ring up to its end. May be only 8 bytes: the first members
	 * of the header.
	 */
	INSIDE_PAD,
	INSIDE_START, /* a process starts: struct inside_start */
	INSIDE_MAPS,  /* executable mappings: struct inside_maps */
	INSIDE_CPU,   /* a thread has used CPU time: struct inside_cpu */
	INSIDE_ALLOC, /* a sampled allocation: struct inside_alloc */
	INSIDE_FREE,  /* a sampled block is freed: struct inside_free */
};

struct inside_header {
	uint32_t bytes; /* size of the whole record */
	uint16_t type;	/* enum inside_type */
	uint16_t flags;
	/* INSIDE_PAD may end here. */
	uint64_t time_ns; /* CLOCK_MONOTONIC of the initial time namespace */
	uint32_t pid, tid;
};

/*
 * An exec. Otherwise the process is a child of fork() and has its parent's
 * mappings.
 */
enum { INSIDE_START_EXEC = 1 };

struct inside_start {
	struct inside_header header;
	uint32_t parent_pid, zero;
	char comm[16]; /* NUL-terminated; empty in a child under a seccomp filter */
};

/*
 * Whole lines of /proc/self/maps that have 'x' in their permissions. After
 * INSIDE_START_EXEC, one or more records contain all of them. Later records
 * contain what the program makes executable by mmap(2) and mprotect(2), as if
 * it were anonymous. Libraries that the loader maps later are only in
 * /proc/PID/maps.
 */
struct inside_maps {
	struct inside_header header;
	uint32_t text_bytes, zero;
	/* followed by the text, padded with 0 */
};

/*
 * The registers and the stack of a sample, at the end of struct inside_cpu and
 * inside_alloc. After it come the values of the registers in regs_mask (bit
 * numbers of asm/perf_regs.h), 8 bytes each, lowest bit first, and then
 * stack_bytes of the stack from the stack pointer on, padded to a multiple of
 * 8.
 */
struct inside_stack {
	uint64_t regs_mask;
	uint64_t stack_bytes;
};

struct inside_cpu {
	struct inside_header header;
	uint64_t period_ns; /* CPU time since the last sample, according to the timer */
	struct inside_stack stack;
};

enum {
	INSIDE_ALLOC_UNTRACKED = 1, /* no INSIDE_FREE will follow */
	INSIDE_ALLOC_MAPPING = 2,   /* by mmap() */
};

/*
 * The registers are those of the library's own code: callee-saved registers,
 * stack pointer and pc. The reader must remove the library's frames from the
 * stack.
 */
struct inside_alloc {
	struct inside_header header;
	uint64_t address, size_bytes;
	uint64_t period_bytes; /* control.alloc_period at the time of the sample */
	struct inside_stack stack;
};

struct inside_free {
	struct inside_header header;
	uint64_t address;
	uint64_t size_bytes; /* for munmap(), which may unmap only a part; otherwise 0 */
};

_Static_assert(sizeof(struct inside_control) <= INSIDE_PAGE_BYTES, "one page");
_Static_assert(sizeof(struct inside_header) == 24, "no padding");
_Static_assert(sizeof(struct inside_alloc) == 64, "no padding");

#endif
