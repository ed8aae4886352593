/*
 * One record of perf, decoded: what a ring or a perf.data file holds, in our own words.
 * <linux/perf_event.h> stays inside lib/perf.
 *
 * Decoding is pure and bounded: any bytes give a record or `false`, never a read outside them.
 * Pointers in a record are borrowed from the raw bytes (live: until the next sampler_next()).
 * Source: perf_event_open(2), "MMAP layout"; include/uapi/linux/perf_event.h.
 */
#ifndef PROF_PERF_RECORD_H
#define PROF_PERF_RECORD_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum record_type {
	RECORD_OTHER, /* well-formed, but of no interest */
	RECORD_SAMPLE,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_LOST, /* LOST and LOST_SAMPLES */
	RECORD_THROTTLE,
};

enum { RECORD_BUILD_ID_MAX = 20 };

/* Register values as perf dumps them: one u64 for each bit set in mask, lowest bit first. */
struct record_regs {
	uint64_t abi;  /* 0: none (a kernel thread), 1: 32-bit, 2: 64-bit */
	uint64_t mask; /* perf_event_attr.sample_regs_user; bit numbers are asm/perf_regs.h's */
	struct bytes values;
};

/* Of a sample, once it was unwound: how far its stack went. */
struct stack_extent {
	uint64_t end;  /* the address; 0: nobody knows */
	bool is_whole; /* there it ends; else it was cut off there, or some way below */
	bool is_deep;  /* it is larger than what the kernel copied of it */
};

struct record_sample {
	unsigned event; /* index into the events the sampler was opened with */
	uint64_t ip;
	uint64_t period;
	bool in_kernel; /* PERF_RECORD_MISC_CPUMODE: ip is a kernel address */
	/*
	 * Call chain by the kernel, leaf first, as u64s: the kernel part, then (only when it was
	 * asked for) the user part. Markers (PERF_CONTEXT_*) have been taken out.
	 */
	struct bytes kernel_chain;
	struct bytes user_chain;
	struct record_regs regs;
	/* From the user stack pointer upwards: what the kernel copied of it, and what a stand-in
	 * did beyond (standin.h). */
	struct bytes stack;
	size_t dumped_bytes; /* what the kernel copied */
};

struct record_mmap {
	uint64_t start, length_bytes;
	uint64_t offset; /* in the file */
	uint32_t device_major, device_minor;
	uint64_t inode; /* 0 when the record carries a build-id instead */
	uint8_t build_id[RECORD_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0: none */
	bool executable;
	const char *path; /* "//anon", "[vdso]", "/usr/bin/x" */
};

struct record {
	enum record_type type;
	struct bytes raw; /* all of it, undecoded; empty in a record that was made up */
	pid_t pid, tid;	  /* of the sample, or of the process and thread that the record is about */
	uint32_t cpu;
	uint64_t time_ns;
	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct {
			const char *name;
			bool exec; /* set by execve: the mappings of pid are gone */
		} comm;
		struct {
			pid_t parent_pid, parent_tid;
			/* Told by perf of a process that was there: its mappings are told too, not
			 * inherited. */
			bool existing;
		} fork;
		struct {
			uint64_t count;
		} lost;
	};
};

/*
 * What records look like: it follows from the attributes their event was opened with. All events of
 * our own recordings share one layout, and `ids` tells them apart; in a file each may have its own.
 */
struct record_layout {
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t regs_mask;
	uint64_t read_format; /* PERF_FORMAT_*: of the values in a sample, where there are any */
	uint64_t branch_type; /* PERF_SAMPLE_BRANCH_*: likewise of the branches */
	uint64_t period;      /* of samples that do not tell theirs */
	/* Mappings may be told with build-ids. Without, their mark means nothing: the kernel (6.18)
	 * leaves it behind when another's event, that has asked for them, gets the same record. */
	bool build_ids;
	bool bare;		/* nothing but samples has a time and an id (no sample_id_all) */
	const uint64_t *ids;	/* kernel's event ids, sorted ascending … */
	const unsigned *events; /* … and the event index each belongs to */
	size_t id_count;	/* 0: a single event, index 0 */
};

/* raw is one whole record, header included. False: the bytes are no such record. */
bool record_decode(const struct record_layout *layout, struct bytes raw, struct record *ret);

/*
 * The kernel's id of the event that wrote the record: of an inherited one, that of the event it was
 * inherited from. False: it has none.
 */
bool record_id(const struct record_layout *layout, struct bytes raw, uint64_t *ret);
/* The time alone, for putting records in order. False: it has none. */
bool record_time(const struct record_layout *layout, struct bytes raw, uint64_t *ret);

#endif
