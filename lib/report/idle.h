/*
 * Finds idle time: off-CPU time in which a thread waits for work.
 *
 * - waits for events ("[epoll_wait]", "[poll]") and connections ("[accept]")
 * - locks, sleeps and waits of unknown reason in a scheduler that no function of
 *   the program is waiting below (tokio, rayon, Go), and locks in a thread
 *   without a function of the program
 * - waits for a condition variable or a semaphore by at most two functions of a
 *   thread that is not the main thread, as in the loop of a thread pool
 *
 * A wait for a lock with a known holder is never idle time. The HTML report
 * contains the result, by sample (format/page/page.c).
 */
#ifndef PROF_REPORT_IDLE_H
#define PROF_REPORT_IDLE_H

#include "report/display_labels.h"

/*
 * Returns whether each sample is idle time. The profile may be a logical view.
 * The caller frees the result.
 */
bool *idle_samples(const struct display_labels *labels);

#endif
