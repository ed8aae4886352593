#include "probe/pattern.h"

#include <ctype.h>
#include <string.h>

bool pattern_is(const char *text)
{
	return strpbrk(text, "*?");
}

/*
 * After a mismatch, the last '*' takes one more byte. This needs at most
 * strlen() squared steps.
 */
bool pattern_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text || *pattern == '?') {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

const char *pattern_key(const char *pattern, size_t *len)
{
	const char *key = pattern;
	size_t run = 0;

	*len = 0;
	for (const char *at = pattern; *at; at++) {
		run = isalnum((unsigned char)*at) || *at == '_' ? run + 1 : 0;
		if (run <= *len)
			continue;
		*len = run;
		key = at + 1 - run;
	}
	return key;
}
