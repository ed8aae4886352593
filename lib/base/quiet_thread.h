/*
 * Threads that take no signals: those are for others. SIGBUS is the exception, as a fault cannot be
 * blocked: a read of a file that was cut off raises it in the thread that reads.
 */
#ifndef PROF_BASE_QUIET_THREAD_H
#define PROF_BASE_QUIET_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False: no thread could be started. */
bool quiet_thread_start(pthread_t *ret, void *run(void *user), void *user);

#endif
