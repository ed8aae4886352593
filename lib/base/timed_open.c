#include "base/timed_open.h"

#include "base/alloc.h"

#include <sys/stat.h>

/* The names are copies. */
struct timed_open_opening {
	struct timed_call call;
	size_t count;
	unsigned skip;
	int fd;
	size_t which;
	size_t max_bytes; /* to read; can be 0 */
	struct timed_text text;
	struct untrusted_name names[];
};

/* Accepts a file that is shorter than its size, but not one that is longer. */
static void timed_open_read_text(int fd, size_t max_bytes, struct timed_text *ret)
{
	struct stat st;
	ssize_t got = 1;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size > max_bytes)
		return;
	ret->changed = st.st_mtim;
	ret->bytes = xmalloc((size_t)st.st_size + 1);
	while (got > 0 && ret->len < (size_t)st.st_size) {
		got = read(fd, ret->bytes + ret->len, (size_t)st.st_size - ret->len);
		ret->len += got > 0 ? (size_t)got : 0;
	}
}

static void open_one(struct timed_call *call)
{
	struct timed_open_opening *opening = (struct timed_open_opening *)call;
	unsigned skip = opening->skip;

	for (size_t i = 0; i < opening->count; i++) {
		CLEANUP(close_fd) int fd = untrusted_file_open(&opening->names[i]);

		if (fd < 0 || skip-- > 0)
			continue;
		if (opening->max_bytes)
			timed_open_read_text(fd, opening->max_bytes, &opening->text);
		opening->fd = steal_fd(&fd);
		opening->which = i;
		return;
	}
}

static void timed_open_discard(struct timed_call *call)
{
	struct timed_open_opening *opening = (struct timed_open_opening *)call;

	for (size_t i = 0; i < opening->count; i++) {
		free((char *)(uintptr_t)opening->names[i].root);
		free((char *)(uintptr_t)opening->names[i].path);
	}
	free(opening->text.bytes);
	close_fd(&opening->fd);
	free(opening);
}

static struct timed_open_opening *opening_new(const struct untrusted_name *names, size_t count,
					      unsigned skip)
{
	struct timed_open_opening *opening = xcalloc(1, sizeof(*opening) + count * sizeof(*names));

	opening->call = (struct timed_call){
		.run = open_one,
		.discard = timed_open_discard,
		.place = count ? names[0].user : 0,
	};
	opening->count = count;
	opening->skip = skip;
	opening->fd = -1;
	for (size_t i = 0; i < count; i++) {
		opening->names[i] = names[i];
		opening->names[i].root = names[i].root ? xstrdup(names[i].root) : NULL;
		opening->names[i].path = xstrdup(names[i].path);
	}
	return opening;
}

int timed_open(struct timed_caller *caller, const struct untrusted_name *names, size_t count,
	       unsigned skip, size_t *which)
{
	struct timed_open_opening *opening = opening_new(names, count, skip);
	int fd;

	if (!timed_caller_run(caller, &opening->call))
		return -1;
	fd = steal_fd(&opening->fd);
	if (which)
		*which = opening->which;
	timed_open_discard(&opening->call);
	return fd;
}

bool timed_read(struct timed_caller *caller, const struct untrusted_name *name, size_t max_bytes,
		struct timed_text *ret)
{
	struct timed_open_opening *opening = opening_new(name, 1, 0);

	opening->max_bytes = max_bytes;
	if (!timed_caller_run(caller, &opening->call))
		return false;
	*ret = opening->text;
	opening->text.bytes = NULL;
	timed_open_discard(&opening->call);
	return ret->bytes;
}
