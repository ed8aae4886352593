#include "base/shell_word.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

char *shell_word(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./:,@%";
	char *text = NULL;
	size_t len;
	FILE *out;

	if (path[strspn(path, plain)] == '\0')
		return xstrdup(path);
	out = open_memstream(&text, &len);
	fputc('\'', out);
	for (; *path; path++) {
		if (*path == '\'')
			fputs("'\\'", out);
		fputc(*path, out);
	}
	fputc('\'', out);
	fclose(out);
	return text;
}
