/*
 * Decodes PERF_SAMPLE_DATA_SRC, the place where a memory access found its data,
 * into labels of the sample.
 *
 * The values are those of perf mem report:
 *
 *  - "mem" is the memory level: "L1 hit", "L3 miss", "RAM hit", "Remote RAM
 *    hit".
 *  - "snoop" is the state in other CPUs' caches; "HitM" is a modified line.
 *  - "tlb" is "L1 or L2 hit", "Walker hit".
 *  - "access" is "LOAD" or "STORE".
 *  - "locked" is "yes" for a locked instruction.
 *
 * Fields that the CPU does not report have no label. Any bits decode into one
 * of few values, so hostile input cannot create many labels.
 *
 * Source: union perf_mem_data_src of perf_event_open(2);
 * tools/perf/util/mem-events.c.
 */
#ifndef PROF_PERF_DATA_SOURCE_H
#define PROF_PERF_DATA_SOURCE_H

#include "perf/record.h"

enum { DATA_SOURCE_LABELS = 5, DATA_SOURCE_WORDS = 96 };

struct data_source {
	struct record_field labels[DATA_SOURCE_LABELS];
	unsigned count;
	/* Storage of the labels. */
	char access[DATA_SOURCE_WORDS], level[DATA_SOURCE_WORDS], snoop[DATA_SOURCE_WORDS],
		tlb[DATA_SOURCE_WORDS];
};

/* value is record_sample.data_source. *ret contains pointers into itself, so it
 * must not be copied. */
void data_source_decode(uint64_t value, struct data_source *ret);

#endif
