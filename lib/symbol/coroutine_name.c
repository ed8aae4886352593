#include "symbol/coroutine_name.h"

#include "base/alloc.h"
#include "base/text.h"

/*
 * Returns the length of "{async_fn#0}" at the start of the name, or 0 if it is
 * another name.
 */
static size_t coroutine_length(const char *plain_name)
{
	size_t len;

	if (!text_begins(plain_name, "{async_") && !text_begins(plain_name, "{gen_") &&
	    !text_begins(plain_name, "{coroutine"))
		return 0;
	len = strcspn(plain_name, "}<");
	return plain_name[len] == '}' ? len + 1 : 0;
}

/*
 * Returns the start of the last part of the name if it is "{{closure}}" or
 * "{closure#0}", otherwise NULL. *rest is the text after it, such as " [clone
 * .cold]".
 */
static const char *find_closure(const char *name, const char **rest)
{
	const char *found = NULL, *at = name;

	while ((at = strstr(at, "::{")))
		found = at += strlen("::");
	if (!found)
		return NULL;
	if (text_begins(found, "{{closure}}"))
		*rest = found + strlen("{{closure}}");
	else if (text_begins(found, "{closure#") && strchr(found, '}'))
		*rest = strchr(found, '}') + 1;
	else
		return NULL;
	return !**rest || text_begins(*rest, " [clone ") ? found : NULL;
}

char *coroutine_name(const char *name, const char *plain_name)
{
	size_t len = plain_name ? coroutine_length(plain_name) : 0;
	const char *rest;
	const char *closure = len ? find_closure(name, &rest) : NULL;

	if (!closure)
		return NULL;
	return xasprintf("%.*s%.*s%s", (int)(closure - name), name, (int)len, plain_name, rest);
}
