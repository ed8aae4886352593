/*
 * The texts of /proc/PID/task/TID that a look reads, parsed. They are NUL-terminated.
 * Source: proc(5).
 */
#ifndef PROF_WAITING_THREAD_TEXT_H
#define PROF_WAITING_THREAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* stat: the letter of the thread's state; '\0' if the text is damaged. */
char thread_text_state(const char *stat);

/* schedstat: how long the thread has wanted a CPU in its life; 0 if the text is damaged. */
uint64_t thread_text_run_delay_ns(const char *schedstat);

/*
 * stack: the functions of the kernel, leaf first, a line each, without offsets and modules. What
 * does not fit is left out by whole lines.
 */
void thread_text_kernel_stack(const char *stack, char *into, size_t len);

/* The length of the symbol of the kernel that a text begins with; 0: it does not. */
size_t thread_text_symbol_len(const char *text);

#endif
