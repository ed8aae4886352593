/*
 * Parses the files of /proc/PID/task/TID that a thread snapshot reads. All
 * texts are NUL-terminated. Source: proc(5).
 */
#ifndef PROF_WAITING_THREAD_TEXT_H
#define PROF_WAITING_THREAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Returns the state letter from "stat", or '\0' if the text is malformed. */
char thread_text_state(const char *stat);

/*
 * Returns the total run delay of the thread from "schedstat", or 0 if the text
 * is malformed.
 */
uint64_t thread_text_run_delay_ns(const char *schedstat);

/*
 * Converts "stack" to kernel function names, leaf first, one per line, without
 * offsets and modules. Lines that do not fit are omitted.
 */
void thread_text_kernel_stack(const char *stack, char *into, size_t len);

/*
 * Returns the length of the kernel symbol at the start of the text, or 0 if
 * there is none.
 */
size_t thread_text_symbol_len(const char *text);

#endif
