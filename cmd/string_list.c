#include "cmd/string_list.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void string_list_deinit(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){0};
}

void string_list_take(struct string_list *list, char *word)
{
	if (list->count + 1 >= list->room) {
		list->room = list->room ? 2 * list->room : 16;
		list->items = xreallocarray(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count++] = word;
	list->items[list->count] = NULL;
}

void string_list_add(struct string_list *list, const char *word)
{
	string_list_take(list, xstrdup(word));
}

void string_list_add_all(struct string_list *list, const struct string_list *all)
{
	for (size_t i = 0; i < all->count; i++)
		string_list_add(list, all->items[i]);
}

void string_list_split(struct string_list *list, const char *text)
{
	static const char spaces[] = " \t\r\n";

	for (text += strspn(text, spaces); *text; text += strspn(text, spaces)) {
		size_t len = strcspn(text, spaces);

		string_list_take(list, xstrndup(text, len));
		text += len;
	}
}

bool string_list_have(const struct string_list *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], word))
			return true;
	return false;
}

char *string_list_pack(const struct string_list *list, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	for (size_t i = 0; i < list->count; i++)
		fwrite(list->items[i], strlen(list->items[i]) + 1, 1, out);
	fclose(out);
	return text;
}

void string_list_unpack(struct string_list *list, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		size_t word_len = strnlen(text, (size_t)(end - text));

		string_list_take(list, xstrndup(text, word_len));
		text += word_len + 1;
	}
}
