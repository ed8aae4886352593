/*
 * Copies deep stacks in the kernel: a BPF program runs in the interrupt that
 * takes a sample, and copies the part of the stack beyond the sample's own
 * copy.
 *
 * The thread continues when the interrupt ends. No thread is woken, and the
 * copy needs no verification. Copiers (capture.h) handle what the program
 * cannot: stacks of more than 256 KiB, pages that are not in memory, and stacks
 * that a signal handler on an alternate stack has interrupted.
 *
 * The program copies up to the previous end of the thread's stack, which the
 * reader records; for an unknown thread it copies all that there is. If the
 * reader knows slots of the thread's outer frames (stack_slot.h), the program
 * first compares them, root first. It then copies the stack only as far as the
 * last equal slot requires. Slots are read in blocks of 16 KiB of stack,
 * because a read per word would be slower. Before Linux 6.9 no slots are
 * compared.
 *
 * Copies take at most half of a CPU's time. They wait for the reader in a ring
 * per CPU. A copy is matched with its sample by time: the kernel takes the time
 * of a sample in the same interrupt before it runs the program, and the program
 * records the start of this run and of the previous one. This requires that all
 * samples with a stack copy on these CPUs run the program.
 *
 * Requires CAP_BPF and CAP_PERFMON, or root, in the first pid namespace, and
 * Linux 6.3 with BTF.
 */
#ifndef PROF_PERF_STACK_PROGRAM_H
#define PROF_PERF_STACK_PROGRAM_H

#include "base/cleanup.h"
#include "perf/record.h"

struct bpf_code;
struct copier_wakes;
struct stack_program;

/*
 * dumped_bytes is the size of a sample's own copy; ring_bytes the size of the
 * ring per CPU. cpus are borrowed. Returns NULL if the system does not support
 * it. A refusal by the kernel is detected later, when the program is attached.
 */
struct stack_program *stack_program_new(const unsigned *cpus, size_t cpu_count, size_t dumped_bytes,
					size_t ring_bytes);
/* Events that the program is attached to keep it. */
void stack_program_free(struct stack_program *program);
DEFINE_CLEANUP(stack_program, stack_program_free)

/* Returns which samples wake copiers. */
struct copier_wakes *stack_program_wakes(struct stack_program *program);

/* Returns its instructions, to append them to another program that keeps the
 * sample. They expect the context in r1. */
const struct bpf_code *stack_program_code(const struct stack_program *program);
/* Attaches the program to the event of this descriptor, which must have no
 * other program. Returns false if that fails. */
bool stack_program_attach(struct stack_program *program, int fd);

/*
 * Lengthens the stack of a sample of cpus[cpu] if the program has copied more
 * of it, and sets which slots were equal. The stack is borrowed until the next
 * call. sp is the sample's stack pointer. Must be called for all samples in
 * order. Returns false if the program did nothing for the sample.
 */
bool stack_program_complete(struct stack_program *program, size_t cpu, uint64_t sp,
			    struct record *sample);

/*
 * Records after each sample where the thread's stack ended, and its slots from
 * now on. If the end is unknown, nothing is copied for the thread from then on.
 * Returns whether the stack is probably cut at a page that is not in memory.
 */
bool stack_program_note(struct stack_program *program, uint64_t sp, const struct record *sample,
			struct stack_extent extent);

#endif
