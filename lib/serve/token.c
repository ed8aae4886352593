#include "serve/token.h"

#include "base/alloc.h"
#include "output/secret_file.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum {
	TOKEN_BYTES_MIN = 16,
	CREDENTIALS_MAX = 1024, /* bytes that Basic encodes */
};

struct token {
	char *text;
};

struct error *token_read(const char *path, struct token **ret)
{
	CLEANUP(free_ptr) char *text = NULL;
	struct error *err = secret_file_read(path, &text);
	struct token *token;

	if (err)
		return err;
	text[strcspn(text, " \t\r\n")] = '\0';
	if (strlen(text) < TOKEN_BYTES_MIN)
		return error_hint(
			error_new("%s: a token needs %d characters", path, TOKEN_BYTES_MIN),
			"(umask 077; openssl rand -hex 32 >%s)", path);
	token = xmalloc(sizeof(*token));
	token->text = STEAL(text);
	*ret = token;
	return NULL;
}

void token_free(struct token *token)
{
	if (!token)
		return;
	explicit_bzero(token->text, strlen(token->text));
	free(token->text);
	free(token);
}

/* The duration depends only on the length of the given text. */
static bool token_is_equal(const struct token *token, const char *given)
{
	size_t len = strlen(token->text), given_len = strlen(given);
	unsigned differences = len != given_len;

	for (size_t i = 0; i < given_len; i++)
		differences |= (unsigned)(token->text[i % len] ^ given[i]);
	return !differences;
}

static int token_digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/*
 * Decodes base64 up to "=" or the end. room: including a NUL. Returns false if
 * it is not base64, or does not fit.
 */
static bool token_decode(const char *text, char *to, size_t room)
{
	uint32_t bits = 0;
	unsigned count = 0;
	size_t len = 0;

	for (; *text && *text != '='; text++) {
		int digit = token_digit_of(*text);

		if (digit < 0 || len + 1 == room)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		to[len++] = (char)(bits >> count);
	}
	to[len] = '\0';
	return true;
}

/* Returns the text after the scheme, or NULL if it is another scheme. */
static const char *credentials_of(const char *authorization, const char *scheme)
{
	size_t len = strlen(scheme);

	if (strncasecmp(authorization, scheme, len) != 0 || authorization[len] != ' ')
		return NULL;
	return authorization + len + strspn(authorization + len, " ");
}

bool token_is_in(const struct token *token, const char *authorization)
{
	const char *given = authorization ? credentials_of(authorization, "Bearer") : NULL;
	char pair[CREDENTIALS_MAX + 1];

	if (given)
		return token_is_equal(token, given);
	given = authorization ? credentials_of(authorization, "Basic") : NULL;
	if (!given || !token_decode(given, pair, sizeof(pair)))
		return false;
	given = strchr(pair, ':');
	return given && token_is_equal(token, given + 1);
}
