/*
 * Starts threads that receive no signals. SIGBUS is the exception, because it
 * cannot be blocked: reading a truncated mapped file raises it in the reading
 * thread.
 */
#ifndef PROF_BASE_QUIET_THREAD_H
#define PROF_BASE_QUIET_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Returns false if no thread could be started. */
bool quiet_thread_start(pthread_t *ret, void *run(void *user), void *user);

#endif
