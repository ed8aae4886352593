#include "output/secret_file.h"

#include "base/alloc.h"
#include "base/read_all.h"
#include "base/trusted_user.h"
#include "output/place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { SECRET_BYTES_MAX = 64 << 10 };

static struct error *not_regular(const char *path)
{
	return error_hint(error_new("%s is not a regular file", path),
			  "write the secret to a file: (umask 077; cat >FILE)");
}

static struct error *secret_file_check(int fd, const char *path, bool is_secret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(errno, "examine %s", path);
	if (!S_ISREG(st.st_mode))
		return not_regular(path);
	if (is_secret && !is_trusted_user(st.st_uid))
		return error_hint(
			error_new("%s belongs to another user, who can read the secret", path),
			"create a new file: users who could write to this one may have it open");
	if (is_secret && st.st_mode & (S_IRWXG | S_IRWXO))
		return error_hint(
			error_new("%s is not secret: its mode is %03o", path, st.st_mode & 0777U),
			"chmod 600 %s", path);
	return NULL;
}

static struct error *secret_file_open_checked(const char *path, bool is_secret, int *ret)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	struct error *err = output_place_find(path, &place);
	CLEANUP(close_fd) int fd = -1;

	if (err)
		return err;
	if (place.folder < 0)
		return not_regular(path);
	fd = openat(place.folder, place.name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(errno, "open %s", path);
	err = secret_file_check(fd, path, is_secret);
	if (!err)
		*ret = steal_fd(&fd);
	return err;
}

static struct error *secret_file_read_text(const char *path, bool is_secret, char **ret)
{
	CLEANUP(free_ptr) char *bytes = NULL;
	CLEANUP(close_file) FILE *in = NULL;
	int fd = -1;
	struct error *err = secret_file_open_checked(path, is_secret, &fd);
	size_t len = 0;
	int number;

	if (err)
		return err;
	in = fdopen(fd, "r");
	number = in ? read_all(in, SECRET_BYTES_MAX, &bytes, &len) : errno;
	if (number)
		return error_errno(number, "read %s", path);
	if (memchr(bytes, '\0', len))
		return error_new("%s is not a text file", path);
	*ret = xstrndup(bytes, len);
	return NULL;
}

struct error *secret_file_read(const char *path, char **ret)
{
	return secret_file_read_text(path, true, ret);
}

struct error *secret_file_read_public(const char *path, char **ret)
{
	return secret_file_read_text(path, false, ret);
}
