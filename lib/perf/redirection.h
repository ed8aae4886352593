/*
 * Sends what descriptors write to other rings, beside the thread that reads those.
 *
 * For each descriptor that leaves a ring the kernel waits until no CPU can write to that any longer
 * (ring_buffer_attach() in kernel/events/core.c): a grace period of RCU, some 10 ms, and many times
 * that on a busy machine. With one descriptor a thread and CPU nobody can wait for one after the
 * other, and who reads rings cannot wait at all. No sample is lost meanwhile: each goes to the old
 * ring or to the new one.
 */
#ifndef PROF_PERF_REDIRECTION_H
#define PROF_PERF_REDIRECTION_H

#include "perf/descriptors.h"

struct redirection;

/* rings: one a CPU. They and the descriptors must stay until its end. */
struct redirection *redirection_begin(const struct fd_list *descriptors, const struct ring *rings);
bool redirection_is_done(const struct redirection *redirection);
/* What has not been redirected by then stays as it is. */
void redirection_end(struct redirection *redirection);
DEFINE_CLEANUP(redirection, redirection_end)

#endif
