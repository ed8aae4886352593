/*
 * Histogram buckets for the durations of calls: powers of two, "64us-128us", as
 * the label `latency` of samples. The profile thus contains a histogram in
 * every format that supports labels.
 */
#ifndef PROF_PROFILE_LATENCY_H
#define PROF_PROFILE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#define LATENCY_LABEL "latency"
/* The prefix of the event's name; the name of the function follows. */
#define LATENCY_EVENT "latency:"

/*
 * The buckets go from 1 ns to 512 ns, 1 us to 512 us, 1 ms to 512 ms, and 1 s
 * to 2^13 s.
 */
enum { LATENCY_CLASSES = 44, LATENCY_NAME_BYTES = 32 };

unsigned latency_class(uint64_t ns);
/* Writes the name of a bucket: "64us-128us" contains 64 us but not 128 us. */
void latency_class_name(unsigned class_number, char ret[LATENCY_NAME_BYTES]);
/*
 * Stores the number of the bucket with this name. Returns false if there is
 * none.
 */
bool latency_class_find(const char *name, unsigned *ret);

#endif
