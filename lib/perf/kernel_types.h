/*
 * The types of the running kernel (BTF): where a member of one of its structures is.
 * Source: Documentation/bpf/btf.rst.
 */
#ifndef PROF_PERF_KERNEL_TYPES_H
#define PROF_PERF_KERNEL_TYPES_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* The offset in bytes of a member of a structure, in the bytes of a BTF file. False: there is no
 * such member, or the bytes are not understood. */
bool kernel_types_member(struct bytes btf, const char *structure, const char *member,
			 uint32_t *ret);

/* The same of /sys/kernel/btf/vmlinux. */
bool kernel_member_offset(const char *structure, const char *member, uint32_t *ret);

#endif
