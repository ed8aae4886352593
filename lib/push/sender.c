#include "push/sender.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/forked_child.h"
#include "push/curl.h"
#include "sandbox/channel.h"
#include "sandbox/connected.h"
#include "sandbox/landlock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Generous limits: sending a large profile with TLS takes far less CPU time,
 * and libcurl with its certificates needs a few MB. */
enum { CPU_SECONDS = 120, MEMORY_BYTES = 512 << 20, DESCRIPTORS_MAX = 64 };
/* prof's timeout is this much longer than libcurl's. */
#define GRACE_NS (2 * NS_PER_SECOND)
enum { SENDER_TICK_MS = 50 };

enum {
	SENDER_REPLY = 1,  /* status (u32), seconds (u64), is_untrusted (u32), text */
	SENDER_NO_LIBRARY, /* empty */
	SENDER_READY,	   /* empty: libcurl was found, and there was nothing to send */
	SENDER_FAILED,	   /* text: why the process could not be confined */
};

/* ---- In the child ---- */

static void sender_tell(struct channel *channel, uint32_t kind, const void *bytes, size_t len)
{
	/* Ignore errors: they mean that prof has exited. */
	(void)!channel_send(channel, &(struct channel_message){
					     .kind = kind, .bytes = bytes, .len = len, .fd = -1});
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *user)
{
	struct push_reply *reply = user;
	size_t len = size * count, room = PUSH_REPLY_BYTES - reply->len;
	size_t taken = len < room ? len : room;

	memcpy(reply->text + reply->len, bytes, taken);
	reply->len += taken;
	return taken;
}

static void sender_prepare(const struct curl_library *curl, curl_handle *handle,
			   const struct push_post *post, struct push_reply *reply)
{
	/* Disables "Expect: 100-continue", which profile servers do not
	 * answer. */
	curl_headers *headers = curl->add_header(NULL, "Expect:");

	for (const char *const *line = post->headers; *line; line++)
		headers = curl->add_header(headers, *line);
	/* The environment variable of curl(1) and OpenSSL. */
	if (getenv("SSL_CERT_FILE"))
		curl->set(handle, CURL_CA_FILE, getenv("SSL_CERT_FILE"));
	curl->set(handle, CURL_URL, post->url);
	curl->set(handle, CURL_PROTOCOLS, (long)CURL_HTTP_AND_HTTPS);
	curl->set(handle, CURL_FOLLOW_LOCATION, 0L);
	curl->set(handle, CURL_NO_SIGNAL, 1L);
	curl->set(handle, CURL_TIMEOUT_MS, (long)(post->timeout_ns / NS_PER_MS) + 1);
	curl->set(handle, CURL_USER_AGENT, "prof");
	curl->set(handle, CURL_HEADERS, headers);
	curl->set(handle, CURL_POST, 1L);
	curl->set(handle, CURL_POST_FIELD_BYTES, (int64_t)post->len);
	curl->set(handle, CURL_POST_FIELDS, post->body);
	curl->set(handle, CURL_WRITE_FUNCTION, (curl_write *)take_bytes);
	curl->set(handle, CURL_WRITE_DATA, reply);
}

static void perform(const struct curl_library *curl, curl_handle *handle, struct push_reply *reply)
{
	int error = curl->perform(handle);
	long status = 0;
	int64_t seconds = 0;

	curl->get(handle, CURL_RESPONSE_CODE, &status);
	curl->get(handle, CURL_RETRY_AFTER, &seconds);
	reply->status = (unsigned)status;
	reply->retry_after_seconds = seconds > 0 ? (uint64_t)seconds : 0;
	if (status)
		return;
	reply->is_untrusted = error == CURL_UNTRUSTED;
	reply->len = strnlen(curl->error_text(error), PUSH_REPLY_BYTES);
	memcpy(reply->text, curl->error_text(error), reply->len);
}

static void tell_reply(struct channel *channel, const struct push_reply *reply)
{
	unsigned char message[2 * sizeof(uint32_t) + sizeof(uint64_t) + PUSH_REPLY_BYTES];
	uint32_t status = reply->status, is_untrusted = reply->is_untrusted;
	unsigned char *at = message;

	at = mempcpy(at, &status, sizeof(status));
	at = mempcpy(at, &reply->retry_after_seconds, sizeof(uint64_t));
	at = mempcpy(at, &is_untrusted, sizeof(is_untrusted));
	at = mempcpy(at, reply->text, reply->len);
	sender_tell(channel, SENDER_REPLY, message, (size_t)(at - message));
}

/* With NULL for post, only checks whether libcurl can be loaded. */
static void sender_serve(const struct push_post *post, struct channel *channel)
{
	struct curl_library curl;
	curl_handle *handle = NULL;
	struct push_reply reply = {0};

	if (!curl_library_load(&curl)) {
		sender_tell(channel, SENDER_NO_LIBRARY, NULL, 0);
		return;
	}
	if (!post) {
		sender_tell(channel, SENDER_READY, NULL, 0);
		return;
	}
	handle = curl.begin();
	if (!handle)
		return;
	sender_prepare(&curl, handle, post, &reply);
	perform(&curl, handle, &reply);
	tell_reply(channel, &reply);
}

struct sender {
	const struct push_post *post;
	struct connected connected;
	struct channel *channel;
};

static int sender_run(void *user)
{
	const struct sender *sender = user;
	struct error *err = connected_enter(&sender->connected);

	if (!err)
		err = landlock_write_below(-1);
	if (err)
		sender_tell(sender->channel, SENDER_FAILED, error_text(err),
			    strlen(error_text(err)));
	else
		sender_serve(sender->post, sender->channel);
	return 0;
}

/* ---- In prof ---- */

static struct error *sender_start(const struct push_post *post, uid_t caller, struct channel **ret,
				  pid_t *pid)
{
	CLEANUP(channel_cleanup) struct channel *near = NULL, *far = NULL;
	struct sender sender = {.post = post,
				.connected = {
					.parent = getpid(),
					.caller = caller,
					.memory_bytes = MEMORY_BYTES,
					.cpu_seconds = CPU_SECONDS,
					.descriptors = DESCRIPTORS_MAX,
				}};
	struct error *err = confinement_measure(&sender.connected.present);

	if (!err)
		err = channel_pair(&near, &far);
	if (err)
		return err;
	sender.channel = far;
	sender.connected.channel = channel_fd(far);
	err = forked_child_start(FORKED_CHILD_ENDS_WITH_THREAD, sender_run, &sender, pid);
	if (!err)
		*ret = STEAL(near);
	return err;
}

static struct error *sender_await_message(struct channel *channel, const struct push_wait *wait,
					  uint64_t until_ns, struct channel_message *ret)
{
	struct pollfd ready = {.fd = channel_fd(channel), .events = POLLIN};

	for (;;) {
		poll(&ready, 1, SENDER_TICK_MS);
		switch (channel_receive(channel, ret)) {
		case CHANNEL_DONE:
			return NULL;
		case CHANNEL_BUSY:
			break;
		default:
			return error_new("the upload process has exited");
		}
		if (wait && wait->is_over(wait->user))
			return error_errno(ECANCELED, "send");
		if (clock_now_ns() > until_ns)
			return error_new("the upload process has timed out");
	}
}

static struct error *sender_take_reply(const struct channel_message *message,
				       struct push_reply *ret)
{
	struct bytes from = bytes_of(message->bytes, message->len);

	*ret = (struct push_reply){.status = bytes_u32(&from),
				   .retry_after_seconds = bytes_u64(&from),
				   .is_untrusted = bytes_u32(&from)};
	ret->len = bytes_left(&from);
	if (!bytes_ok(&from) || ret->len > PUSH_REPLY_BYTES)
		return error_new("the upload process sent an invalid reply");
	if (ret->len)
		memcpy(ret->text, from.at, ret->len);
	return NULL;
}

static struct error *sender_take(const struct channel_message *message, struct push_reply *ret)
{
	switch (message->kind) {
	case SENDER_REPLY:
		return sender_take_reply(message, ret);
	case SENDER_READY:
		return NULL;
	case SENDER_NO_LIBRARY:
		return error_new("%s", curl_library_lack);
	case SENDER_FAILED:
		return error_new("confine the upload process: %.*s", (int)message->len,
				 (const char *)message->bytes);
	default:
		return error_new("the upload process sent an invalid reply");
	}
}

static struct error *sender_ask(const struct push_post *post, uid_t caller, uint64_t timeout_ns,
				const struct push_wait *wait, struct push_reply *ret)
{
	CLEANUP(channel_cleanup) struct channel *channel = NULL;
	struct channel_message message;
	pid_t pid;
	struct error *err = sender_start(post, caller, &channel, &pid);

	if (err)
		return err;
	err = sender_await_message(channel, wait, clock_now_ns() + timeout_ns + GRACE_NS, &message);
	if (!err)
		err = sender_take(&message, ret);
	forked_child_kill(pid);
	return err;
}

struct error *push_send(const struct push_post *post, const struct push_wait *wait,
			struct push_reply *ret)
{
	return sender_ask(post, post->caller, post->timeout_ns, wait, ret);
}

struct error *push_check_library(uid_t caller)
{
	struct push_reply none;

	return sender_ask(NULL, caller, 10 * NS_PER_SECOND, NULL, &none);
}
