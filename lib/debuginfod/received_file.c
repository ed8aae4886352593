#include "debuginfod/received_file.h"

#include "base/alloc.h"
#include "base/timed_call.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct look {
	struct timed_call call;
	int fd;
	struct stat st;
	bool is_readable;
};

static void received_file_run(struct timed_call *call)
{
	struct look *look = (struct look *)call;
	char first;

	/* Only a regular file is read, because it cannot block forever unless
	 * its file system is unresponsive. */
	look->is_readable = fstat(look->fd, &look->st) == 0 && S_ISREG(look->st.st_mode) &&
			    pread(look->fd, &first, 1, 0) >= 0;
}

static void received_file_discard(struct timed_call *call)
{
	struct look *look = (struct look *)call;

	close(look->fd);
	free(look);
}

bool received_file_is_usable(int fd, uint64_t max_bytes, uint64_t *bytes)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	struct look *look = xcalloc(1, sizeof(*look));
	bool is_usable;

	look->call = (struct timed_call){.run = received_file_run,
					 .discard = received_file_discard};
	look->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!timed_caller_run(caller, &look->call))
		return false;
	*bytes = (uint64_t)look->st.st_size;
	is_usable = look->is_readable && *bytes <= max_bytes;
	received_file_discard(&look->call);
	return is_usable;
}
