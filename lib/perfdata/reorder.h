/*
 * Sorts the records of a perf.data file by time (perf's "ordered events").
 *
 * perf reads one ring after the other, and writes PERFDATA_FINISHED_ROUND after
 * it has read each once. Records after a round are younger than all records
 * before the start of that round, so the latter can be returned. Waiting
 * records are copied unless they remain valid in the input. If too many would
 * wait, because rounds are large or missing, the older half is returned early.
 */
#ifndef PROF_PERFDATA_REORDER_H
#define PROF_PERFDATA_REORDER_H

#include "base/bytes.h"

struct pending_record {
	uint64_t time_ns;
	/* Place in the recording; on equal times the lower one comes first. */
	uint64_t place;
	const unsigned char *at;
	uint32_t len;
	bool copied;
};

struct reorder {
	struct pending_record *items;
	size_t count, room;
	/* items[next … ready) are sorted and can be returned. */
	size_t next, ready;
	uint64_t youngest_ns; /* latest time of all records so far */
	/* Value of youngest_ns at the end of the last round. */
	uint64_t last_round_ns;
	uint64_t out_ns; /* latest time of the returned records */
	/* Number of records that came after a younger one was returned. */
	uint64_t late;
	size_t copied_bytes;
};

/* Zeroed: empty. */
void reorder_deinit(struct reorder *reorder);

/* May be called only after reorder_take() has returned false. lasts: raw
 * remains valid until it is returned and need not be copied. */
void reorder_add(struct reorder *reorder, uint64_t time_ns, uint64_t place, struct bytes raw,
		 bool lasts);
void reorder_end_round(struct reorder *reorder);
/* Declares that no more records will be added, so that all can be returned. */
void reorder_end(struct reorder *reorder);

/* Returns the next record, which pending_record_deinit() frees, or false if
 * more records must be added first. */
bool reorder_take(struct reorder *reorder, struct pending_record *ret);
void pending_record_deinit(struct pending_record *waiting);

#endif
