/* Reads the memory of other processes. Source: process_vm_readv(2). */
#ifndef PROF_PROC_MEMORY_H
#define PROF_PROC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copies the readable start of [address, address + len) and returns its length,
 * or 0 if the thread has ended or its memory is inaccessible. `tid` is any
 * thread of the process.
 */
size_t memory_read(pid_t tid, uint64_t address, void *into, size_t len);

struct memory_part {
	uint64_t address;
	void *into;
	size_t len;
	bool is_read; /* result: all of it was read */
};

/* Reads many small parts with few system calls. */
void memory_read_parts(pid_t tid, struct memory_part *parts, size_t count);

#endif
