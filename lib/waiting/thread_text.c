#include "waiting/thread_text.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

size_t thread_text_symbol_len(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return text[0] && strchr(letters, text[0])
		       ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "0123456789.$")
		       : 0;
}

/* Example: "2217 (name) S 2216 …". The name may contain any character. */
char thread_text_state(const char *stat)
{
	const char *end = strrchr(stat, ')');

	if (!end || end[1] != ' ')
		return '\0';
	return end[2];
}

/*
 * Example: "76347 7121 2", which is nanoseconds on a CPU, nanoseconds in a run
 * queue, and the number of times on a CPU.
 */
uint64_t thread_text_run_delay_ns(const char *schedstat)
{
	const char *space = strchr(schedstat, ' ');

	return space && space[1] >= '0' && space[1] <= '9' ? strtoull(space + 1, NULL, 10) : 0;
}

/*
 * Example: "[<0>] futex_wait+0x71/0x1c0", followed by " [module]" for a module.
 */
void thread_text_kernel_stack(const char *stack, char *into, size_t len)
{
	static const char before[] = "[<0>] ";
	char *end = into;

	for (const char *line = stack; line; line = strchr(line, '\n')) {
		size_t symbol_len;

		line += *line == '\n';
		if (!text_begins(line, before))
			continue;
		line += sizeof(before) - 1;
		symbol_len = thread_text_symbol_len(line);
		/*
		 * Without an offset this is not a symbol, or the end of the
		 * text truncated it.
		 */
		if (!symbol_len || line[symbol_len] != '+')
			continue;
		if (symbol_len + 2 > len - (size_t)(end - into))
			break;
		memcpy(end, line, symbol_len);
		end[symbol_len] = '\n';
		end += symbol_len + 1;
	}
	*end = '\0';
}
