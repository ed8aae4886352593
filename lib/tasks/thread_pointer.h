/*
 * Finds the address of a thread's TLS block from outside, without stopping the
 * thread.
 *
 * get_robust_list(2) returns an address inside glibc's struct pthread, and the
 * thread pointer on x86-64 is the start of that structure. It contains its own
 * address and the tid, which prove that the offsets fit this C library. Other C
 * libraries and architectures are not supported. Source: glibc, nptl/descr.h,
 * sysdeps/x86_64/nptl/tls.h; get_robust_list(2).
 */
#ifndef PROF_TASKS_THREAD_POINTER_H
#define PROF_TASKS_THREAD_POINTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns false if the thread does not exist or its C library is not supported.
 */
bool thread_pointer_find(pid_t tid, uint64_t *ret);

/*
 * Returns the address of the main program's TLS segment, given its size and
 * alignment.
 */
uint64_t thread_pointer_tls(uint64_t thread_pointer, uint64_t tls_bytes, uint64_t tls_alignment);

#endif
