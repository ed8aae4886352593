#include "cmd/program_name.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 16, COMM_BYTES = 15 };

const char *const program_name_variables[] = {"CARGO_PKG_NAME", "NEXTEST_BINARY_ID",
					      "NEXTEST_TEST_NAME", NULL};

char *program_name(const char *path)
{
	const char *name = basename(path);
	size_t len = strlen(name);
	const char *hash = len > HASH_DIGITS ? name + len - HASH_DIGITS : name;

	if (hash > name + 1 && hash[-1] == '-' && strspn(hash, "0123456789abcdef") == HASH_DIGITS)
		len -= HASH_DIGITS + 1;
	/* rustdoc calls all of its programs so. */
	if (!strcmp(name, "rust_out"))
		return xstrdup("doctest");
	return xstrndup(name, len);
}

char *program_comm(const char *path)
{
	return xstrndup(basename(path), COMM_BYTES);
}

static const char *program_name_value_of(const struct string_list *environment, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < environment->count; i++)
		if (!strncmp(environment->items[i], name, len) && environment->items[i][len] == '=')
			return environment->items[i] + len + 1;
	return NULL;
}

/* Keeps only characters that all file systems and uploaders accept: "a::b c"
 * becomes "a.b_c". */
static char *program_name_tidy(char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-";
	char *to = name;

	for (const char *at = name; *at; at++) {
		*to = *at;
		if (at[0] == ':' && at[1] == ':') {
			*to = '.';
			at++;
		} else if (!strchr(plain, *at)) {
			*to = '_';
		}
		to++;
	}
	*to = '\0';
	if (*name == '.')
		*name = '_';
	return name;
}

static char *untaken(char *name, struct string_list *taken)
{
	char *other = xstrdup(name);

	for (unsigned number = 2; string_list_have(taken, other); number++) {
		free(other);
		other = xasprintf("%s-%u", name, number);
	}
	free(name);
	string_list_add(taken, other);
	return other;
}

char *program_profile_name(const char *path, const struct string_list *environment,
			   struct string_list *taken)
{
	const char *test = program_name_value_of(environment, "NEXTEST_TEST_NAME");
	const char *binary = program_name_value_of(environment, "NEXTEST_BINARY_ID");
	const char *package = program_name_value_of(environment, "CARGO_PKG_NAME");
	char *name;

	if (test && binary)
		return untaken(program_name_tidy(xasprintf("%s.%s", binary, test)), taken);
	name = program_name_tidy(program_name(path));
	/* Two packages can have programs of the same name; a package can have a
	 * library and a program of the same name. */
	if (package && strcmp(package, name) != 0 && string_list_have(taken, name)) {
		CLEANUP(free_ptr) char *short_name = name;

		name = program_name_tidy(xasprintf("%s.%s", package, short_name));
	}
	return untaken(name, taken);
}
