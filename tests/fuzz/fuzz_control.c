/* Fuzzes the bytes of a control channel, in parts of the size in the first
 * byte. */
#include "cmd/record/control_words.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

static void take_all(struct control_words *words)
{
	struct control_command command;

	while (control_words_next(words, &command))
		assert(command.argument && strlen(command.argument) <= 2 * CONTROL_LINE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();
	size_t part = size ? data[0] + 1U : 1;

	for (size_t at = 1; at < size; at += part) {
		size_t left = size - at;

		control_words_put(words, (const char *)data + at, left < part ? left : part);
		take_all(words);
	}
	return 0;
}
