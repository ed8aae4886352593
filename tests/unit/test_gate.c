#include "serve/gate.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum { OWN = 1000, OTHER = 1001 };

#define TOKEN "0123456789abcdef"

static const uid_t users[] = {OWN};
static const struct gate local = {.host = "127.0.0.7", .users = users, .user_count = 1};

/* A request of a client of prof's own user. */
static struct gate_request usual(void)
{
	return (struct gate_request){
		.method = "GET", .host = "127.0.0.7:6060", .has_user = true, .user = OWN};
}

static enum gate_verdict judge(struct gate_request request)
{
	return gate_judge(&local, &request);
}

TEST(own_programs_and_those_of_root_are_answered)
{
	struct gate_request request = usual();

	assert_int_equal(judge(request), GATE_OPEN);
	request.user = 0;
	assert_int_equal(judge(request), GATE_OPEN);
	request.method = "HEAD";
	assert_int_equal(judge(request), GATE_OPEN);
}

TEST(other_users_are_not_answered_nor_unknown_ones)
{
	struct gate_request request = usual();

	request.user = OTHER;
	assert_int_equal(judge(request), GATE_USER);
	request.user = OWN;
	request.has_user = false;
	assert_int_equal(judge(request), GATE_USER);
	request.is_public = true;
	assert_int_equal(judge(request), GATE_OPEN);
}

TEST(only_get_and_head_without_content)
{
	struct gate_request request = usual();

	request.has_body = true;
	assert_int_equal(judge(request), GATE_BODY);
	request.method = "POST";
	assert_int_equal(judge(request), GATE_METHOD);
	request.method = "get";
	assert_int_equal(judge(request), GATE_METHOD);
}

static enum gate_verdict judge_host(const char *host)
{
	struct gate_request request = usual();

	request.host = host;
	return judge(request);
}

TEST(names_that_could_have_been_rebound_are_refused)
{
	static const char *const good[] = {"localhost",	   "LOCALHOST:1", "127.0.0.1",
					   "127.0.0.1:80", "[::1]:6060",  "127.0.0.7"};
	static const char *const bad[] = {
		"",
		"evil.example",
		"localhost.evil.example",
		"127.0.0.1.evil",
		"127.0.0.2",
		"localhost:80:80",
		"localhost:x",
		"[::1",
		"[::1]evil",
		"evil:127.0.0.1",
		"local",
		"[::2]",
		"localhost@evil:1",
		"localhost evil:1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(judge_host(good[i]), GATE_OPEN);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(judge_host(bad[i]), GATE_HOST);
	assert_int_equal(judge_host(NULL), GATE_HOST);
}

TEST(pages_of_other_sites_are_refused)
{
	struct gate_request request = usual();

	request.fetch_site = "none";
	assert_int_equal(judge(request), GATE_OPEN);
	request.fetch_site = "same-origin";
	request.origin = "http://127.0.0.7:6060";
	assert_int_equal(judge(request), GATE_OPEN);
	request.fetch_site = "cross-site";
	assert_int_equal(judge(request), GATE_ORIGIN);
	request.fetch_site = "same-site";
	assert_int_equal(judge(request), GATE_ORIGIN);
	request.fetch_site = NULL;
	request.origin = "null";
	assert_int_equal(judge(request), GATE_ORIGIN);
	request.origin = "http://127.0.0.7:8080";
	assert_int_equal(judge(request), GATE_ORIGIN);
	request.origin = "https://127.0.0.7:6060";
	assert_int_equal(judge(request), GATE_ORIGIN);
}

static char *write_token(const char *text, mode_t mode)
{
	char *path = xstrdup("/tmp/test_gate.XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

TEST(a_token_is_asked_for_instead_of_the_user)
{
	CLEANUP(free_ptr) char *path = write_token(TOKEN "\n", 0600);
	CLEANUP(token_cleanup) struct token *token = NULL;
	struct gate gate = {.is_tls = true};
	struct gate_request request = usual();

	assert_null(token_read(path, &token));
	unlink(path);
	gate.token = token;
	request.host = "any.name.example";
	assert_int_equal(gate_judge(&gate, &request), GATE_TOKEN);
	request.user = OTHER;
	request.authorization = "Bearer " TOKEN;
	assert_int_equal(gate_judge(&gate, &request), GATE_OPEN);
	request.origin = "https://any.name.example";
	assert_int_equal(gate_judge(&gate, &request), GATE_OPEN);
}

TEST(a_token_is_compared_whole)
{
	CLEANUP(free_ptr) char *path = write_token(TOKEN " a comment\n", 0600);
	CLEANUP(token_cleanup) struct token *token = NULL;

	assert_null(token_read(path, &token));
	unlink(path);
	assert_true(token_is_in(token, "Bearer " TOKEN));
	assert_true(token_is_in(token, "bearer  " TOKEN));
	/* printf 'me:0123456789abcdef' | base64, with and without padding. */
	assert_true(token_is_in(token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg=="));
	assert_true(token_is_in(token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg"));
	assert_false(token_is_in(token, NULL));
	assert_false(token_is_in(token, ""));
	assert_false(token_is_in(token, TOKEN));
	assert_false(token_is_in(token, "Bearer"));
	assert_false(token_is_in(token, "Bearer " TOKEN TOKEN));
	assert_false(token_is_in(token, "Bearer 0123456789abcde"));
	assert_false(token_is_in(token, "Bearer 0123456789abcdeF"));
	assert_false(token_is_in(token, "Basic MDEyMzQ1Njc4OWFiY2RlZg=="));
	assert_false(token_is_in(token, "Basic ****"));
	assert_false(token_is_in(token, "Digest " TOKEN));
}

static void assert_not_secret(const char *text, mode_t mode, const char *part)
{
	CLEANUP(free_ptr) char *path = write_token(text, mode);
	struct token *token;
	CLEANUP(error_cleanup) struct error *err = token_read(path, &token);

	unlink(path);
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), part));
}

TEST(a_token_that_others_know_or_can_guess_is_refused)
{
	assert_not_secret(TOKEN, 0644, "is not secret: its mode is 644");
	assert_not_secret(TOKEN, 0660, "is not secret");
	assert_not_secret("short\n", 0600, "needs 16 characters");
	assert_not_secret("", 0600, "needs 16 characters");
}
