#include "base/timed_open.h"

#include "base/alloc.h"

#include <sys/stat.h>

/* The names are copies. */
struct opening {
	struct timed_call call;
	size_t count;
	unsigned skip;
	int fd;
	size_t which;
	size_t max_bytes; /* 0: nothing is read */
	struct timed_text text;
	struct foreign_name names[];
};

/* Also if it is shorter than its size says, but not if it is longer. */
static void read_text(int fd, size_t max_bytes, struct timed_text *ret)
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
	struct opening *opening = (struct opening *)call;
	unsigned skip = opening->skip;

	for (size_t i = 0; i < opening->count; i++) {
		CLEANUP(close_fd) int fd = foreign_file_open(&opening->names[i]);

		if (fd < 0 || skip-- > 0)
			continue;
		if (opening->max_bytes)
			read_text(fd, opening->max_bytes, &opening->text);
		opening->fd = steal_fd(&fd);
		opening->which = i;
		return;
	}
}

static void discard(struct timed_call *call)
{
	struct opening *opening = (struct opening *)call;

	for (size_t i = 0; i < opening->count; i++) {
		free((char *)(uintptr_t)opening->names[i].root);
		free((char *)(uintptr_t)opening->names[i].path);
	}
	free(opening->text.bytes);
	close_fd(&opening->fd);
	free(opening);
}

static struct opening *opening_new(const struct foreign_name *names, size_t count, unsigned skip)
{
	struct opening *opening = xcalloc(1, sizeof(*opening) + count * sizeof(*names));

	opening->call = (struct timed_call){
		.run = open_one,
		.discard = discard,
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

int timed_open(struct timed_caller *caller, const struct foreign_name *names, size_t count,
	       unsigned skip, size_t *which)
{
	struct opening *opening = opening_new(names, count, skip);
	int fd;

	if (!timed_caller_run(caller, &opening->call))
		return -1;
	fd = steal_fd(&opening->fd);
	if (which)
		*which = opening->which;
	discard(&opening->call);
	return fd;
}

bool timed_read(struct timed_caller *caller, const struct foreign_name *name, size_t max_bytes,
		struct timed_text *ret)
{
	struct opening *opening = opening_new(name, 1, 0);

	opening->max_bytes = max_bytes;
	if (!timed_caller_run(caller, &opening->call))
		return false;
	*ret = opening->text;
	opening->text.bytes = NULL;
	discard(&opening->call);
	return ret->bytes;
}
