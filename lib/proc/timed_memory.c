#include "proc/timed_memory.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/untrusted_user.h"
#include "proc/process_links.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_NS (100 * NS_PER_MS)

/* Owns the memory that it reads into, because it can outlive its caller. */
struct timed_memory_reading {
	struct timed_call call;
	char *path;
	unsigned char *bytes;
	size_t count;
	struct memory_part parts[]; /* into `bytes` */
};

static bool timed_memory_read_part(int fd, struct memory_part *part)
{
	ssize_t got = pread(fd, part->into, part->len, (off_t)part->address);

	return got == (ssize_t)part->len;
}

static void timed_memory_run(struct timed_call *call)
{
	struct timed_memory_reading *reading = (struct timed_memory_reading *)call;
	CLEANUP(close_fd) int fd = open(reading->path, O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < reading->count; i++)
		reading->parts[i].is_read = timed_memory_read_part(fd, &reading->parts[i]);
}

static void timed_memory_discard(struct timed_call *call)
{
	struct timed_memory_reading *reading = (struct timed_memory_reading *)call;

	free(reading->path);
	free(reading->bytes);
	free(reading);
}

struct timed_caller *timed_memory_caller_new(void)
{
	struct timed_caller *caller = timed_caller_new();

	timed_caller_set_timeout(caller, TIMEOUT_NS);
	return caller;
}

uint64_t timed_memory_place(pid_t pid, uid_t user)
{
	bool is_trusted = user == 0 || user == UNTRUSTED_USER_UNKNOWN;

	return is_trusted ? UINT64_C(1) << 32 | (uint32_t)pid : user;
}

static struct timed_memory_reading *reading_new(const char *proc, pid_t pid, uid_t user,
						const struct memory_part *parts, size_t count)
{
	struct timed_memory_reading *reading = xcalloc(1,
						       sizeof(*reading) + count * sizeof(*parts));
	CLEANUP(free_ptr) char *links = process_links(proc, pid);
	size_t len = 0;

	reading->call = (struct timed_call){.run = timed_memory_run,
					    .discard = timed_memory_discard,
					    .place = timed_memory_place(pid, user)};
	reading->path = xasprintf("%s/mem", links);
	reading->count = count;
	for (size_t i = 0; i < count; i++)
		len += parts[i].len;
	reading->bytes = xmalloc(len + 1);
	len = 0;
	for (size_t i = 0; i < count; i++) {
		reading->parts[i] = parts[i];
		reading->parts[i].into = reading->bytes + len;
		reading->parts[i].is_read = false;
		len += parts[i].len;
	}
	return reading;
}

void timed_memory_read(struct timed_caller *caller, const char *proc, pid_t pid, uid_t user,
		       struct memory_part *parts, size_t count)
{
	struct timed_memory_reading *reading = reading_new(proc, pid, user, parts, count);
	bool has_run = timed_caller_run(caller, &reading->call);

	for (size_t i = 0; i < count; i++) {
		parts[i].is_read = has_run && reading->parts[i].is_read;
		if (parts[i].is_read)
			memcpy(parts[i].into, reading->parts[i].into, parts[i].len);
	}
	if (has_run)
		timed_memory_discard(&reading->call);
}
