/*
 * Parses the events that the user names into templates for perf_event_open(2).
 *
 * The syntax is perf's:
 *
 *  - Generic hardware events: "cycles", "instructions", "cache-misses".
 *  - Cache events: "LLC-load-misses".
 *  - Software events: "cpu-clock", "task-clock", "page-faults".
 *  - Tracepoints: "sched:sched_switch", looked up in tracefs. A pattern
 *    ("syscalls:sys_enter_*") is one event, whose variants are the tracepoints
 *    that match.
 *  - Raw numbers: "r1a8".
 *  - PMUs with terms: "cpu/mem-loads,ldlat=30/" (pmu_event.h).
 *
 * Every name may be followed by terms between slashes: period=N, freq=HZ,
 * name=TEXT, call-graph=fp|dwarf|lbr|no, stack-size=BYTES. Tracepoints also
 * take label=FIELD[+FIELD] and weight=FIELD (field_reader.h).
 *
 * Modifiers follow the last colon or the second slash: u, k, h (user space,
 * kernel, hypervisor), G, H (guests, host), p, pp, ppp (precise addresses), P
 * (the highest precision).
 */
#ifndef PROF_PERF_EVENT_H
#define PROF_PERF_EVENT_H

#include "base/error.h"
#include "base/value.h"
#include "perf/call_argument.h"
#include "perf/pmu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of a copy of the user stack. A record of the kernel has at most 65,535
 * bytes, which bounds the copy. */
enum { STACK_BYTES_MIN = 512, STACK_BYTES_MAX = 65528 };

/* The contents of a sample besides pc, thread, time, CPU and period. */
struct sample_fields {
	uint64_t regs_mask; /* user registers (asm/perf_regs.h), or 0 */
	/* Size of the copy of the user stack, a multiple of 8; 0 if there is
	 * none. */
	uint32_t stack_bytes;
	bool kernel_chain; /* call chain of the kernel */
	bool user_chain;   /* call chain of user space, by frame pointers */
	/* The kernel may walk the user chain when the thread returns to user
	 * space, and write it as a RECORD_DEFERRED_CHAIN. Pages that are not in
	 * memory can be read then, so chains are longer. */
	bool may_defer_chain;
	/* Counts of the events in its group (group_counts.h). */
	bool group_values;
	/* How long the thread had run (run_clock.h), if the kernel can say it. */
	bool running_time;
	/* The event's own data: fields of a tracepoint or a uprobe. */
	bool raw;
	/* The branches to record before the sample (branch.h), or 0. */
	uint64_t branch_filter;
	/* Address, latency and data source of a memory access. */
	bool data_source;
};

/* How stacks are collected. */
enum call_graph {
	CALL_GRAPH_AUTO, /* same as DWARF */
	/* Copies registers and the stack, and unwinds them by CFI. */
	CALL_GRAPH_DWARF,
	CALL_GRAPH_FP, /* the kernel follows frame pointers */
	/* The CPU records the last 16 or 32 calls (LBR); user space otherwise
	 * as with FP. */
	CALL_GRAPH_LBR,
	CALL_GRAPH_NO,
};

/* Returns whether samples hold a copy of the stack. */
static inline bool call_graph_dumps(enum call_graph kind)
{
	return kind == CALL_GRAPH_AUTO || kind == CALL_GRAPH_DWARF;
}

/*
 * One perf_event_attr of an event: for one kind of CPU, one place of a probe,
 * or one tracepoint of a pattern. Hybrid Intel CPUs and Arm big.LITTLE have a
 * PMU per kind of CPU, and the kernel counts "cycles" only on the CPUs of the
 * PMU that a descriptor names. Variants for places and tracepoints are all
 * opened on every CPU.
 */
struct event_variant {
	uint32_t type;
	/* With type PERF_TYPE_HARDWARE or _HW_CACHE: the PMU's type << 32 |
	 * event. */
	uint64_t config;
	char *pmu; /* name of the PMU or the tracepoint; owned by the event */
	/* The CPUs where it counts, ascending, or NULL for all. Owned by the
	 * event. */
	unsigned *cpus;
	size_t cpu_count;
	/* Place of a probe: the file or the kernel function. Owned; may be
	 * NULL. */
	char *place;
	uint64_t offset; /* offset in the place */
	/* Its samples are at the end of a call that the event itself does not
	 * sample: the return if the event measures calls, the entry if it
	 * follows them. They hold the registers, but only the return address of
	 * the stack. */
	bool is_other_end;
};

/* Role of an event in a group. */
enum event_role {
	EVENT_ALONE,
	EVENT_LEADS, /* leads the group of the events after it */
	/* Is sampled like the group's leader; both are on the hardware only
	 * together. */
	EVENT_FOLLOWS,
	EVENT_COUNTED, /* is counted by the samples of the group's leader */
};

/* The template of a perf_event_attr. */
struct event {
	char *name; /* as the user wrote it, or its term `name`; owned */
	uint32_t type;
	uint64_t config, config1, config2, config3;
	/* Kind of the PMU, if the event is in the terms of a PMU. Such an event
	 * has one variant. */
	enum pmu_kind pmu_kind;
	/* One per kind of CPU that counts the event, per place of a probe, or
	 * per tracepoint of a pattern. All are opened. Without variants, type
	 * and config hold on all CPUs. */
	struct event_variant *variants;
	size_t variant_count;
	uint64_t period;       /* events per sample, or 0 if frequency_hz is set */
	uint64_t frequency_hz; /* samples per second, or 0 if period is set */
	enum value_kind kind;  /* unit of its weights: value_unit(kind) */
	uint64_t scale;	       /* weight of a period of 1; 0 means 1 */
	/* Name of the tracepoint, or the pattern; owned; NULL for other
	 * events. */
	char *tracepoint;
	/* The variants are tracepoints, all of which are opened on every
	 * CPU. */
	bool is_pattern;
	/* Reads the wanted fields of a tracepoint; owned; NULL if none are
	 * wanted. */
	struct field_reader *reader;
	/* Selects the samples of a tracepoint in the kernel; owned; may be
	 * NULL. */
	char *filter;
	/* Each occurrence is of interest, so the default period is 1. */
	bool is_tracepoint;
	/* Is a probe of code (probe_event.h), which cannot be inherited. */
	bool is_probe;
	/* Has variants for entries, which are sampled, and for returns. */
	bool measures_calls;
	/* Has variants for entries and for returns, which are sampled. */
	bool follows_calls;
	/* The argument that is the weight of a probe's samples, if any. */
	struct call_argument weight_argument;
	bool exclude_user, exclude_kernel, exclude_hypervisor;
	bool exclude_host, exclude_guest;
	unsigned precise; /* the precise_ip of its attributes */
	/* The kernel may lower `precise` to the highest level that it
	 * supports. */
	bool may_be_less_precise;
	bool has_call_graph; /* the event has its own call_graph */
	enum call_graph call_graph;
	uint32_t stack_bytes; /* 0 if not given */
	/* Writes a RECORD_SWITCH as well for each context switch. */
	bool switches;
	enum event_role role;
	struct sample_fields fields;
};

/* Parses one event and looks it up. Sets every member but `fields`. period and
 * frequency_hz are set only if the user gave them; the caller chooses values
 * for members that are 0. */
MUST_CHECK struct error *event_parse(const char *spec, const struct pmus *pmus, struct event *ret);
void event_deinit(struct event *event);

/*
 * Sets the kernel's filter for the samples of a tracepoint (field_filter.h).
 * The filter must be valid for all tracepoints of a pattern.
 */
MUST_CHECK struct error *event_set_filter(struct event *event, const char *filter);
/* Sets the field of a tracepoint that its samples weigh, or the argument of a
 * probed function (call_argument.h). Tracepoints that lack the field are
 * removed from a pattern. */
MUST_CHECK struct error *event_set_weight(struct event *event, const char *field);
/* Applies the terms that all events take: period, freq, call-graph, stack-size.
 * Ignores name, and fails for any other term. */
struct event_terms;
MUST_CHECK struct error *event_take_terms(const struct event_terms *terms, struct event *event);

/* Returns the length of the first event in a comma-separated list. Commas
 * between slashes belong to the event, and those in braces to a group,
 * "{a,b}:S". */
size_t event_spec_len(const char *list);
/* Returns the name that event_parse() gives an event of this spec. The caller
 * frees it. */
char *event_spec_name(const char *spec);

/* Returns the number of different attributes that the event is opened with: its
 * variants, or 1. */
size_t event_variant_count(const struct event *event);
/* Returns whether a variant, numbered from 0, is to be opened on a CPU. All
 * variants of a probe and of a pattern are; of other events at most one is, and
 * none if no PMU of the CPU counts the event. */
bool event_variant_is_of(const struct event *event, size_t variant, unsigned cpu);

/* Returns the name of a type and config, or "type 4 config 0x1a8" if it is
 * unknown. The caller frees it. */
char *event_name_of(uint32_t type, uint64_t config);
/* Rounds the size of a copy of the user stack up to the words that the kernel
 * copies. Returns false and changes nothing if the size is out of bounds. */
MUST_CHECK bool event_take_stack_bytes(uint64_t bytes, uint32_t *ret);

/* Returns whether samples of the event can contain a data source: mem-loads,
 * mem-stores and mem-ldst of a PMU, with precise addresses. */
bool event_is_of_memory(const struct event *event);
/* Returns whether the kernel itself counts the event, always and exactly. */
bool event_is_software(const struct event *event);
/* Returns whether each sample is an occurrence of interest (tracepoints,
 * probes, page faults). Samples of other events show where CPU time is spent.
 * type and config are those of perf_event_open(2); period is 0 for events that
 * are sampled by frequency. */
bool event_counts_occurrences(uint32_t type, uint64_t config, uint64_t period);
/* Returns what the event's periods measure: CPU time (cpu-clock, task-clock) or
 * a count of events. */
enum value_kind event_value_kind(uint32_t type, uint64_t config);

/* Reads /proc/sys/kernel/perf_event_max_sample_rate. Returns 0 if it cannot be
 * read. */
uint64_t event_max_frequency_hz(void);

#endif
