/*
 * Reads the memory of other processes, while they run. Source: process_vm_readv(2).
 */
#ifndef PROF_PROC_MEMORY_H
#define PROF_PROC_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copies what can be read of [address, address + len); the number of bytes, from the first on. 0
 * when the thread is gone or its memory is not ours to read. `tid` may be any thread of a process.
 */
size_t memory_read(pid_t tid, uint64_t address, void *into, size_t len);

#endif
