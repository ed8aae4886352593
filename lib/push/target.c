#include "push/target.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length of the URL's authority: user, host and port. */
static size_t authority_len(const char *authority)
{
	return strcspn(authority, "/?#");
}

static struct error *check_url(const char *text, const char *url)
{
	const char *authority = strstr(url, "://");
	const char *at;

	if (!text_begins(url, "http://") && !text_begins(url, "https://"))
		return error_hint(error_new("%s: not a http:// or https:// URL", text),
				  "such as otlp:http://localhost:4318");
	authority += strlen("://");
	at = memrchr(authority, '@', authority_len(authority));
	if (!authority_len(at ? at + 1 : authority))
		return error_new("%s: the URL has no host", text);
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '?' || *c == '#')
			return error_new("%s: the URL may have no spaces, ? or #", text);
	return NULL;
}

static char *url_of(const char *url, const char *path)
{
	size_t len = strlen(url);

	while (url[len - 1] == '/')
		len--;
	if (len >= strlen(path) && text_begins(url + len - strlen(path), path))
		len -= strlen(path);
	return xasprintf("%.*s%s", (int)len, url, path);
}

struct error *push_target_parse(const char *text, struct push_target *ret)
{
	const char *colon = strchrnul(text, ':');
	const struct push_protocol *protocol = push_protocol_by_name(text, (size_t)(colon - text));
	CLEANUP(free_ptr) char *name = push_without_passwords(text);
	struct error *err;

	if (!protocol)
		return error_hint(error_new("%s: unknown protocol (otlp, pyroscope, parca)", name),
				  "such as otlp:http://localhost:4318");
	err = check_url(name, colon + 1);
	if (err)
		return err;
	*ret = (struct push_target){
		.protocol = protocol,
		.url = url_of(colon + 1, protocol->path),
		.name = STEAL(name),
	};
	return NULL;
}

void push_target_deinit(struct push_target *target)
{
	free(target->url);
	free(target->name);
	*target = (struct push_target){0};
}

char *push_without_passwords(const char *text)
{
	char *kept = NULL;
	size_t len;
	FILE *out = open_memstream(&kept, &len);

	for (const char *scheme; (scheme = strstr(text, "://"));) {
		const char *authority = scheme + strlen("://");
		const char *at = memrchr(authority, '@', strcspn(authority, "/?# "));

		fprintf(out, "%.*s", (int)(authority - text), text);
		text = at ? at + 1 : authority;
	}
	fputs(text, out);
	fclose(out);
	return kept;
}
