/*
 * The system calls of a confined process: what memory, threads, clocks and its channel need. All
 * others fail with EPERM; another architecture's calls kill the process.
 *
 * Nothing that is allowed opens a file, starts a process, reaches another process or makes memory
 * executable. Memory is private and stays writable, so that RLIMIT_DATA counts it.
 *
 * Source: seccomp(2), kernel Documentation/userspace-api/seccomp_filter.rst.
 */
#ifndef PROF_SANDBOX_SYSCALL_FILTER_H
#define PROF_SANDBOX_SYSCALL_FILTER_H

#include "base/error.h"

/* For the calling thread and those that it creates; for good. Needs no_new_privs. */
MUST_CHECK struct error *syscall_filter_install(void);

#endif
