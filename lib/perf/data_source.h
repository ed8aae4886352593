/*
 * Where an access to memory found its data (PERF_SAMPLE_DATA_SRC), as labels of its sample.
 *
 * Words are those of perf mem report: "mem" is the level ("L1 hit", "L3 miss", "RAM hit",
 * "Remote RAM hit"), "snoop" what the caches of other CPUs had ("HitM": a modified line), "tlb"
 * ("L1 or L2 hit", "Walker hit"), "access" ("LOAD", "STORE"); "locked" is "yes" of a locked
 * instruction. What the CPU does not say has no label. Each has few values, though any bits are
 * words of some kind.
 * Source: union perf_mem_data_src of perf_event_open(2); tools/perf/util/mem-events.c.
 */
#ifndef PROF_PERF_DATA_SOURCE_H
#define PROF_PERF_DATA_SOURCE_H

#include "perf/record.h"

enum { DATA_SOURCE_LABELS = 5, DATA_SOURCE_WORDS = 96 };

struct data_source {
	struct record_field labels[DATA_SOURCE_LABELS];
	unsigned count;
	/* What they borrow. */
	char access[DATA_SOURCE_WORDS], level[DATA_SOURCE_WORDS], snoop[DATA_SOURCE_WORDS],
		tlb[DATA_SOURCE_WORDS];
};

/* value: record_sample.data_source. *ret points into itself. */
void data_source_decode(uint64_t value, struct data_source *ret);

#endif
