/*
 * A decoded record of a ring or a perf.data file. <linux/perf_event.h> stays inside lib/perf.
 *
 * Decoding is pure and bounded: any bytes give a record or false, without a read outside them. The
 * pointers in a record are borrowed from its raw bytes (live: until the next sampler_next()).
 * Source: perf_event_open(2), "MMAP layout"; include/uapi/linux/perf_event.h.
 */
#ifndef PROF_PERF_RECORD_H
#define PROF_PERF_RECORD_H

#include "base/bytes.h"
#include "base/go_sched.h"
#include "base/stack_slot.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum record_type {
	RECORD_OTHER, /* well-formed, of a type that is not decoded */
	RECORD_SAMPLE,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_LOST, /* LOST and LOST_SAMPLES */
	RECORD_THROTTLE,
	RECORD_SWITCH,	       /* SWITCH and SWITCH_CPU_WIDE */
	RECORD_CGROUP,	       /* a cgroup was made, or was there */
	RECORD_TEXT_POKE,      /* code of the kernel was changed */
	RECORD_KSYMBOL,	       /* code of the kernel was added or removed: BPF, ftrace, kprobes */
	RECORD_BPF_EVENT,      /* a BPF program was loaded or unloaded */
	RECORD_DEFERRED_CHAIN, /* CALLCHAIN_DEFERRED: the user part of a sample's call chain */
	/* Of libprof-inside.so (lib/inside): */
	RECORD_ALLOC, /* a sampled allocation: `allocation`, and its registers and stack in `sample`
		       */
	RECORD_FREE,  /* a block was given back: `allocation`, its address */
};

/* What there was no room for. Live; of a file all are LOST_SAMPLES. */
enum lost_records {
	LOST_SAMPLES,	  /* or anything that shares their ring */
	LOST_CHANGES,	  /* of the side band: mappings, names, and lives of processes */
	LOST_SWITCHES,	  /* context switches */
	LOST_ALLOCATIONS, /* sampled ones */
	LOST_KINDS,
};

enum { RECORD_BUILD_ID_MAX = 20 };

/* Values of registers: one u64 for each bit in mask, the lowest bit first. */
struct record_regs {
	uint64_t abi;  /* 0: none (a kernel thread), 1: 32-bit, 2: 64-bit */
	uint64_t mask; /* perf_event_attr.sample_regs_user; bit numbers are asm/perf_regs.h's */
	struct bytes values;
};

/* The register with this bit number; 0: the sample lacks it. */
uint64_t record_register(const struct record_regs *regs, unsigned bit);

/* The extent of a stack, known after a sample of it was unwound. */
struct stack_extent {
	uint64_t end;  /* address; 0: unknown */
	bool is_whole; /* the stack ends there; else at least there */
	bool is_deep;  /* the stack is larger than what the kernel copied of it */
	/*
	 * A signal handler runs on a stack of its own (sigaltstack): where the interrupted stack
	 * pointer is saved, and the end of the interrupted stack. 0: none, unknown.
	 */
	uint64_t saved_sp_at, interrupted_end;
	/* The thread runs Go on its system stack: where a pointer to its g is. 0: in a register. */
	bool needs_go;
	uint64_t g_at;
	/* What is to be compared of it from now on, borrowed; NULL: no change. */
	const struct stack_slots *slots;
};

/* A field of a tracepoint that tells its samples apart. */
struct record_field {
	const char *name;
	bool is_text;
	struct bytes text;
	int64_t number; /* where it is not a text */
};

/* What another event of the sample's group has counted since the sample before. */
struct record_count {
	unsigned event;
	uint64_t weight;
};

struct record_sample {
	unsigned event; /* index into the events that the sampler was opened with */
	uint64_t ip;
	uint64_t period; /* as a weight of its event */
	bool in_kernel;	 /* PERF_RECORD_MISC_CPUMODE: ip is a kernel address */
	/* The parts of the kernel's call chain, if asked for: u64s, leaf first, without the markers
	 * (PERF_CONTEXT_*). */
	struct bytes kernel_chain;
	struct bytes user_chain;
	struct record_regs regs;
	/* From the user stack pointer on: what the kernel has copied, and what its program
	 * (stack_program.h) or a copier (capture.h) has copied after it. */
	struct bytes stack;
	size_t dumped_bytes;	 /* what the kernel copied */
	bool has_program_copied; /* stack_program_complete() was true of it */
	/* As many outer slots of the thread's, of this version, were the same when the sample was
	 * taken: the stack may be copied only as far as they say. */
	unsigned equal_slots;
	uint64_t slots_version;
	/* What a copier has copied of the stack that a signal handler has interrupted, or of the
	 * goroutine's that go is about. */
	struct bytes interrupted_stack;
	uint64_t interrupted_start;
	struct go_sched go;
	/* PERF_SAMPLE_BRANCH_STACK: the branches that the CPU took last, the newest first
	 * (branch.h). Of a call stack they are its calls that have not returned. */
	struct bytes branches;
	bool are_branches_calls;
	/* Of an access to memory, from PEBS and its kin: its address, how many cycles it took, and
	 * PERF_SAMPLE_DATA_SRC (data_source.h). 0: unknown. */
	uint64_t data_address, latency_cycles, data_source;
	/* PERF_SAMPLE_RAW: the fields of a tracepoint or a uprobe, with the padding behind them. */
	struct bytes raw_data;
	/* What the user wants to know of that (field_reader.h). */
	const struct record_field *fields;
	unsigned field_count;
	/* Of the leader of a group: a value and the kernel's id for each of its events, that many
	 * bytes each; and what they mean (group_counts.h). */
	struct bytes group_values;
	unsigned group_value_bytes;
	const struct record_count *counts;
	unsigned count_count;
	/* The user part of the call chain comes as a RECORD_DEFERRED_CHAIN with the same cookie and
	 * thread. */
	bool is_chain_deferred;
	uint64_t chain_cookie;
	bool is_other_end; /* of a call, whose one end is sampled (event_variant.is_other_end) */
};

struct record_mmap {
	uint64_t start, length_bytes;
	uint64_t offset; /* in the file */
	uint32_t device_major, device_minor;
	uint64_t inode;	     /* 0 if the record has a build-id instead */
	uint64_t generation; /* of the inode, which the next file may get; 0: unknown */
	uint8_t build_id[RECORD_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0: none */
	bool executable;
	bool is_claimed; /* as in struct mapping */
	uid_t claimant;
	const char *path; /* "//anon", "[vdso]", "/usr/bin/x" */
};

/* record.pid and tid are of the thread that is switched. */
struct record_switch {
	bool is_out;	   /* it leaves the CPU; else it gets it */
	bool is_preempted; /* it leaves, though it could run on */
	/* System-wide: the thread that comes next, or was there before; 0: not told, or idle. */
	pid_t other_pid, other_tid;
};

struct record_cgroup {
	uint64_t id;	  /* as in the samples of PERF_SAMPLE_CGROUP */
	const char *path; /* from the root of the cgroup file system: "/user.slice" */
};

struct record_text_poke {
	uint64_t address;
	struct bytes old_code, new_code; /* an empty one: the code was added, or removed */
};

struct record_ksymbol {
	uint64_t address;
	uint32_t length_bytes;
	bool is_removed;
	const char *name;
};

struct record_bpf_event {
	bool is_unloaded;
	uint32_t id;
	uint8_t tag[8];
};

struct record_deferred_chain {
	uint64_t cookie;    /* record_sample.chain_cookie */
	struct bytes chain; /* u64s, leaf first, without markers */
};

struct record_allocation {
	uint64_t address;
	/* RECORD_FREE: 0, or as many bytes of a mapping from the address on. */
	uint64_t size_bytes;
	uint64_t period_bytes; /* mean number of allocated bytes between two samples */
	bool is_mapping;       /* of mmap() */
	bool is_untracked;     /* no RECORD_FREE will follow */
};

struct record {
	enum record_type type;
	struct bytes raw; /* all of it, undecoded; empty in a synthesized record */
	pid_t pid, tid;	  /* of the sample, or of the process and thread that the record is about */
	uint32_t cpu;
	uint64_t time_ns;
	struct record_allocation allocation;
	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct {
			const char *name;
			bool exec; /* set by execve: the mappings of pid are gone */
		} comm;
		struct {
			pid_t parent_pid, parent_tid;
			/* Synthesized by perf for a process that existed already: its mappings
			 * follow as records, they are not inherited. */
			bool existing;
		} fork;
		struct {
			enum lost_records what;
			uint64_t count;
		} lost;
		struct record_switch switched;
		struct record_cgroup cgroup;
		struct record_text_poke text_poke;
		struct record_ksymbol ksymbol;
		struct record_bpf_event bpf_event;
		struct record_deferred_chain deferred_chain;
	};
};

/*
 * How the records of one event are laid out: it follows from its perf_event_attr (attr_layout()).
 * Which event wrote a record: layouts.h.
 */
struct record_layout {
	unsigned event;	      /* record.sample.event of its samples */
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t regs_mask;
	uint64_t read_format; /* PERF_FORMAT_*: of the values in a sample, where there are any */
	uint64_t branch_type; /* PERF_SAMPLE_BRANCH_*: likewise of the branches */
	uint64_t period;      /* of samples without PERF_SAMPLE_PERIOD */
	uint64_t scale;	      /* what a period of 1 weighs; 0: 1 */
	bool is_other_end;    /* record.sample.is_other_end */
	/* Mmap records may have build-ids. If not, PERF_RECORD_MISC_MMAP_BUILD_ID means nothing:
	 * the kernel (6.18) leaves it set if another program's event has asked for build-ids. */
	bool build_ids;
	bool bare; /* only samples have a time and an id (no sample_id_all) */
};

/* raw is one whole record with its header. False: the bytes are not such a record. */
bool record_decode(const struct record_layout *layout, struct bytes raw, struct record *ret);

/* The kernel's id of the event that wrote the record; of an inherited event, the id of the one that
 * was opened. False: the record has none. */
bool record_id(const struct record_layout *layout, struct bytes raw, uint64_t *ret);
/* Whether all of a decoded record is in its raw bytes: nothing was added to it (a longer copy of
 * the stack, fields, counts) that the next record overwrites. */
bool record_stays(const struct record *record);
/* The time of a record. False: it has none. */
bool record_time(const struct record_layout *layout, struct bytes raw, uint64_t *ret);

#endif
