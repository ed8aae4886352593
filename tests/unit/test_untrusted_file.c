#include "base/untrusted_file.h"

#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>

static const uid_t somebody = 54321;

/* As before Linux 5.6. */
static bool has_no_openat2;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_openat2 && has_no_openat2) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

static const char *error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} errors[] = {{EINVAL, "EINVAL"}, {ENOENT, "ENOENT"}, {ELOOP, "ELOOP"},
		      {EACCES, "EACCES"}, {EAGAIN, "EAGAIN"}, {EPERM, "EPERM"}};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].error == error)
			return errors[i].name;
	return strerror(error);
}

/* Returns the contents of the file, or the error. */
static const char *text_of(const struct untrusted_name *name)
{
	static char text[64];
	CLEANUP(close_fd) int fd = untrusted_file_open(name);
	ssize_t len;

	if (fd < 0)
		return error_name(errno);
	len = read(fd, text, sizeof(text) - 1);
	assert_true(len >= 0);
	text[len] = '\0';
	return text;
}

static const char *text_below(const char *path)
{
	return text_of(&(struct untrusted_name){.root = folder, .path = path});
}

static const char *text_for(uid_t user, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, name);

	return text_of(&(struct untrusted_name){.path = path, .user = user});
}

static void write_text(const char *name, const char *text, mode_t mode)
{
	CLEANUP(free_ptr) char *path = path_of(name);

	write_file(name, text, strlen(text));
	assert_int_equal(chmod(path, mode), 0);
}

TEST_IN_FOLDER(only_regular_files_are_opened)
{
	CLEANUP(free_ptr) char *pipe = path_of("pipe");
	CLEANUP(close_fd) int opened = -1;

	write_text("text", "regular", 0600);
	link_to("pipe", "link");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	opened = watch_opening(pipe);
	assert_string_equal(text_for(UNTRUSTED_USER_UNKNOWN, "text"), "regular");
	assert_string_equal(text_for(UNTRUSTED_USER_UNKNOWN, "pipe"), "EINVAL");
	assert_string_equal(text_for(UNTRUSTED_USER_UNKNOWN, "link"), "EINVAL");
	assert_string_equal(text_for(UNTRUSTED_USER_UNKNOWN, ""), "EINVAL");
	assert_string_equal(text_for(UNTRUSTED_USER_UNKNOWN, "missing"), "ENOENT");
	assert_string_equal(text_of(&(struct untrusted_name){.path = "/dev/null"}), "EINVAL");
	assert_false(was_opened(opened));
}

TEST_IN_FOLDER(links_do_not_lead_out_of_a_root)
{
	if (!has_openat2())
		RETURN_LACKING("openat2(2)");
	CLEANUP(free_ptr) char *outside = path_of("outside");
	CLEANUP(free_ptr) char *root = xasprintf("%s/root", folder);
	struct untrusted_name name = {.root = root};

	write_text("outside", "outside", 0600);
	write_text("root/etc/inside", "inside", 0600);
	link_to("/etc/inside", "root/absolute");
	link_to("../../../etc/inside", "root/dots");
	link_to(outside, "root/out");
	name.path = "/absolute";
	assert_string_equal(text_of(&name), "inside");
	name.path = "dots";
	assert_string_equal(text_of(&name), "inside");
	name.path = "../../etc/inside";
	assert_string_equal(text_of(&name), "inside");
	name.path = "/out";
	assert_string_equal(text_of(&name), "ENOENT");
	name.path = "../outside";
	assert_string_equal(text_of(&name), "ENOENT");
}

TEST_IN_FOLDER(links_of_proc_lead_nowhere)
{
	const struct untrusted_name name = {.root = "/", .path = "/proc/self/exe"};

	assert_string_equal(text_of(&name), "ELOOP");
}

TEST_IN_FOLDER(without_openat2_links_below_a_root_are_refused)
{
	write_text("outside", "outside", 0600);
	write_text("etc/inside", "inside", 0600);
	link_to("/etc/inside", "absolute");
	link_to("etc", "folder");
	has_no_openat2 = true;
	assert_string_equal(text_below("/etc//inside"), "inside");
	assert_string_equal(text_below("absolute"), "ELOOP");
	assert_string_equal(text_below("folder/inside"), "ELOOP");
	assert_string_equal(text_below("etc/../outside"), "ELOOP");
	assert_string_equal(text_below("etc/missing"), "ENOENT");
	has_no_openat2 = false;
}

TEST_IN_FOLDER(a_link_in_the_last_place_can_be_refused)
{
	if (!has_openat2())
		RETURN_LACKING("openat2(2)");
	struct untrusted_name name = {.root = folder, .path = "link", .must_not_be_link = true};

	write_text("text", "text", 0600);
	link_to("text", "link");
	assert_string_equal(text_of(&name), "EINVAL");
	name.path = "text";
	assert_string_equal(text_of(&name), "text");
}

TEST_IN_FOLDER(a_file_with_a_lease_is_not_waited_for)
{
	CLEANUP(free_ptr) char *path = path_of("leased");
	CLEANUP(close_fd) int holder = -1;

	write_text("leased", "text", 0600);
	holder = open(path, O_RDWR | O_CLOEXEC);
	signal(SIGIO, SIG_IGN);
	if (fcntl(holder, F_SETLEASE, F_WRLCK) != 0)
		RETURN_LACKING("a file system with leases");
	assert_string_equal(text_below("leased"), "EAGAIN");
}

static void own(const char *name, uid_t user)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, name);

	assert_int_equal(lchown(path, user, (gid_t)user), 0);
}

TEST_IN_FOLDER(a_file_is_opened_with_the_rights_of_the_responsible_user)
{
	if (!has_openat2())
		RETURN_LACKING("openat2(2)");
	if (geteuid() != 0)
		RETURN_LACKING("root");
	assert_int_equal(chmod(folder, 0755), 0);
	write_text("secret.c", "secret", 0600);
	write_text("group.c", "group", 0640);
	write_text("public.c", "public", 0644);
	write_text("private/public.c", "private", 0644);
	write_text("theirs.c", "theirs", 0600);
	own("theirs.c", somebody);
	link_to("secret.c", "link.c");
	own("link.c", somebody);
	link_to("public.c", "good.c");
	link_to("private/public.c", "past.c");
	for (int old = 0; old < 2; old++) {
		has_no_openat2 = old;
		assert_string_equal(text_for(somebody, "secret.c"), "EACCES");
		assert_string_equal(text_for(somebody, "group.c"), "EACCES");
		assert_string_equal(text_for(somebody, "private/public.c"), "EACCES");
		assert_string_equal(text_for(somebody, "link.c"), old ? "ELOOP" : "EACCES");
		assert_string_equal(text_for(somebody, "past.c"), old ? "ELOOP" : "EACCES");
		assert_string_equal(text_for(somebody, "good.c"), old ? "ELOOP" : "public");
		assert_string_equal(text_for(somebody, "public.c"), "public");
		assert_string_equal(text_for(somebody, "theirs.c"), "theirs");
	}
	has_no_openat2 = false;
	/* The thread has its own filesystem uid again. */
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(setfsgid((gid_t)-1), 0);
	assert_string_equal(text_for(0, "link.c"), "secret");
	assert_string_equal(text_for(UNTRUSTED_USER_UNKNOWN, "theirs.c"), "theirs");
}

static const char *text_by_path(const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", folder, name);

	return text_of(&(struct untrusted_name){.path = path, .distrusts_path = true});
}

/* A path of root's. */
TEST_IN_FOLDER(a_file_is_opened_with_the_rights_of_whoever_decides_where_its_path_leads)
{
	if (!has_openat2())
		RETURN_LACKING("openat2(2)");
	if (geteuid() != 0)
		RETURN_LACKING("root");
	CLEANUP(free_ptr) char *shared = path_of("shared");
	CLEANUP(free_ptr) char *alias = path_of("shared/alias");
	CLEANUP(free_ptr) char *both = path_of("both");
	CLEANUP(free_ptr) char *theirs = path_of("both/theirs");
	CLEANUP(free_ptr) char *secret = path_of("secret");

	assert_int_equal(chmod(folder, 0755), 0);
	write_text("secret", "secret", 0600);
	write_text("public", "public", 0644);
	write_text("theirs/own.c", "own", 0600);
	write_text("both/theirs/public.c", "both", 0644);
	write_text("shared/own.c", "shared", 0600);
	link_to("../secret", "theirs/secret.c");
	link_to("../public", "theirs/public.c");
	link_to("..", "theirs/up");
	link_to("theirs/secret.c", "to.c");
	link_to("secret", "own.c");
	link_to("secret", "link.c");
	link_to("/proc/self/root", "magic");
	assert_int_equal(chmod(both, 0755), 0);
	assert_int_equal(chmod(theirs, 0755), 0);
	for (unsigned i = 0; i < 5; i++) {
		static const char *const names[] = {"theirs", "theirs/own.c", "theirs/secret.c",
						    "link.c", "both/theirs"};

		own(names[i], somebody);
	}
	own("both", somebody + 1);
	assert_string_equal(text_by_path("own.c"), "secret");
	assert_string_equal(text_by_path("theirs/own.c"), "own");
	assert_string_equal(text_by_path("theirs/public.c"), "public");
	assert_string_equal(text_by_path("theirs/secret.c"), "EACCES");
	assert_string_equal(text_by_path("theirs/up/secret"), "EACCES");
	assert_string_equal(text_by_path("theirs/../secret"), "EACCES");
	assert_string_equal(text_by_path("to.c"), "EACCES");
	assert_string_equal(text_by_path("link.c"), "EACCES");
	assert_string_equal(text_by_path("both/theirs/public.c"), "both");
	assert_string_equal(text_by_path("missing"), "ENOENT");
	assert_string_equal(text_by_path("magic/etc/passwd"), "ELOOP");
	/* Other users may add files to a directory with the sticky bit, but not
	 * replace files. */
	assert_int_equal(chmod(shared, 0777), 0);
	assert_string_equal(text_by_path("shared/own.c"), "EACCES");
	assert_int_equal(chmod(shared, 01777), 0);
	assert_string_equal(text_by_path("shared/own.c"), "shared");
	assert_int_equal(link(secret, alias), 0);
	assert_string_equal(text_by_path("shared/alias"), "EACCES");
	assert_int_equal(setfsuid((uid_t)-1), 0);
}

TEST_IN_FOLDER(a_file_of_a_third_user_can_be_refused)
{
	struct untrusted_name name = {.root = folder, .path = "map", .user = somebody};

	if (geteuid() != 0)
		RETURN_LACKING("root");
	assert_int_equal(chmod(folder, 0755), 0);
	write_text("map", "map", 0644);
	name.must_be_owned = true;
	assert_string_equal(text_of(&name), "map");
	own("map", somebody);
	assert_string_equal(text_of(&name), "map");
	own("map", somebody + 1);
	assert_string_equal(text_of(&name), "EPERM");
	name.user = UNTRUSTED_USER_UNKNOWN;
	assert_string_equal(text_of(&name), "EPERM");
}
