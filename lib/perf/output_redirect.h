/*
 * Redirects the output of descriptors to other rings, in threads of its own.
 *
 * For each descriptor the kernel waits until no CPU can write to the old ring any more
 * (ring_buffer_attach() in kernel/events/core.c). That is an RCU grace period: 10 ms, and many
 * times that on a busy machine. With a descriptor per thread and CPU one thread would take minutes,
 * so sixteen wait at the same time, and the reader of the rings goes on. No sample is lost: each is
 * in the old ring or in the new one.
 */
#ifndef PROF_PERF_OUTPUT_REDIRECT_H
#define PROF_PERF_OUTPUT_REDIRECT_H

#include "perf/descriptors.h"

struct output_redirect;

/* rings: one per CPU. They and the descriptors are borrowed until output_redirect_end(). */
struct output_redirect *output_redirect_begin(const struct fd_list *descriptors,
					      const struct ring *rings);
bool output_redirect_is_done(const struct output_redirect *redirection);
/* Descriptors that have not been redirected yet stay as they are. */
void output_redirect_end(struct output_redirect *redirection);
DEFINE_CLEANUP(output_redirect, output_redirect_end)

#endif
