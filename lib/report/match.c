#include "report/match.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <string.h>

/*
 * Copies what is outside brackets, up to the end of the parameters:
 * "std::vector::push_back". A bracket at the start contains a type, "<Vec as
 * Index>::index", and is omitted, too.
 */
static void leave_out_brackets(const char *name, char *to)
{
	unsigned depth = 0;

	for (; *name; name++) {
		if (strchr("<(", *name))
			depth++;
		else if (strchr(">)", *name))
			depth -= depth > 0;
		else if (!depth)
			*to++ = *name;
	}
	*to = '\0';
}

static bool is_end_of(const char *plain, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	if (!word_len || len < word_len || memcmp(plain + len - word_len, word, word_len) != 0)
		return false;
	return len == word_len || strchr(":./ ", plain[len - word_len - 1]);
}

bool match_own_name(const char *name, const char *word)
{
	CLEANUP(free_ptr) char *plain = xstrdup(name);
	size_t len;

	leave_out_brackets(name, plain);
	len = strlen(plain);
	if (is_end_of(plain, len, word))
		return true;
	/* Omits the text after the parameters: "const", "[clone .cold]". */
	len = strcspn(plain, " ");
	return is_end_of(plain, len, word);
}
