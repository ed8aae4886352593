#include "report/stable_name.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

enum { RUST_HASH_DIGITS = 16 };

static const char *const clones[] = {".constprop", ".isra",	  ".part", ".cold",
				     ".lto_priv",  ".localalias", ".llvm"};

/* The number after a clone suffix: ".0", ".A5310EB9". */
static size_t number_bytes(const char *at)
{
	size_t len = at[0] == '.' ? 1 + strspn(at + 1, "0123456789ABCDEF") : 0;

	return len > 1 ? len : 0;
}

/* The length of the clone suffix that begins here; 0: none does. */
static size_t clone_bytes(const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(clones); i++) {
		size_t len = strlen(clones[i]);

		if (!strncmp(at, clones[i], len))
			return len + number_bytes(at + len);
	}
	return 0;
}

/* "foo.part.0.isra.1" → "foo": one or more suffixes at the end of the name. */
static void cut_clones(char *name)
{
	for (char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
		size_t len = 0, more;

		while ((more = clone_bytes(at + len)))
			len += more;
		if (len && !at[len] && at > name) {
			*at = '\0';
			return;
		}
	}
}

static void cut_bracketed_clones(char *name)
{
	char *at = strstr(name, " [clone ");

	if (at && at > name)
		*at = '\0';
}

static void cut_end(char *name, const char *end)
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
	if (!strncmp(hash, "::h", 3) && strspn(hash + 3, "0123456789abcdef") == RUST_HASH_DIGITS)
		*hash = '\0';
}

char *stable_function_name(const char *name)
{
	char *copy = xstrdup(name);

	cut_end(copy, "_[i]");
	cut_bracketed_clones(copy);
	cut_clones(copy);
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
