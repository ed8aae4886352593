/*
 * Classes of the durations of calls: powers of two of a unit, "64us-128us", as the label `latency`
 * of samples. So a profile has the histogram of its calls, in every format that has labels.
 */
#ifndef PROF_PROFILE_LATENCY_H
#define PROF_PROFILE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#define LATENCY_LABEL "latency"
/* The name of an event of calls, before that of the function. */
#define LATENCY_EVENT "latency:"

/* 1 ns to 512 ns, 1 us to 512 us, 1 ms to 512 ms, 1 s to 2^13 s. */
enum { LATENCY_CLASSES = 44, LATENCY_NAME_BYTES = 32 };

unsigned latency_class(uint64_t ns);
/* "64us-128us": from there on, and below that. */
void latency_class_name(unsigned class_number, char ret[LATENCY_NAME_BYTES]);
/* False: it is not the name of a class. */
bool latency_class_find(const char *name, unsigned *ret);

#endif
