/*
 * Wakes copiers (capture.h) only for samples that need one. Otherwise each
 * sample of a CPU wakes its copier as long as any thread needs one.
 *
 * A BPF program that runs for each sample looks up its process and thread in a
 * set. For a member it writes an empty record into a ring of the CPU, on which
 * the copier waits. The copier runs after the interrupt, when the kernel has
 * written the sample.
 *
 * Needs what stack_program.h needs.
 */
#ifndef PROF_PERF_COPIER_WAKES_H
#define PROF_PERF_COPIER_WAKES_H

#include "base/cleanup.h"
#include "perf/bpf.h"
#include "perf/record.h"

struct copier_wakes;

/* Returns NULL if the system does not support it. cpus are borrowed. */
struct copier_wakes *copier_wakes_new(const unsigned *cpus, size_t cpu_count);
void copier_wakes_free(struct copier_wakes *wakes);
DEFINE_CLEANUP(copier_wakes, copier_wakes_free)

/* Appends the instructions to a program, whose context they expect in r1. They
 * clobber all registers. */
void copier_wakes_append(const struct copier_wakes *wakes, struct bpf_code *code);

/* Returns the descriptor that is readable after a sample of a member on
 * cpus[cpu]. */
int copier_wakes_fd(const struct copier_wakes *wakes, size_t cpu);

/* Initially no sample wakes a copier. These two do nothing if wakes is NULL. */
void copier_wakes_allow(struct copier_wakes *wakes, bool allow);
/* id: that of a thread, or of a process for all its threads. */
void copier_wakes_put(struct copier_wakes *wakes, pid_t id, bool is_in);
/* Returns whether such samples wake a copier now. */
bool copier_wakes_have(const struct copier_wakes *wakes, const struct record *sample);

#endif
