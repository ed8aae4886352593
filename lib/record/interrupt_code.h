/*
 * Finds interrupt entries in kernel call chains. Frames on the leaf side of an
 * entry belong to the interrupt, those on the root side to the interrupted
 * code.
 *
 * Source: /proc/kallsyms; arch/x86/entry/entry_64.S; arch/arm64/kernel/entry.S;
 * kernel/softirq.c; kernel/smp.c.
 */
#ifndef PROF_RECORD_INTERRUPT_CODE_H
#define PROF_RECORD_INTERRUPT_CODE_H

#include "base/bytes.h"

#include <stdio.h>

struct interrupt_code;

/* Returns that of the running kernel. Its symbols are read when the first one is
 * needed, where possible one by one (symbol/ksym.h). */
struct interrupt_code *interrupt_code_new(void);
/* Reads symbols in the format of /proc/kallsyms. The file is borrowed. With
 * NULL, no entry is known. */
struct interrupt_code *interrupt_code_read(FILE *kallsyms);
void interrupt_code_free(struct interrupt_code *code);

/* Truncates a call chain (u64s, leaf first) after the first interrupt entry.
 * Returns false and changes nothing if the chain has none. */
bool interrupt_code_cut(struct interrupt_code *code, struct bytes *chain);
/* Whether a call chain contains an interrupt entry, or work that the kernel
 * defers until after an interrupt (softirqs, calls from other CPUs). */
bool interrupt_code_is_in(struct interrupt_code *code, struct bytes chain);

#endif
