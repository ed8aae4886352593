/*
 * Sorts the records of a perf.data file by time (perf's "ordered events").
 *
 * perf reads ring after ring and writes PERFDATA_FINISHED_ROUND when it has read each once. Records
 * after a round are younger than all records before that round began, so those can be given out.
 * Records that do not last in the input are copied while they wait. If too much would wait, because
 * rounds are large or missing, the older half is given out early.
 */
#ifndef PROF_PERFDATA_REORDER_H
#define PROF_PERFDATA_REORDER_H

#include "base/bytes.h"

struct pending_record {
	uint64_t time_ns;
	uint64_t place; /* in the recording; on equal times the lower one comes first */
	const unsigned char *at;
	uint32_t len;
	bool copied;
};

struct reorder {
	struct pending_record *items;
	size_t count, room;
	size_t next, ready;	/* items[next … ready) can be given out, sorted */
	uint64_t youngest_ns;	/* of all records so far */
	uint64_t last_round_ns; /* youngest_ns when the last round ended */
	uint64_t out_ns;	/* of the youngest record that was given out */
	uint64_t late;		/* records that came after younger ones were given out */
	size_t copied_bytes;
};

/* Zeroed: empty. */
void reorder_deinit(struct reorder *reorder);

/* To be called only when reorder_take() has returned false. lasts: raw need not be copied, it stays
 * valid until it is given out. */
void reorder_add(struct reorder *reorder, uint64_t time_ns, uint64_t place, struct bytes raw,
		 bool lasts);
void reorder_end_round(struct reorder *reorder);
/* No more records will be added: all can be given out. */
void reorder_end(struct reorder *reorder);

/* The next record, to be freed by pending_record_deinit(). False: records must be added first. */
bool reorder_take(struct reorder *reorder, struct pending_record *ret);
void pending_record_deinit(struct pending_record *waiting);

#endif
