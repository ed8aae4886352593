/*
 * Events: what the user names, as a template for perf_event_open(2).
 *
 * Names are perf's: generic hardware ("cycles", "instructions", "cache-misses", …), caches
 * ("LLC-load-misses"), software ("cpu-clock", "task-clock", "page-faults", "context-switches", …)
 * and tracepoints ("sched:sched_switch", looked up in tracefs), raw numbers ("r1a8"), and PMUs with
 * terms ("cpu/mem-loads,ldlat=30/", pmu_event.h). Terms between slashes may follow every name:
 * period=N, freq=HZ, name=TEXT, call-graph=fp|dwarf|lbr|no, stack-size=BYTES; after tracepoints
 * also label=FIELD[+FIELD] and weight=FIELD (field_reader.h). A pattern ("syscalls:sys_enter_*") is
 * one event: its variants are the tracepoints that match. Modifiers come after the last colon, or
 * after the second slash: u, k, h (user space, kernel, hypervisor), G, H (guests, host), p, pp,
 * ppp, P (precise addresses; the most precise).
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

/* Sizes of a copy of the user stack. The kernel's record of 65,535 bytes holds no larger one. */
enum { STACK_BYTES_MIN = 512, STACK_BYTES_MAX = 65528 };

/* What a sample holds besides pc, thread, time, CPU and period. */
struct sample_fields {
	uint64_t regs_mask;   /* user registers (asm/perf_regs.h); 0: none */
	uint32_t stack_bytes; /* copy of the user stack, a multiple of 8; 0: none */
	bool kernel_chain;    /* call chain of the kernel */
	bool user_chain;      /* call chain of user space, by frame pointers */
	/* The kernel may walk that when the thread returns to user space, and write it as a
	 * RECORD_DEFERRED_CHAIN: memory that is not there is read, and chains are longer. */
	bool may_defer_chain;
	bool group_values;	/* what the events of its group have counted (group_counts.h) */
	bool raw;		/* the event's own data: fields of a tracepoint or a uprobe */
	uint64_t branch_filter; /* the branches taken before it (branch.h); 0: none */
	bool data_source;	/* of an access to memory: address, latency, where its data was */
};

/* How stacks are found. */
enum call_graph {
	CALL_GRAPH_AUTO,  /* the same as DWARF */
	CALL_GRAPH_DWARF, /* registers and a copy of the stack are unwound by CFI */
	CALL_GRAPH_FP,	  /* the kernel follows frame pointers */
	CALL_GRAPH_LBR,	  /* the CPU records calls, 16 or 32 of them; else as FP */
	CALL_GRAPH_NO,
};

/* Whether samples hold a copy of the stack. */
static inline bool call_graph_dumps(enum call_graph kind)
{
	return kind == CALL_GRAPH_AUTO || kind == CALL_GRAPH_DWARF;
}

/*
 * An event on the CPUs of one kind, or at one place. Intel's hybrid and Arm's big.LITTLE machines
 * have a PMU per kind of CPU, and the kernel counts "cycles" on the CPUs only whose PMU a
 * descriptor names. A probe has a variant per place, and a pattern one per tracepoint: all of them
 * are opened on every CPU.
 */
struct event_variant {
	uint32_t type;
	uint64_t config; /* with type PERF_TYPE_HARDWARE or _HW_CACHE: the PMU's type << 32 | event
			  */
	char *pmu;	 /* its name, or that of the tracepoint; owned by the event */
	unsigned *cpus;	 /* where it counts, ascending; owned by the event; NULL: on all CPUs */
	size_t cpu_count;
	char *place;	 /* of a probe: the file, or the function of the kernel; owned; or NULL */
	uint64_t offset; /* in that */
	/* Its samples are of the end of calls that the event does not sample: of returns if it
	 * measures calls, of entries if it follows them. They have registers, and of the stack no
	 * more than the return address. */
	bool is_other_end;
};

/* Of groups. An event in one follows its leader. */
enum event_role {
	EVENT_ALONE,
	EVENT_LEADS,   /* the events after it are in its group … */
	EVENT_FOLLOWS, /* … and are sampled like it, but on the hardware only together … */
	EVENT_COUNTED, /* … or counted by its samples */
};

/* The template of a perf_event_attr. */
struct event {
	char *name; /* as the user wrote it, or its term `name`; owned */
	uint32_t type;
	uint64_t config, config1, config2, config3;
	enum pmu_kind pmu_kind; /* of an event in the terms of a PMU, which has one variant */
	/* One per kind of CPU that counts it, or per place of a probe, to be opened on all of them;
	 * none: it has type and config everywhere. */
	struct event_variant *variants;
	size_t variant_count;
	uint64_t period;       /* one sample per so many events; 0: by frequency */
	uint64_t frequency_hz; /* samples per second; 0: by period */
	enum value_kind kind;  /* of its weights; their unit is value_unit(kind) */
	uint64_t scale;	       /* the weight of a period of 1; 0: 1 */
	char *tracepoint;      /* its name, or the pattern; owned; NULL: it is something else */
	bool is_pattern; /* the variants are tracepoints, all of which are opened everywhere */
	struct field_reader *reader; /* of the fields of a tracepoint that are wanted; owned; NULL:
					none */
	char *filter;	     /* of a tracepoint: samples that the kernel writes; owned; or NULL */
	bool is_tracepoint;  /* each occurrence is of interest: a period of 1 suits it */
	bool is_probe;	     /* of code, by probe_event.h: it cannot be inherited */
	bool measures_calls; /* variants are of entries, which are sampled, and of returns */
	bool follows_calls;  /* variants are of entries and of returns, which are sampled */
	struct call_argument weight_argument; /* of a probe: what its samples weigh; or none */
	bool exclude_user, exclude_kernel, exclude_hypervisor;
	bool exclude_host, exclude_guest;
	unsigned precise;	  /* precise_ip … */
	bool may_be_less_precise; /* … or the most that the kernel takes */
	bool has_call_graph;	  /* it has a call graph of its own: */
	enum call_graph call_graph;
	uint32_t stack_bytes; /* 0: not given */
	bool switches;	      /* also writes a RECORD_SWITCH for each context switch */
	enum event_role role;
	struct sample_fields fields;
};

/* Sets everything but the fields, and period and frequency only if the user gave them; what is
 * left at 0 is for the caller to choose. */
MUST_CHECK struct error *event_parse(const char *spec, const struct pmus *pmus, struct event *ret);
void event_deinit(struct event *event);

/*
 * Of tracepoints: which samples the kernel writes (field_filter.h), and the field that they weigh.
 * The filter has to suit all tracepoints of a pattern; those without the field leave it.
 */
MUST_CHECK struct error *event_set_filter(struct event *event, const char *filter);
/* The same of a probe of a function, whose samples can weigh an argument (call_argument.h). */
MUST_CHECK struct error *event_set_weight(struct event *event, const char *field);
/* Takes what event_parse() takes of terms for all events: period, freq, call-graph, stack-size. An
 * error for any other but name. */
struct event_terms;
MUST_CHECK struct error *event_take_terms(const struct event_terms *terms, struct event *event);

/* The length of the first event in a list that is separated by commas: those between slashes are of
 * the event, and those in braces of a group, "{a,b}:S". */
size_t event_spec_len(const char *list);
/* The name that an event of this spec gets; the caller frees it. */
char *event_spec_name(const char *spec);

/* How many different attributes the event is opened with: its variants, or 1. */
size_t event_variant_count(const struct event *event);
/* Whether a variant, numbered from 0, is to be opened on a CPU. At most one is, none where no PMU
 * counts the event; of a probe and of a pattern all are. */
bool event_variant_is_of(const struct event *event, size_t variant, unsigned cpu);

/* The name of a type and config; "type 4 config 0x1a8" if it is unknown. The caller frees it. */
char *event_name_of(uint32_t type, uint64_t config);
/* Rounds the size of a copy of the user stack up to words, which the kernel copies. False, with
 * nothing changed: it is not within the bounds. */
MUST_CHECK bool event_take_stack_bytes(uint64_t bytes, uint32_t *ret);

/* Whether it is of accesses to memory, whose samples can say where the data was found: mem-loads,
 * mem-stores or mem-ldst of a PMU, with precise addresses. */
bool event_is_of_memory(const struct event *event);
/* Whether the kernel itself counts it, always and exactly. */
bool event_is_software(const struct event *event);
/* Whether each of its samples is something that happened and is of interest (tracepoints, probes,
 * page faults); else samples say where the time of the CPU goes. type, config: of
 * perf_event_open(2); period: 0 by frequency. */
bool event_counts_occurrences(uint32_t type, uint64_t config, uint64_t period);
/* What its periods measure: CPU time (cpu-clock, task-clock) or a count of events. */
enum value_kind event_value_kind(uint32_t type, uint64_t config);

/* /proc/sys/kernel/perf_event_max_sample_rate; 0 if it cannot be read. */
uint64_t event_max_frequency_hz(void);

#endif
