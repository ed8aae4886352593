/*
 * Finds structure members in the type information (BTF) of the running kernel.
 * Source: Documentation/bpf/btf.rst.
 */
#ifndef PROF_PERF_KERNEL_TYPES_H
#define PROF_PERF_KERNEL_TYPES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Finds the byte offset of a structure member in the contents of a BTF file.
 * Returns false if the member does not exist or the contents are malformed or
 * unsupported. */
bool kernel_types_member(struct bytes btf, const char *structure, const char *member,
			 uint32_t *ret);

/* Like kernel_types_member(), in /sys/kernel/btf/vmlinux. */
bool kernel_member_offset(const char *structure, const char *member, uint32_t *ret);

#endif
