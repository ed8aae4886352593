#include "serve/key_file.h"

#include "base/alloc.h"
#include "base/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_BYTES_MAX = 64 << 10 };

static struct error *check(int fd, const char *path, bool is_secret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(errno, "examine %s", path);
	if (!S_ISREG(st.st_mode))
		return error_new("%s is not a regular file", path);
	if (is_secret && st.st_mode & (S_IRWXO | S_IWGRP))
		return error_hint(
			error_new("%s is not secret: its mode is %03o", path, st.st_mode & 0777U),
			"chmod 600 %s", path);
	return NULL;
}

struct error *key_file_read(const char *path, bool is_secret, char **ret)
{
	CLEANUP(close_file) FILE *in = fopen(path, "re");
	CLEANUP(free_ptr) char *bytes = NULL;
	struct error *err;
	size_t len;
	int number;

	if (!in)
		return error_errno(errno, "open %s", path);
	err = check(fileno(in), path, is_secret);
	if (err)
		return err;
	number = read_all(in, KEY_BYTES_MAX, &bytes, &len);
	if (number)
		return error_errno(number, "read %s", path);
	if (memchr(bytes, '\0', len))
		return error_new("%s is not a text", path);
	*ret = xstrndup(bytes, len);
	return NULL;
}
