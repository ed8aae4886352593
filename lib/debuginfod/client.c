#include "debuginfod/client.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "debuginfod/cache.h"
#include "debuginfod/library.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

/* Rate limit: libdebuginfod calls for each piece that arrives. */
#define PROGRESS_NS (50 * NS_PER_MS)

/* Maximum length of a URL: those of the user, plus the server's part, which
 * depends on the build-id. */
enum { URL_BYTES_MAX = 8192 };

struct client {
	struct debuginfod_library library;
	debuginfod_client *handle;
	struct channel *channel;
	int cache;
	uint64_t max_bytes; /* maximum size of a file */
	uint64_t said_ns;
	bool is_too_large, is_stopped; /* state of the current download */
};

size_t client_get_write(const struct download *download, unsigned char into[CLIENT_GET_BYTES_MAX])
{
	const struct build_id *id = &download->build_id;
	size_t len = download->source ? strlen(download->source) : 0;
	unsigned char *at = into;

	if (len >= PATH_MAX)
		return 0;
	*at++ = (unsigned char)id->len;
	memcpy(at, id->bytes, id->len);
	at += id->len;
	if (len)
		memcpy(at, download->source, len);
	return (size_t)(at - into) + len;
}

bool client_progress_read(struct bytes from, uint64_t *bytes, uint64_t *total_bytes)
{
	*bytes = bytes_u64(&from);
	*total_bytes = bytes_u64(&from);
	return bytes_ok(&from) && !bytes_left(&from);
}

bool client_done_read(struct bytes from, struct client_done *ret)
{
	const char *path, *url;

	*ret = (struct client_done){.error = bytes_u32(&from)};
	path = bytes_cstr(&from);
	url = bytes_cstr(&from);
	if (!path || !url || bytes_left(&from))
		return false;
	ret->path = xstrdup(path);
	ret->url = *url ? xstrdup(url) : NULL;
	return true;
}

static bool client_send_message(const struct client *client, uint32_t kind, const void *bytes,
				size_t len, int fd)
{
	return channel_send(client->channel,
			    &(struct channel_message){
				    .kind = kind, .bytes = bytes, .len = len, .fd = fd}) ==
	       CHANNEL_DONE;
}

static bool client_is_over(const struct client *client)
{
	struct pollfd other_end = {.fd = channel_fd(client->channel)};

	return poll(&other_end, 1, 0) > 0;
}

/* Until a server has answered, `so_far` counts calls, which remain below this
 * number. */
enum { CALLS_MAX = 100000 };

static int client_on_progress(debuginfod_client *handle, long so_far, long total)
{
	struct client *client = debuginfod_user_data(handle);
	uint64_t now_ns = clock_now_ns();
	bool is_bytes = total > 0 || so_far > CALLS_MAX;
	const uint64_t message[] = {is_bytes ? (uint64_t)so_far : 0,
				    total > 0 ? (uint64_t)total : 0};

	client->is_too_large = (total > 0 && (uint64_t)total > client->max_bytes) ||
			       (so_far > 0 && (uint64_t)so_far > client->max_bytes);
	client->is_stopped = client->is_too_large || client_is_over(client);
	if (client->is_stopped)
		return 1;
	if (!is_bytes || now_ns < client->said_ns + PROGRESS_NS)
		return 0;
	client->said_ns = now_ns;
	return !client_send_message(client, CLIENT_PROGRESS, message, sizeof(message), -1);
}

/* fd is a descriptor or a negative errno. */
static bool send_done(const struct client *client, int fd, const char *path)
{
	const char *url = fd >= 0 ? client->library.get_url(client->handle) : NULL;
	uint32_t error = fd < 0 ? (uint32_t)-fd : 0;
	CLEANUP(free_ptr) unsigned char *message = xmalloc(CHANNEL_BYTES);
	size_t path_bytes = path ? strnlen(path, PATH_MAX) : 0;
	size_t url_bytes = url ? strnlen(url, URL_BYTES_MAX) : 0;
	unsigned char *at = message;

	memcpy(at, &error, sizeof(error));
	at += sizeof(error);
	if (path_bytes)
		memcpy(at, path, path_bytes);
	at += path_bytes;
	*at++ = '\0';
	if (url_bytes)
		memcpy(at, url, url_bytes);
	at += url_bytes;
	*at++ = '\0';
	return client_send_message(client, CLIENT_DONE, message, (size_t)(at - message), fd);
}

/* Returns a descriptor or a negative errno. */
static int client_find(struct client *client, const struct build_id *id, const char *source,
		       char **path)
{
	const struct debuginfod_library *library = &client->library;
	int fd;

	client->is_too_large = client->is_stopped = false;
	if (*source)
		fd = library->find_source(client->handle, id->bytes, (int)id->len, source, path);
	else
		fd = library->find_debuginfo(client->handle, id->bytes, (int)id->len, path);
	if (fd < 0 && client->is_stopped)
		cache_forget_misses(client->cache, id);
	return fd < 0 && client->is_too_large ? -EFBIG : fd;
}

/* The message comes from prof and is trusted. */
static bool client_answer(struct client *client, const struct channel_message *message)
{
	struct bytes from = bytes_of(message->bytes, message->len);
	struct build_id id = {.len = bytes_u8(&from)};
	const unsigned char *bytes = bytes_take(&from, id.len);
	CLEANUP(free_ptr) char *source = NULL, *path = NULL;
	CLEANUP(close_fd) int fd = -1;

	if (!bytes || id.len > BUILD_ID_MAX)
		return false;
	memcpy(id.bytes, bytes, id.len);
	source = xstrndup(bytes_left(&from) ? (const char *)from.at : "", bytes_left(&from));
	fd = client_find(client, &id, source, &path);
	return send_done(client, fd, fd < 0 ? NULL : path);
}

/* Returns the file size limit, minus what libdebuginfod writes between two
 * calls. */
static uint64_t max_file_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	    limit.rlim_cur > DOWNLOAD_BYTES_MAX + CLIENT_MARGIN_BYTES)
		return DOWNLOAD_BYTES_MAX;
	return limit.rlim_cur > CLIENT_MARGIN_BYTES ? limit.rlim_cur - CLIENT_MARGIN_BYTES : 0;
}

/* Reports the missing library in answer to a request. If this end closed before
 * the request, prof would lose the message. */
static bool client_refuse(const struct client *client)
{
	client_send_message(client, CLIENT_NO_LIBRARY, NULL, 0, -1);
	return false;
}

void client_serve(struct channel *channel, int cache)
{
	struct client client = {.channel = channel, .cache = cache, .max_bytes = max_file_bytes()};
	struct channel_message message;

	if (debuginfod_library_load(&client.library))
		client.handle = client.library.begin();
	if (client.handle) {
		client.library.set_user_data(client.handle, &client);
		client.library.set_progress(client.handle, client_on_progress);
	}
	while (channel_receive(channel, &message) == CHANNEL_DONE && message.kind == CLIENT_GET &&
	       (client.handle ? client_answer(&client, &message) : client_refuse(&client)))
		continue;
}
