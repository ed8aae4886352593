/*
 * Fuzzes the files in /proc about a waiting thread: the line of its system
 * call, wchan, the link of a descriptor, schedstat and the kernel's stack,
 * separated by NULs. The text of the frame must consist of printable
 * characters.
 */
#include "waiting/reason.h"
#include "waiting/thread_text.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS = 5, KERNEL_BYTES = 64 };

static void check_reason(const struct waiting_call *call, const char *wchan, const char *link,
			 size_t len)
{
	char reason[64];

	reason_text(call, wchan, link, reason, len);
	if (strlen(reason) >= len)
		abort();
	for (const char *at = reason; *at; at++)
		if (*at < ' ' || *at == ';' || *at >= 0x7f)
			abort();
}

static void check_kernel_stack(const char *stack)
{
	char functions[KERNEL_BYTES];

	thread_text_kernel_stack(stack, functions, sizeof(functions));
	if (strlen(functions) >= sizeof(functions) || strpbrk(functions, " +[]"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + TEXTS), *texts[TEXTS], *next = copy;
	struct waiting_call call;

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	memset(copy + size, 0, TEXTS);
	for (int i = 0; i < TEXTS; i++) {
		texts[i] = next;
		next += strlen(next) + (next + strlen(next) < copy + size + TEXTS - 1);
	}
	check_reason(NULL, texts[1], texts[2], 64);
	if (waiting_call_parse(texts[0], &call)) {
		check_reason(&call, texts[1], texts[2], 64);
		call.is_i386 = true;
		check_reason(&call, texts[1], texts[2], 20);
	}
	thread_text_state(texts[3]);
	thread_text_run_delay_ns(texts[3]);
	check_kernel_stack(texts[4]);
	free(copy);
	return 0;
}
