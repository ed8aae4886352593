/*
 * Decodes records of a ring or a perf.data file. Only lib/perf uses
 * <linux/perf_event.h>.
 *
 * Decoding is pure and bounded: any bytes yield a record or false, and nothing
 * outside them is read. The pointers in a record are borrowed from its raw
 * bytes; those of a live record are valid until the next sampler_next().
 *
 * Source: perf_event_open(2), "MMAP layout"; include/uapi/linux/perf_event.h.
 */
#ifndef PROF_PERF_RECORD_H
#define PROF_PERF_RECORD_H

#include "base/bytes.h"
#include "base/go_sched.h"
#include "base/stack_slot.h"
#include "runtime/script_stack.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum record_type {
	RECORD_OTHER, /* well-formed, but of a type that is not decoded */
	RECORD_SAMPLE,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_LOST, /* LOST and LOST_SAMPLES */
	RECORD_THROTTLE,
	RECORD_SWITCH,	  /* SWITCH and SWITCH_CPU_WIDE */
	RECORD_CGROUP,	  /* a cgroup was created or already existed */
	RECORD_TEXT_POKE, /* kernel code was modified */
	/* Kernel code was added or removed: BPF, ftrace, kprobes. */
	RECORD_KSYMBOL,
	RECORD_BPF_EVENT, /* a BPF program was loaded or unloaded */
	/* CALLCHAIN_DEFERRED: the user part of a call chain. */
	RECORD_DEFERRED_CHAIN,
	/* Records of libprof-inside.so (lib/inside). */
	/* A sampled allocation: see `allocation`; its registers and stack are
	 * in `sample`. */
	RECORD_ALLOC,
	/* A block was freed: see `allocation`, of which only the address is
	 * set. */
	RECORD_FREE,
};

/* Kinds of records that did not fit into a ring. Only live recordings
 * distinguish them; losses in a file are always LOST_SAMPLES. */
enum lost_records {
	LOST_SAMPLES, /* samples, or anything else in their ring */
	/* Side band: mappings, names, and process creation and exit. */
	LOST_CHANGES,
	LOST_SWITCHES,	  /* context switches */
	LOST_ALLOCATIONS, /* sampled allocations */
	LOST_KINDS,
};

enum { RECORD_BUILD_ID_MAX = 20 };

/* Values of registers: one u64 for each bit in mask, the lowest bit first. */
struct record_regs {
	/* 0 without registers (kernel thread), 1 for 32-bit, 2 for 64-bit. */
	uint64_t abi;
	/* perf_event_attr.sample_regs_user, with the bits of
	 * asm/perf_regs.h. */
	uint64_t mask;
	struct bytes values;
};

/* Returns the register with this bit number, or 0 if the sample lacks it. */
uint64_t record_register(const struct record_regs *regs, unsigned bit);

/* The extent of a stack, known after a sample of it was unwound. */
struct stack_extent {
	uint64_t end; /* end address of the stack, or 0 if unknown */
	/* The stack ends at `end`; otherwise it reaches at least that far. */
	bool is_whole;
	bool is_deep; /* the stack is larger than the kernel's copy of it */
	/*
	 * Set if a signal handler runs on an alternate stack (sigaltstack): the
	 * address where the interrupted stack pointer is saved, and the end of
	 * the interrupted stack. 0 if there is none or it is unknown.
	 */
	uint64_t saved_sp_at, interrupted_end;
	/* The thread runs Go on its system stack. A pointer to its g is at
	 * g_at, or in a register if g_at is 0. */
	bool needs_go;
	uint64_t g_at;
	/* Copiers read the frames of the process's interpreter. */
	bool needs_script;
	bool lacks_script; /* they are unknown */
	/* The slots to compare from now on, borrowed; NULL for no change. */
	const struct stack_slots *slots;
};

/* A tracepoint field that becomes a label of the sample. */
struct record_field {
	const char *name;
	bool is_text;
	struct bytes text;
	int64_t number; /* valid if is_text is false */
};

/* The increase of another event of the sample's group since the previous
 * sample. */
struct record_count {
	unsigned event;
	uint64_t weight;
};

struct record_sample {
	unsigned event; /* index into the events of sampler_open() */
	uint64_t ip;
	uint64_t period; /* weight of the sample in its event */
	bool in_kernel;	 /* PERF_RECORD_MISC_CPUMODE: ip is a kernel address */
	/* The call chains, if requested: u64s, leaf first, without the markers
	 * (PERF_CONTEXT_*). */
	struct bytes kernel_chain;
	struct bytes user_chain;
	struct record_regs regs;
	/* The stack from the user stack pointer on: the kernel's copy, followed
	 * by what the BPF program (stack_program.h) or a copier (capture.h) has
	 * copied. */
	struct bytes stack;
	size_t dumped_bytes; /* size of the kernel's own copy */
	/* The BPF program has handled it: stack_program_complete() returned
	 * true. */
	bool has_program_copied;
	/* Number of outer slots of the thread, in this version, that were
	 * unchanged when the sample was taken. The stack may be copied only as
	 * far as these slots require. */
	unsigned equal_slots;
	uint64_t slots_version;
	/* The part that a copier has copied of the stack that a signal handler
	 * has interrupted, or of the goroutine in `go`. */
	struct bytes interrupted_stack;
	uint64_t interrupted_start;
	struct go_sched go;
	/* How long the thread had run since the event was opened, or inherited
	 * by it; 0 if it is unknown. */
	uint64_t running_ns;
	/* The frames of an interpreter that a copier has read while the thread
	 * stood still, or NULL. */
	const struct script_stack *script;
	/* PERF_SAMPLE_BRANCH_STACK: the last branches of the CPU, the newest
	 * first (branch.h). If are_branches_calls is set, they are the calls
	 * that have not returned. */
	struct bytes branches;
	bool are_branches_calls;
	/* The address of a memory access, its latency in cycles, and
	 * PERF_SAMPLE_DATA_SRC (data_source.h), from PEBS and similar units. 0
	 * if unknown. */
	uint64_t data_address, latency_cycles, data_source;
	/* PERF_SAMPLE_RAW: the fields of a tracepoint or a uprobe, including
	 * trailing padding. */
	struct bytes raw_data;
	/* The requested fields of raw_data (field_reader.h). */
	const struct record_field *fields;
	unsigned field_count;
	/* For the leader of a group: the value and the kernel's id of each of
	 * its events, of group_value_bytes each, and the decoded counts
	 * (group_counts.h). */
	struct bytes group_values;
	unsigned group_value_bytes;
	const struct record_count *counts;
	unsigned count_count;
	/* The user part of the call chain follows in a RECORD_DEFERRED_CHAIN
	 * with the same cookie and thread. */
	bool is_chain_deferred;
	uint64_t chain_cookie;
	/* Marks the end of a call that the event does not sample
	 * (event_variant). */
	bool is_other_end;
};

struct record_mmap {
	uint64_t start, length_bytes;
	uint64_t offset; /* offset in the file */
	uint32_t device_major, device_minor;
	uint64_t inode; /* 0 if the record has a build-id instead */
	/* Generation of the inode number, which can be reused; 0 if unknown. */
	uint64_t generation;
	uint8_t build_id[RECORD_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0 without a build-id */
	bool executable;
	bool is_claimed; /* as in struct mapping */
	uid_t claimant;
	const char *path; /* "//anon", "[vdso]", "/usr/bin/x" */
};

/* record.pid and tid identify the thread that is switched. */
struct record_switch {
	/* The thread leaves the CPU; otherwise it gets the CPU. */
	bool is_out;
	bool is_preempted; /* it leaves the CPU although it is still runnable */
	/* System-wide: the next or the previous thread on the CPU; 0 if unknown
	 * or idle. */
	pid_t other_pid, other_tid;
};

struct record_cgroup {
	uint64_t id; /* as in samples with PERF_SAMPLE_CGROUP */
	/* Relative to the root of the cgroup file system: "/user.slice". */
	const char *path;
};

struct record_text_poke {
	uint64_t address;
	/* Empty if the code was added or removed. */
	struct bytes old_code, new_code;
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
	uint64_t cookie;    /* equals record_sample.chain_cookie */
	struct bytes chain; /* u64s, leaf first, without markers */
};

struct record_allocation {
	uint64_t address;
	/* For RECORD_FREE: 0, or the number of bytes that are unmapped at the
	 * address. */
	uint64_t size_bytes;
	uint64_t period_bytes; /* mean number of allocated bytes per sample */
	bool is_mapping;       /* made by mmap() */
	bool is_untracked;     /* no RECORD_FREE will follow */
};

struct record {
	enum record_type type;
	/* The whole undecoded record; empty if the record is synthesized. */
	struct bytes raw;
	/* The sampled thread, or the process and thread that the record
	 * describes. */
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns;
	struct record_allocation allocation;
	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct {
			const char *name;
			/* Set by execve: the old mappings of pid are gone. */
			bool exec;
		} comm;
		struct {
			pid_t parent_pid, parent_tid;
			/* Synthesized by perf for a process that already
			 * existed. Its mappings follow as records and are not
			 * inherited. */
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
 * The layout of the records of one event, derived from its perf_event_attr
 * (attr_layout()). layouts.h finds the event that wrote a record.
 */
struct record_layout {
	unsigned event;	      /* record.sample.event of its samples */
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t regs_mask;
	uint64_t read_format; /* PERF_FORMAT_* of the values in a sample */
	uint64_t branch_type; /* PERF_SAMPLE_BRANCH_* of the branches in a sample */
	uint64_t period;      /* period of samples without PERF_SAMPLE_PERIOD */
	uint64_t scale;	      /* weight of a period of 1; 0 means 1 */
	bool is_other_end;    /* record.sample.is_other_end */
	/* Mmap records may have build-ids. Otherwise
	 * PERF_RECORD_MISC_MMAP_BUILD_ID must be ignored: the kernel (6.18)
	 * leaves it set if another program's event has requested build-ids. */
	bool build_ids;
	bool bare; /* only samples have a time and an id (no sample_id_all) */
};

/* Decodes one whole record including its header. Returns false if the bytes are
 * not such a record. */
bool record_decode(const struct record_layout *layout, struct bytes raw, struct record *ret);

/* Returns the kernel's id of the event that wrote the record in *ret; for an
 * inherited event, the id of the event that was opened. Returns false if the
 * record has none. */
bool record_id(const struct record_layout *layout, struct bytes raw, uint64_t *ret);
/* Returns the time of the record in *ret, or false if it has none. */
bool record_time(const struct record_layout *layout, struct bytes raw, uint64_t *ret);

#endif
