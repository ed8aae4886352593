/*
 * Buckets of sampled allocations, as values of the labels "size" and
 * "lifetime". Sizes are powers of two ("64 B to 127 B", "1 KiB to 2 KiB"),
 * lifetimes are powers of ten ("10 ms to 100 ms"). Blocks that were in use at
 * the end have the lifetime "live", and the label "age" with a lifetime bucket
 * for how long they had lived.
 *
 * Every bucket has exactly one name, from which its rank follows. A bucket
 * starts with its first value and ends before the first value of the next
 * bucket.
 */
#ifndef PROF_PROFILE_ALLOCATION_CLASSES_H
#define PROF_PROFILE_ALLOCATION_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#define ALLOCATION_SIZE_LABEL "size"
#define ALLOCATION_LIFETIME_LABEL "lifetime"
#define ALLOCATION_AGE_LABEL "age"

/* Return the name of the bucket of a value. The names are constants. */
const char *allocation_size_class(uint64_t bytes);
const char *allocation_lifetime_class(uint64_t ns);
const char *allocation_live_class(void);

/* The number of lifetime buckets, from the shortest on, without "live". */
#define ALLOCATION_LIFETIMES 11
const char *allocation_lifetime_name(unsigned rank);
/*
 * Returns the range from the start of one bucket to the end of another: "10 ms
 * to 10 s". The caller frees it.
 */
char *allocation_lifetime_span(unsigned from, unsigned to);

/*
 * Stores the rank of a bucket among those of its label: smallest first, "live"
 * last. Returns false if the name is not that of a bucket.
 */
bool allocation_class_rank(const char *name, unsigned *ret);

#endif
