#include "push/delivery.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/utf8.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ATTEMPT_NS (30 * NS_PER_SECOND)
#define FIRST_BACKOFF_NS (500 * NS_PER_MS)
#define LONGEST_BACKOFF_NS (30 * NS_PER_SECOND)
enum { TICK_MS = 50, EXCERPT_BYTES = 200 };

struct attempts {
	const struct push_delivery *delivery;
	const struct push_protocol *protocol;
	struct push_post post;
	uint64_t until_ns;
	struct push_result *result;
};

void push_result_deinit(struct push_result *result)
{
	free(result->why);
	*result = (struct push_result){0};
}

enum push_outcome push_outcome_of(unsigned status)
{
	if (status >= 200 && status < 300)
		return PUSH_DELIVERED;
	if (!status || status == 408 || status == 429 || status >= 500)
		return PUSH_LATER;
	if (status == 400 || status == 413 || status == 415 || status == 422)
		return PUSH_REJECTED;
	return PUSH_REFUSED;
}

uint64_t push_backoff_ns(unsigned attempt, uint32_t random)
{
	uint64_t longest = LONGEST_BACKOFF_NS;

	if (attempt < 8 && FIRST_BACKOFF_NS << (attempt - 2) < longest)
		longest = FIRST_BACKOFF_NS << (attempt - 2);
	/* Of 64 bits, with 16 of the random ones. */
	return longest / 2 + (longest / 2 >> 16) * (random >> 16);
}

/* The first line of an answer that is text; "": none. */
static char *excerpt(const struct push_reply *reply)
{
	struct bytes text = bytes_of(reply->text, reply->len);
	size_t len = strcspn(reply->text, "\r\n");

	if (!utf8_is_text(text))
		return xstrdup("");
	return xstrndup(reply->text, len < EXCERPT_BYTES ? len : EXCERPT_BYTES);
}

static const char *words_of(unsigned status)
{
	switch (status) {
	case 401:
	case 403:
		return "the server refuses these credentials";
	case 404:
	case 405:
		return "the server takes no profiles at this URL";
	case 413:
		return "the profile is too large for the server: record a shorter time, or with a "
		       "lower frequency";
	case 429:
		return "the server has too many requests";
	default:
		return status >= 300 && status < 400 ? "the server redirects, which is not followed"
						     : "the server failed";
	}
}

static char *explain(const struct push_reply *reply)
{
	CLEANUP(free_ptr) char *text = excerpt(reply);

	if (!reply->status)
		return STEAL(text);
	return xasprintf("%s (status %u)%s%s", words_of(reply->status), reply->status,
			 *text ? ": " : "", text);
}

static bool is_over(const struct push_delivery *delivery)
{
	return delivery->wait.is_over && delivery->wait.is_over(delivery->wait.user);
}

/* False: the wait was over. */
static bool sleep_until(const struct push_delivery *delivery, uint64_t until_ns)
{
	while (clock_now_ns() < until_ns) {
		if (is_over(delivery))
			return false;
		poll(NULL, 0, TICK_MS);
	}
	return true;
}

/* When to try again; beyond until_ns: not. */
static uint64_t next_attempt_ns(const struct attempts *attempts, const struct push_reply *reply)
{
	uint64_t wait_ns;
	uint32_t random = 0;

	/* Without it there is no jitter. */
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	wait_ns = push_backoff_ns(attempts->result->attempts + 1, random);
	if (reply->retry_after_seconds > UINT32_MAX)
		return UINT64_MAX;
	if (wait_ns < reply->retry_after_seconds * NS_PER_SECOND)
		wait_ns = reply->retry_after_seconds * NS_PER_SECOND;
	return clock_now_ns() + wait_ns;
}

/* Takes err. */
static void fail(struct push_result *result, struct error *err)
{
	result->outcome = error_number(err) == ECANCELED ? PUSH_STOPPED : PUSH_LATER;
	free(result->why);
	result->why = xstrdup(error_text(err));
	error_free(err);
}

/* Returns when to try again; 0: not. */
static uint64_t attempt(struct attempts *attempts)
{
	const struct push_delivery *delivery = attempts->delivery;
	struct push_result *result = attempts->result;
	struct push_reply reply;
	struct error *err;
	uint64_t now_ns = clock_now_ns(), at_ns;

	if (now_ns >= attempts->until_ns)
		return 0;
	attempts->post.timeout_ns = attempts->until_ns - now_ns < ATTEMPT_NS
					    ? attempts->until_ns - now_ns
					    : ATTEMPT_NS;
	result->attempts++;
	err = push_send(&attempts->post, delivery->wait.is_over ? &delivery->wait : NULL, &reply);
	if (err) {
		fail(result, err);
		return 0;
	}
	free(STEAL(result->why));
	result->outcome = push_outcome_of(reply.status);
	if (result->outcome != PUSH_DELIVERED)
		result->why = explain(&reply);
	else if (attempts->protocol->complaint)
		result->why = attempts->protocol->complaint(bytes_of(reply.text, reply.len));
	if (result->outcome != PUSH_LATER)
		return 0;
	at_ns = next_attempt_ns(attempts, &reply);
	return at_ns < attempts->until_ns ? at_ns : 0;
}

static void try_until_done(struct attempts *attempts)
{
	uint64_t at_ns;

	while ((at_ns = attempt(attempts)))
		if (!sleep_until(attempts->delivery, at_ns)) {
			attempts->result->outcome = PUSH_STOPPED;
			return;
		}
}

static const char **headers_of(const struct push_target *target, const char *const *more)
{
	const char **all;
	size_t own = 0, others = 0;

	while (target->protocol->headers[own])
		own++;
	while (more[others])
		others++;
	all = xcalloc(own + others + 1, sizeof(*all));
	memcpy(all, target->protocol->headers, own * sizeof(*all));
	memcpy(all + own, more, others * sizeof(*all));
	return all;
}

static struct error *encode(const struct push_delivery *delivery, const struct push_target *target,
			    const struct profile *profile, struct wire_message *body)
{
	CLEANUP(push_labels_deinit) struct push_labels labels = {0};

	for (size_t i = 0; i < delivery->labels->count; i++)
		push_labels_add(&labels, delivery->labels->items[i].key,
				delivery->labels->items[i].text);
	push_labels_add_profile(&labels, profile);
	return target->protocol->encode(profile, &labels, body);
}

void push_deliver(const struct push_delivery *delivery, const struct push_target *target,
		  const struct profile *profile, struct push_result *ret)
{
	CLEANUP(free_ptr) const char **headers = headers_of(target, delivery->headers);
	struct wire_message body = {0};
	struct error *err = encode(delivery, target, profile, &body);
	struct attempts attempts = {
		.delivery = delivery,
		.protocol = target->protocol,
		.post = {.url = target->url,
			 .headers = headers,
			 .body = body.bytes,
			 .len = body.len,
			 .caller = delivery->caller},
		.until_ns = clock_now_ns() + delivery->patience_ns,
		.result = ret,
	};

	*ret = (struct push_result){.outcome = PUSH_LATER, .bytes = body.len};
	if (err) {
		fail(ret, err);
		ret->outcome = PUSH_REJECTED;
	} else {
		try_until_done(&attempts);
	}
	free(body.bytes);
}
