#include "push/delivery.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/humanize.h"
#include "base/utf8.h"
#include "profile/part.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ATTEMPT_NS (30 * NS_PER_SECOND)
#define FIRST_BACKOFF_NS (500 * NS_PER_MS)
#define LONGEST_DELAY_NS (20 * NS_PER_SECOND)
#define LONGEST_BACKOFF_NS (30 * NS_PER_SECOND)
enum { DELIVERY_TICK_MS = 50, EXCERPT_BYTES = 200, HALVINGS_MAX = 6 };
static_assert(1 << HALVINGS_MAX == PUSH_PARTS_MAX, "each halving doubles the number of parts");

struct attempts {
	const struct push_delivery *delivery;
	const struct push_protocol *protocol;
	struct push_post post;
	uint64_t until_ns;
	unsigned count; /* of the current part */
	struct push_result *result;
};

void push_result_deinit(struct push_result *result)
{
	free(result->why);
	*result = (struct push_result){0};
}

/*
 * Not all servers return 413. Pyroscope's limits are a 400 ("exceeds the size
 * limit (max_profile_size_byte", "exceeds the samples count limit"), and so is
 * that of net/http in an OpenTelemetry Collector ("http: request body too
 * large"). The limits of gRPC and Connect are RESOURCE_EXHAUSTED, which becomes
 * 429 ("larger than max").
 */
static bool is_too_large(unsigned status, const char *text)
{
	static const char *const words[] = {"too large", "size limit", "samples count limit",
					    "larger than max", "larger than configured max"};

	for (size_t i = 0; (status == 400 || status == 429) && i < ARRAY_SIZE(words); i++)
		if (strstr(text, words[i]))
			return true;
	return status == 413;
}

enum push_outcome push_outcome_of(unsigned status, const char *text)
{
	if (status >= 200 && status < 300)
		return PUSH_DELIVERED;
	if (is_too_large(status, text))
		return PUSH_TOO_LARGE;
	if (!status || status == 408 || status == 429 || status >= 500)
		return PUSH_LATER;
	if (status == 400 || status == 415 || status == 422)
		return PUSH_REJECTED;
	return PUSH_REFUSED;
}

uint64_t push_backoff_ns(unsigned attempt, uint32_t random)
{
	uint64_t longest = LONGEST_BACKOFF_NS;

	if (attempt < 8 && FIRST_BACKOFF_NS << (attempt - 2) < longest)
		longest = FIRST_BACKOFF_NS << (attempt - 2);
	/* Uses 16 random bits, so that the product fits into 64 bits. */
	return longest / 2 + (longest / 2 >> 16) * (random >> 16);
}

uint64_t push_delay_ns(const char *host, uint64_t every_ns)
{
	uint64_t most_ns = every_ns / 2 < LONGEST_DELAY_NS ? every_ns / 2 : LONGEST_DELAY_NS;

	return (uint64_t)((double)most_ns * hash_bytes(host, strlen(host)) / UINT32_MAX);
}

/* Returns the first line of the answer, or "" if it is not text. */
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
		return "the server accepts no profiles at this URL";
	case 429:
		return "the server gets too many requests";
	default:
		return status >= 300 && status < 400
			       ? "the server redirects, and prof follows no redirects"
			       : "the server failed";
	}
}

static char *delivery_explain(const struct push_reply *reply)
{
	CLEANUP(free_ptr) char *text = excerpt(reply);

	if (!reply->status)
		return STEAL(text);
	return xasprintf("%s (status %u)%s%s",
			 is_too_large(reply->status, reply->text)
				 ? "the profile is too large for the server, even in parts: "
				   "record a shorter time, or with a lower frequency"
				 : words_of(reply->status),
			 reply->status, *text ? ": " : "", text);
}

bool push_sleep_until(const struct push_wait *wait, uint64_t until_ns)
{
	while (clock_now_ns() < until_ns) {
		if (wait->is_over && wait->is_over(wait->user))
			return false;
		poll(NULL, 0, DELIVERY_TICK_MS);
	}
	return true;
}

/* Returns when to try again. A time after until_ns means not at all. */
static uint64_t next_attempt_ns(const struct attempts *attempts, const struct push_reply *reply)
{
	uint64_t wait_ns;
	uint32_t random = 0;

	/* If this fails, there is no jitter. */
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	wait_ns = push_backoff_ns(attempts->count + 1, random);
	if (reply->retry_after_seconds > UINT32_MAX)
		return UINT64_MAX;
	if (wait_ns < reply->retry_after_seconds * NS_PER_SECOND)
		wait_ns = reply->retry_after_seconds * NS_PER_SECOND;
	return clock_now_ns() + wait_ns;
}

/* Takes ownership of err. */
static void delivery_fail(struct push_result *result, struct error *err)
{
	result->outcome = error_number(err) == ECANCELED ? PUSH_STOPPED : PUSH_LATER;
	free(result->why);
	result->why = xstrdup(error_text(err));
	error_free(err);
}

/* Returns when to try again, or 0 for not at all. */
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
	attempts->count++;
	err = push_send(&attempts->post, delivery->wait.is_over ? &delivery->wait : NULL, &reply);
	if (err) {
		delivery_fail(result, err);
		return 0;
	}
	free(STEAL(result->why));
	/* Retrying would not change an untrusted certificate. */
	result->outcome = reply.is_untrusted ? PUSH_REFUSED
					     : push_outcome_of(reply.status, reply.text);
	if (result->outcome != PUSH_DELIVERED)
		result->why = delivery_explain(&reply);
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
		if (!push_sleep_until(&attempts->delivery->wait, at_ns)) {
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

static struct push_labels delivery_labels_of(const struct push_delivery *delivery,
					     const struct profile *profile)
{
	struct push_labels labels = {0};

	for (size_t i = 0; i < delivery->labels->count; i++)
		push_labels_add(&labels, delivery->labels->items[i].key,
				delivery->labels->items[i].text);
	push_labels_add_profile(&labels, profile);
	return labels;
}

/* Sends a profile without splitting it. */
static void send_whole(struct attempts *attempts, const struct push_labels *labels,
		       const struct profile *profile)
{
	struct push_result *result = attempts->result;
	struct wire_message body = {0};
	struct error *err = attempts->protocol->encode(profile, labels, &body);

	attempts->until_ns = clock_now_ns() + attempts->delivery->timeout_ns;
	attempts->count = 0;
	attempts->post.body = body.bytes;
	attempts->post.len = body.len;
	result->outcome = PUSH_LATER;
	if (err) {
		delivery_fail(result, err);
		result->outcome = PUSH_REJECTED;
	} else {
		try_until_done(attempts);
	}
	if (result->outcome == PUSH_DELIVERED) {
		result->bytes += body.len;
		result->parts++;
	}
	free(body.bytes);
}

/* A range of samples that must still be sent. */
struct delivery_part {
	uint64_t first, end;
	unsigned halvings;
};

static void delivery_send_part(struct attempts *attempts, const struct push_labels *labels,
			       const struct profile *profile, const struct delivery_part *part)
{
	CLEANUP(profile_cleanup)
	struct profile *some = part->halvings ? profile_part(profile, part->first, part->end)
					      : NULL;

	send_whole(attempts, labels, some ? some : profile);
}

/* Pushes both halves of a part onto the stack. Returns false if it cannot be
 * halved again. */
static bool halve(struct delivery_part *parts, size_t *count, const struct delivery_part *part)
{
	uint64_t middle = part->first + (part->end - part->first) / 2;

	if (part->halvings == HALVINGS_MAX || middle == part->first)
		return false;
	parts[(*count)++] = (struct delivery_part){middle, part->end, part->halvings + 1};
	parts[(*count)++] = (struct delivery_part){part->first, middle, part->halvings + 1};
	return true;
}

/* A part that the server rejects does not prevent the delivery of the others.
 * The reported reason is that of the first rejected part. */
static void send_parts(struct attempts *attempts, const struct push_labels *labels,
		       const struct profile *profile)
{
	struct delivery_part parts[HALVINGS_MAX + 1] = {{0, profile_samples(profile).count, 0}};
	struct push_result *result = attempts->result;
	CLEANUP(free_ptr) char *why = NULL;
	bool is_rejected = false;

	for (size_t count = 1; count;) {
		struct delivery_part part = parts[--count];

		delivery_send_part(attempts, labels, profile, &part);
		if (result->outcome == PUSH_TOO_LARGE && halve(parts, &count, &part))
			continue;
		if (result->outcome == PUSH_TOO_LARGE || result->outcome == PUSH_REJECTED)
			is_rejected = true;
		else if (result->outcome != PUSH_DELIVERED)
			return;
		if (!why)
			why = STEAL(result->why);
		/* If the server has accepted no part yet, it would reject the
		 * others, too: they are not smaller. */
		if (result->outcome == PUSH_TOO_LARGE && !result->parts)
			break;
	}
	if (is_rejected)
		result->outcome = PUSH_REJECTED;
	free(result->why);
	result->why = STEAL(why);
}

void push_deliver(const struct push_delivery *delivery, const struct push_target *target,
		  const struct profile *profile, struct push_result *ret)
{
	CLEANUP(free_ptr) const char **headers = headers_of(target, delivery->headers);
	CLEANUP(push_labels_deinit)
	struct push_labels labels = delivery_labels_of(delivery, profile);
	struct attempts attempts = {
		.delivery = delivery,
		.protocol = target->protocol,
		.post = {.url = target->url, .headers = headers, .caller = delivery->caller},
		.result = ret,
	};

	*ret = (struct push_result){0};
	send_parts(&attempts, &labels, profile);
}
