#include "report/stable_name.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/fragment.h"

#include <string.h>

enum { RUST_HASH_DIGITS = 16 };

static void cut_bracketed_clones(char *name)
{
	char *at = strstr(name, " [clone ");

	if (at && at > name)
		*at = '\0';
}

static void stable_name_cut_end(char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	if (len > end_len && !strcmp(name + len - end_len, end))
		name[len - end_len] = '\0';
}

static void cut_rust_hash(char *name)
{
	size_t len = strlen(name);
	char *hash;

	if (len <= RUST_HASH_DIGITS + strlen("::h"))
		return;
	hash = name + len - RUST_HASH_DIGITS - strlen("::h");
	if (text_begins(hash, "::h") && strspn(hash + 3, "0123456789abcdef") == RUST_HASH_DIGITS)
		*hash = '\0';
}

char *stable_function_name(const char *name)
{
	char *copy = xstrdup(name);

	stable_name_cut_end(copy, "_[i]");
	cut_bracketed_clones(copy);
	copy[fragment_function_length(copy)] = '\0';
	cut_rust_hash(copy);
	return copy;
}

char *stable_file_name(const char *path)
{
	char *copy = xstrdup(path[0] == '[' ? path : basename(path));
	char *version = strstr(copy, ".so.");

	if (version && !version[strlen(".so") + strspn(version + strlen(".so"), "0123456789.")])
		version[strlen(".so")] = '\0';
	return copy;
}
