#include "report/match.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <string.h>

/* What is not in brackets, up to the parameters' end: "std::vector::push_back". Those at the
 * beginning hold a type, as "<Vec as Index>::index": what is in them goes too. */
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
	/* Without what follows the parameters: "const", "[clone .cold]". */
	len = strcspn(plain, " ");
	return is_end_of(plain, len, word);
}
