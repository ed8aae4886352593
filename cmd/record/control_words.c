#include "cmd/record/control_words.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct control_words {
	char *bytes; /* unparsed bytes, from `first` on */
	size_t first, len, room;
	bool skips;	/* skip the rest of a line that was too long */
	char *argument; /* argument of the last command */
};

static const struct {
	const char *text;
	enum control_word word;
} plain_words[] = {
	{"enable", CONTROL_ENABLE},
	{"disable", CONTROL_DISABLE},
	{"ping", CONTROL_PING},
	{"stop", CONTROL_STOP},
};

static const char snapshot[] = "snapshot";

#define KNOWN_WORDS "enable, disable, ping, stop, snapshot FILE"

struct control_words *control_words_new(void)
{
	struct control_words *words = xcalloc(1, sizeof(*words));

	words->room = CONTROL_LINE_MAX;
	words->bytes = xmalloc(words->room);
	return words;
}

void control_words_free(struct control_words *words)
{
	if (!words)
		return;
	free(words->bytes);
	free(words->argument);
	free(words);
}

void control_words_put(struct control_words *words, const char *bytes, size_t len)
{
	memmove(words->bytes, words->bytes + words->first, words->len - words->first);
	words->len -= words->first;
	words->first = 0;
	if (words->len + len > words->room) {
		words->room = words->len + len;
		words->bytes = xreallocarray(words->bytes, words->room, 1);
	}
	memcpy(words->bytes + words->len, bytes, len);
	words->len += len;
}

static bool control_words_is_end(char c)
{
	return c == '\n' || c == '\0';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns NULL if the text is not a command. */
static const enum control_word *plain_word(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain_words); i++)
		if (strlen(plain_words[i].text) == len && !memcmp(plain_words[i].text, text, len))
			return &plain_words[i].word;
	return NULL;
}

static void control_words_give(struct control_words *words, enum control_word word, char *argument,
			       struct control_command *ret)
{
	free(words->argument);
	words->argument = argument;
	*ret = (struct control_command){word, argument};
}

static char *control_words_explain(const char *text, size_t len)
{
	return xasprintf("unknown word \"%.*s\" (%s)", (int)len, text, KNOWN_WORDS);
}

static void take_snapshot(struct control_words *words, const char *file, size_t len,
			  struct control_command *ret)
{
	while (len && is_space(*file))
		file++, len--;
	if (len)
		control_words_give(words, CONTROL_SNAPSHOT, xstrndup(file, len), ret);
	else
		control_words_give(words, CONTROL_WRONG,
				   xstrdup("snapshot needs a file: snapshot FILE"), ret);
}

static void control_words_take_line(struct control_words *words, const char *text, size_t len,
				    struct control_command *ret)
{
	const enum control_word *word = plain_word(text, len);
	size_t first = strlen(snapshot);

	if (word)
		control_words_give(words, *word, xstrdup(""), ret);
	else if (len >= first && !memcmp(text, snapshot, first) &&
		 (len == first || is_space(text[first])))
		take_snapshot(words, text + first, len - first, ret);
	else
		control_words_give(words, CONTROL_WRONG, control_words_explain(text, len), ret);
}

/* Trims spaces around a line or a part of one. Returns false if it is empty. */
static bool trim(const char **text, size_t *len)
{
	while (*len && is_space(**text))
		++*text, --*len;
	while (*len && is_space((*text)[*len - 1]))
		--*len;
	return *len;
}

/* Returns false if the line is not complete. */
static bool control_words_find_line(struct control_words *words, const char **text, size_t *len)
{
	*text = words->bytes + words->first;
	for (*len = 0; words->first + *len < words->len; ++*len)
		if (control_words_is_end((*text)[*len])) {
			words->first += *len + 1;
			return true;
		}
	return false;
}

/* Takes the rest, which has no line end. */
static bool control_words_take_rest(struct control_words *words, const char *text, size_t len,
				    struct control_command *ret)
{
	const enum control_word *word;

	if (words->skips || len > CONTROL_LINE_MAX) {
		words->skips = true;
		words->first = words->len;
		return false;
	}
	word = trim(&text, &len) ? plain_word(text, len) : NULL;
	if (!word)
		return false;
	words->first = words->len;
	control_words_give(words, *word, xstrdup(""), ret);
	return true;
}

bool control_words_next(struct control_words *words, struct control_command *ret)
{
	const char *text;
	size_t len;

	while (control_words_find_line(words, &text, &len)) {
		bool is_too_long = words->skips || len > CONTROL_LINE_MAX;

		words->skips = false;
		if (is_too_long) {
			control_words_give(
				words, CONTROL_WRONG,
				xasprintf("a line is longer than %d bytes", CONTROL_LINE_MAX), ret);
			return true;
		}
		if (trim(&text, &len)) {
			control_words_take_line(words, text, len, ret);
			return true;
		}
	}
	return control_words_take_rest(words, text, len, ret);
}
