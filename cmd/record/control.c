#include "cmd/record/control.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/trusted_user.h"
#include "cmd/ui/message.h"
#include "output/place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum size of an answer; less than the capacity of a pipe. */
enum { REASON_MAX = 1024 };

struct control {
	int words_fd, ack_fd; /* ack_fd is -1 without acknowledgements */
	bool owns_fds;
	char *address;
	char *folder, *made[2]; /* with `auto`, otherwise NULL */
	struct control_words *words;

	struct loop *loop;
	/* NULL while a command is carried out, or if the other end is closed */
	struct loop_watch *watch;
	control_handler *handler;
	void *user;
	bool is_busy;	/* a command has not been answered yet */
	bool is_closed; /* the other end is closed */
	bool has_failed_to_answer;
};

/* ---- Opening ---- */

static struct error *check_fifo(const char *path, const struct output_place *place)
{
	struct stat st;

	if (place->special < 0 || fstat(place->special, &st) < 0 || !S_ISFIFO(st.st_mode))
		return error_hint(error_new("%s is not a FIFO", path), "make one with mkfifo(1)");
	if (is_writable_by_others(&st))
		return error_hint(error_new("other users can write into the FIFO %s", path),
				  "chmod go-w %s", path);
	return NULL;
}

/* Opens for reading and writing, so that the channel does not end when the
 * other end is closed. */
static struct error *control_open_checked(const char *path, const struct output_place *place,
					  int *ret)
{
	CLEANUP(free_ptr) char *link = xasprintf("/proc/self/fd/%d", place->special);

	*ret = open(link, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *ret < 0 ? error_errno(errno, "open %s", path) : NULL;
}

/* *ret_path: the absolute path. */
static struct error *open_fifo(const char *path, int *ret, char **ret_path)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	struct stat st;
	struct error *err;

	if (stat(path, &st) < 0 && errno == ENOENT)
		return error_hint(error_errno(ENOENT, "open the FIFO %s", path),
				  "make it with mkfifo(1)");
	err = output_place_find(path, &place);
	if (!err)
		err = check_fifo(path, &place);
	if (!err)
		err = control_open_checked(path, &place, ret);
	if (!err)
		*ret_path = realpath(path, NULL);
	return err;
}

/* Splits "A,B" or "A". Returns false if A is empty. */
static bool control_split(const char *text, char **first, char **second)
{
	const char *comma = strchr(text, ',');

	*first = comma ? xstrndup(text, (size_t)(comma - text)) : xstrdup(text);
	*second = comma && comma[1] ? xstrdup(comma + 1) : NULL;
	return **first;
}

static struct error *open_fifos(struct control *control, const char *words, const char *ack)
{
	CLEANUP(free_ptr) char *words_path = NULL;
	CLEANUP(free_ptr) char *ack_path = NULL;
	struct error *err;

	control->owns_fds = true;
	err = open_fifo(words, &control->words_fd, &words_path);
	if (!err && ack)
		err = open_fifo(ack, &control->ack_fd, &ack_path);
	if (!err && words_path)
		control->address = ack_path ? xasprintf("fifo:%s,%s", words_path, ack_path)
					    : xasprintf("fifo:%s", words_path);
	return err;
}

static bool control_is_number(const char *text)
{
	return *text && strlen(text) < 8 && !text[strspn(text, "0123456789")];
}

static struct error *use_descriptor(const char *text, int forbidden, int *ret)
{
	int fd = atoi(text), flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0)
		return error_errno(errno, "--control: descriptor %d", fd);
	if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return error_hint(error_new("--control: descriptor %d is of a file", fd),
				  "give it a FIFO, a pipe or a socket");
	if ((flags & O_ACCMODE) == forbidden)
		return error_new("--control: descriptor %d is not open for %s", fd,
				 forbidden == O_WRONLY ? "reading" : "writing");
	*ret = fd;
	return NULL;
}

static struct error *use_descriptors(struct control *control, const char *words, const char *ack)
{
	struct error *err = use_descriptor(words, O_WRONLY, &control->words_fd);

	if (!err && ack)
		err = use_descriptor(ack, O_RDONLY, &control->ack_fd);
	return err;
}

static const char *temporary_folder(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");

	if (runtime && *runtime == '/' && access(runtime, W_OK | X_OK) == 0)
		return runtime;
	return temporary && *temporary ? temporary : "/tmp";
}

static struct error *make_fifos(struct control *control)
{
	static const char *const names[] = {"ctl", "ack"};
	char *folder = xasprintf("%s/prof-XXXXXX", temporary_folder());

	if (!mkdtemp(folder)) {
		free(folder);
		return error_errno(errno, "make a directory for FIFOs in %s", temporary_folder());
	}
	control->folder = folder;
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		control->made[i] = xasprintf("%s/%s", folder, names[i]);
		if (mkfifo(control->made[i], 0600) < 0)
			return error_errno(errno, "make the FIFO %s", control->made[i]);
	}
	return open_fifos(control, control->made[0], control->made[1]);
}

static struct error *control_open_as(struct control *control, const char *how)
{
	CLEANUP(free_ptr) char *words = NULL;
	CLEANUP(free_ptr) char *ack = NULL;

	if (!strcmp(how, "auto"))
		return make_fifos(control);
	if (text_begins(how, "fifo:") && control_split(how + 5, &words, &ack))
		return open_fifos(control, words, ack);
	if (text_begins(how, "fd:") && control_split(how + 3, &words, &ack) &&
	    control_is_number(words) && (!ack || control_is_number(ack)))
		return use_descriptors(control, words, ack);
	return error_usage(
		error_new("--control: \"%s\" is not fifo:CTL[,ACK], fd:N[,M] or auto", how));
}

struct error *control_open(const char *how, struct control **ret)
{
	struct control *control = xcalloc(1, sizeof(*control));
	struct error *err;

	control->words_fd = control->ack_fd = -1;
	control->words = control_words_new();
	err = control_open_as(control, how);
	if (err)
		control_close(control);
	else
		*ret = control;
	return err;
}

static void remove_made(struct control *control)
{
	for (unsigned i = 0; i < ARRAY_SIZE(control->made); i++) {
		if (control->made[i])
			unlink(control->made[i]);
		free(control->made[i]);
	}
	if (control->folder)
		rmdir(control->folder);
	free(control->folder);
}

void control_close(struct control *control)
{
	if (!control)
		return;
	loop_unwatch(control->loop, control->watch);
	if (control->owns_fds) {
		close_fd(&control->words_fd);
		close_fd(&control->ack_fd);
	}
	remove_made(control);
	control_words_free(control->words);
	free(control->address);
	free(control);
}

const char *control_address(const struct control *control)
{
	return control->address;
}

/* ---- Answers ---- */

/* Returns true if a write does not block. An inherited descriptor may block,
 * and other processes may rely on that. */
static bool takes_at_once(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	return poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLOUT;
}

static void write_answer(struct control *control, const char *text)
{
	/* The NUL is included, as in perf. */
	size_t len = strlen(text) + 1;
	ssize_t written;

	if (control->ack_fd < 0)
		return;
	errno = EAGAIN;
	written = takes_at_once(control->ack_fd) ? write(control->ack_fd, text, len) : -1;
	if (written == (ssize_t)len || control->has_failed_to_answer)
		return;
	control->has_failed_to_answer = true;
	if (written >= 0 || errno == EAGAIN)
		message("--control: answers are not read; those that do not fit are dropped");
	else
		message_error(error_errno(errno, "--control: answer"));
}

void control_answer(struct control *control, const struct error *err)
{
	CLEANUP(free_ptr) char *reason = err ? printable(error_text(err)) : NULL;
	CLEANUP(free_ptr)
	char *text = err ? xasprintf("nack %.*s\n", REASON_MAX, reason) : xstrdup("ack\n");

	write_answer(control, text);
	control->is_busy = false;
}

/* ---- Commands ---- */

static void control_refuse(struct control *control, const struct control_command *command)
{
	struct error *err = error_new("%s", command->argument);

	control_answer(control, err);
	message_error(error_wrap(err, "--control"));
}

/* Carries out the received commands, up to one that takes time. */
static void control_carry_out(struct control *control)
{
	struct control_command command;

	while (!control->is_busy && control_words_next(control->words, &command)) {
		control->is_busy = true;
		if (command.word == CONTROL_WRONG)
			control_refuse(control, &command);
		else
			control->handler(control->user, &command);
	}
}

/* The end of the input completes the last command. */
static void close_words(struct control *control)
{
	loop_unwatch(control->loop, STEAL(control->watch));
	control->is_closed = true;
	control_words_put(control->words, "\n", 1);
}

static void on_words(void *user)
{
	struct control *control = user;
	char bytes[4096];
	ssize_t len = read(control->words_fd, bytes, sizeof(bytes));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0)
		control_words_put(control->words, bytes, (size_t)len);
	else
		close_words(control);
	control_carry_out(control);
	/* Nothing is read between a command and its answer. */
	if (control->is_busy)
		loop_unwatch(control->loop, STEAL(control->watch));
}

bool control_take_rest(struct control *control)
{
	struct pollfd words = {.fd = control->words_fd, .events = POLLIN};

	if (!control->handler || control->is_closed || poll(&words, 1, 0) != 1)
		return false;
	on_words(control);
	return true;
}

static struct error *control_watch_words(struct control *control)
{
	return loop_watch(control->loop, control->words_fd, on_words, control, &control->watch);
}

void control_go_on(struct control *control)
{
	CLEANUP(error_cleanup) struct error *err = NULL;

	control->is_busy = false;
	control_carry_out(control);
	if (!control->is_busy && !control->is_closed && !control->watch)
		err = control_watch_words(control);
	if (err)
		message("--control: %s", error_text(err));
}

struct error *control_watch(struct control *control, struct loop *loop, control_handler *handler,
			    void *user)
{
	control->loop = loop;
	control->handler = handler;
	control->user = user;
	return error_wrap(control_watch_words(control), "--control");
}
