#include "cmd/ui/wrap.h"

#include <string.h>

/* Returns the number of characters that fit on a line. */
static int wrap_len(const char *text, int room)
{
	int len = (int)strlen(text);

	if (len <= room)
		return len;
	for (len = room; len > 0 && text[len] != ' '; len--)
		;
	return len ? len : room;
}

void wrap_text(const char *text, int column, int indent, FILE *out)
{
	do {
		int len = wrap_len(text, WRAP_WIDTH - indent);

		fprintf(out, "%*s%.*s\n", indent - column, "", len, text);
		text += len;
		text += strspn(text, " ");
		column = 0;
	} while (*text);
}
