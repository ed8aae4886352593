#include "cmd/words.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void words_deinit(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct words){0};
}

void words_take(struct words *words, char *word)
{
	if (words->count + 1 >= words->room) {
		words->room = words->room ? 2 * words->room : 16;
		words->items = xreallocarray(words->items, words->room, sizeof(*words->items));
	}
	words->items[words->count++] = word;
	words->items[words->count] = NULL;
}

void words_add(struct words *words, const char *word)
{
	words_take(words, xstrdup(word));
}

void words_add_all(struct words *words, const struct words *all)
{
	for (size_t i = 0; i < all->count; i++)
		words_add(words, all->items[i]);
}

void words_split(struct words *words, const char *text)
{
	static const char spaces[] = " \t\r\n";

	for (text += strspn(text, spaces); *text; text += strspn(text, spaces)) {
		size_t len = strcspn(text, spaces);

		words_take(words, xstrndup(text, len));
		text += len;
	}
}

bool words_have(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (!strcmp(words->items[i], word))
			return true;
	return false;
}

char *words_pack(const struct words *words, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	for (size_t i = 0; i < words->count; i++)
		fwrite(words->items[i], strlen(words->items[i]) + 1, 1, out);
	fclose(out);
	return text;
}

void words_unpack(struct words *words, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		size_t word_len = strnlen(text, (size_t)(end - text));

		words_take(words, xstrndup(text, word_len));
		text += word_len + 1;
	}
}
