/*
 * Deep stacks copied by the kernel: a BPF program runs in the interrupt that takes a sample, and
 * copies what lies beyond the sample's own copy of the stack.
 *
 * So nothing has to be proved, nothing is woken, and the thread goes on when the interrupt ends.
 * What the program cannot copy, copiers do (capture.h): more than 256 KiB of a stack, pages that
 * are not in memory, and stacks that a signal handler has interrupted on another one.
 *
 * It copies up to where the thread's stack ended before, which the reader notes; of an unknown
 * thread as much as there is. If the reader knows slots of the thread's outer frames
 * (stack_slot.h), it compares them first, root first, and copies the stack only as far as the last
 * one that is the same says. Slots are read 16 KiB of stack at once into memory that stays in the
 * cache: that takes a third of copying it for another CPU, and a read of each word would take
 * longer. Before Linux 6.9 no slots are compared.
 *
 * At most half of a CPU's time goes into copies. They wait for the reader in a ring per CPU. Which
 * sample one is of is certain: the kernel takes the time of a sample in the same interrupt before
 * it runs the program, which notes when it began and when it had begun before. So all samples of
 * these CPUs with a copy of the stack must run the program.
 *
 * Needs CAP_BPF and CAP_PERFMON, or root, in the first pid namespace, and Linux 6.3 with BTF.
 */
#ifndef PROF_PERF_STACK_PROGRAM_H
#define PROF_PERF_STACK_PROGRAM_H

#include "base/cleanup.h"
#include "perf/record.h"

struct bpf_code;
struct stack_program;

/*
 * dumped_bytes: what a sample copies itself; ring_bytes: of copies, per CPU. cpus are borrowed.
 * NULL: it is not possible here. That the kernel refuses the program turns out later, when it is
 * attached.
 */
struct stack_program *stack_program_new(const unsigned *cpus, size_t cpu_count, size_t dumped_bytes,
					size_t ring_bytes);
/* Events that it was attached to keep the program. */
void stack_program_free(struct stack_program *program);
DEFINE_CLEANUP(stack_program, stack_program_free)

/* Its instructions, for the end of another program that lets the sample pass. */
const struct bpf_code *stack_program_code(const struct stack_program *program);
/* For the event of this descriptor, if it has no other program. False: not possible. */
bool stack_program_attach(struct stack_program *program, int fd);

/*
 * Lengthens the stack of a sample of cpus[cpu] if the program has copied more of it, and says which
 * slots were the same; the stack is borrowed until the next call. sp: the sample's. For all samples
 * in order. False: the program has done nothing for it.
 */
bool stack_program_complete(struct stack_program *program, size_t cpu, uint64_t sp,
			    struct record *sample);

/* After each sample: where the thread's stack ended, and its slots from now on. Of a thread without
 * a known end nothing is copied from then on. */
void stack_program_note(struct stack_program *program, const struct record *sample,
			struct stack_extent extent);

#endif
