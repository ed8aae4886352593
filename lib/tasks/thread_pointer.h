/*
 * The address of a thread's TLS block, from outside and without stopping it.
 *
 * get_robust_list(2) tells an address in glibc's struct pthread, at whose start the thread pointer
 * points on x86-64; the struct's own address and tid in it prove that the offsets are those of this
 * C library. Other C libraries and architectures: not found.
 * Source: glibc, nptl/descr.h, sysdeps/x86_64/nptl/tls.h; get_robust_list(2).
 */
#ifndef PROF_TASKS_THREAD_POINTER_H
#define PROF_TASKS_THREAD_POINTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* False: there is no such thread, or its C library is another. */
bool thread_pointer_find(pid_t tid, uint64_t *ret);

/* The address of the main program's TLS segment of that size and alignment. */
uint64_t thread_pointer_tls(uint64_t thread_pointer, uint64_t tls_bytes, uint64_t tls_alignment);

#endif
