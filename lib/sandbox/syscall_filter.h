/*
 * Restricts the system calls of a confined process to those needed for memory,
 * threads, clocks and its channel. All others fail with EPERM. Calls of another
 * architecture kill the process.
 *
 * No allowed call opens a file, starts a process, reaches another process or
 * makes memory executable. Memory is private and stays writable, so that
 * RLIMIT_DATA counts it.
 *
 * Source: seccomp(2), kernel Documentation/userspace-api/seccomp_filter.rst.
 */
#ifndef PROF_SANDBOX_SYSCALL_FILTER_H
#define PROF_SANDBOX_SYSCALL_FILTER_H

#include "base/error.h"

/* Applies irrevocably to the calling thread and the threads that it creates.
 * Requires no_new_privs. */
MUST_CHECK struct error *syscall_filter_install(void);

#endif
