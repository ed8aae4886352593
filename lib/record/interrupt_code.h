/*
 * Where the kernel's code begins that an interrupt enters: what is above it in a call chain,
 * towards the leaf, was done by the interrupt, and what is below by the code that it interrupted.
 *
 * Source: /proc/kallsyms; arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S;
 * kernel/softirq.c, kernel/smp.c.
 */
#ifndef PROF_RECORD_INTERRUPT_CODE_H
#define PROF_RECORD_INTERRUPT_CODE_H

#include "base/bytes.h"

#include <stdio.h>

struct interrupt_code;

/* kallsyms: as /proc/kallsyms; borrowed; NULL: none is known. */
struct interrupt_code *interrupt_code_read(FILE *kallsyms);
void interrupt_code_free(struct interrupt_code *code);

/* Cuts a call chain, u64s, leaf first, after the first entry of an interrupt. False, and nothing is
 * changed: it has none. */
bool interrupt_code_cut(const struct interrupt_code *code, struct bytes *chain);
/* Whether a call chain has the entry of an interrupt, or what the kernel has put off until after
 * one (softirqs, calls from other CPUs). */
bool interrupt_code_is_in(const struct interrupt_code *code, struct bytes chain);

#endif
