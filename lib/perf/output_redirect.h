/*
 * Redirects the output of descriptors to other rings in background threads.
 *
 * For each descriptor the kernel waits until no CPU can write to the old ring
 * any more (ring_buffer_attach() in kernel/events/core.c). That is an RCU grace
 * period: about 10 ms, and much longer on a busy machine. One thread would take
 * minutes for a descriptor per thread and CPU, so sixteen threads wait
 * concurrently, while the reader of the rings continues. No sample is lost:
 * each is in the old ring or in the new one.
 */
#ifndef PROF_PERF_OUTPUT_REDIRECT_H
#define PROF_PERF_OUTPUT_REDIRECT_H

#include "perf/descriptors.h"

struct output_redirect;

/* rings: one per CPU. The rings and the descriptors are borrowed until
 * output_redirect_end(). */
struct output_redirect *output_redirect_begin(const struct fd_list *descriptors,
					      const struct ring *rings);
bool output_redirect_is_done(const struct output_redirect *redirection);
/* Stops redirecting. Descriptors that have not been redirected yet stay
 * unchanged. */
void output_redirect_end(struct output_redirect *redirection);
DEFINE_CLEANUP(output_redirect, output_redirect_end)

#endif
