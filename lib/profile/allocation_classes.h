/*
 * Classes of sampled allocations, as values of the labels "size" and "lifetime": powers of two of
 * bytes ("64 B to 127 B", "1 KiB to 2 KiB"), powers of ten of time ("10 ms to 100 ms"), and "live"
 * of blocks that were in use at the end. How long these have lived is the value of the label "age",
 * a class of lifetimes. Every class has one spelling, from which its rank follows.
 * A class begins with its first value and ends before the first value of the next class.
 */
#ifndef PROF_PROFILE_ALLOCATION_CLASSES_H
#define PROF_PROFILE_ALLOCATION_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#define ALLOCATION_SIZE_LABEL "size"
#define ALLOCATION_LIFETIME_LABEL "lifetime"
#define ALLOCATION_AGE_LABEL "age"

/* The names are constants. */
const char *allocation_size_class(uint64_t bytes);
const char *allocation_lifetime_class(uint64_t ns);
const char *allocation_live_class(void);

/* The classes of lifetimes from the shortest on, without "live". */
#define ALLOCATION_LIFETIMES 11
const char *allocation_lifetime_name(unsigned rank);
/* From the beginning of one of them to the end of the other: "10 ms to 10 s". To be freed. */
char *allocation_lifetime_span(unsigned from, unsigned to);

/* The rank of a class among those of its label, smallest first, "live" last. False: it is none. */
bool allocation_class_rank(const char *name, unsigned *ret);

#endif
