#include "cmd/ui/bar.h"

#include "base/alloc.h"

#include <string.h>

#define FULL "█"

char *bar(uint64_t part, uint64_t whole, size_t columns)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	double share = whole ? (double)part / (double)whole : 0;
	size_t filled = (size_t)(share * (double)columns * 8 + 0.5);
	char *text = xmalloc(columns * strlen(FULL) + 1), *at = text;
	size_t i;

	for (i = 0; i < filled / 8 && i < columns; i++)
		at = stpcpy(at, FULL);
	if (i < columns && filled % 8) {
		at = stpcpy(at, eighths[filled % 8]);
		i++;
	}
	for (; i < columns; i++)
		*at++ = ' ';
	*at = '\0';
	return text;
}
