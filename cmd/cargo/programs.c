#include "cmd/cargo/programs.h"

#include "base/alloc.h"
#include "cmd/cargo/message.h"
#include "cmd/cargo/project.h"
#include "cmd/program_name.h"
#include "cmd/ui/message.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* The maximum number of names to list. */
enum { NAMES_SHOWN = 8 };

/* A runner, from its connection to its answer. With `each` it is kept until its
 * process has ended. */
struct process {
	struct cargo_programs *programs;
	int fd; /* the connection, later a pidfd */
	pid_t pid;
	bool is_answered;
	struct loop_watch *watch;
	struct process *next;
};

struct cargo_programs {
	struct cargo_programs_options options;
	char *folder; /* NULL when it was removed */
	int listener;
	struct loop_watch *watch;
	struct recording *recording;
	struct process *processes;
	/* changes to the environment: "NAME" is unset, "NAME=VALUE" is set */
	struct string_list changes;
	size_t count;
	struct string_list names; /* names of programs, each once */
	struct string_list taken; /* names of profiles */
};

static char *path_in(const struct cargo_programs *programs, const char *name)
{
	return xasprintf("%s/%s", programs->folder, name);
}

/* Returns true if the runner and the socket can be in this folder: cargo splits
 * paths at spaces, and those of sockets are short. */
static bool suits(const char *folder)
{
	return folder && folder[0] == '/' && !strpbrk(folder, " \t\n") &&
	       strlen(folder) < sizeof(((struct sockaddr_un *)NULL)->sun_path) / 2;
}

static struct error *programs_make_folder(struct cargo_programs *programs)
{
	const char *chosen = getenv("TMPDIR");
	char *folder = xasprintf("%s/prof-cargo-XXXXXX", suits(chosen) ? chosen : "/tmp");
	struct error *err;

	if (mkdtemp(folder)) {
		programs->folder = folder;
		return NULL;
	}
	err = error_errno(errno, "make the directory %s", folder);
	free(folder);
	return err;
}

static struct error *link_runner(const struct cargo_programs *programs)
{
	CLEANUP(free_ptr) char *runner = path_in(programs, CARGO_RUNNER_NAME);
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return error_errno(errno, "read /proc/self/exe");
	self[len] = '\0';
	return symlink(self, runner) < 0 ? error_errno(errno, "make %s", runner) : NULL;
}

static struct error *listen_for_runners(struct cargo_programs *programs)
{
	CLEANUP(free_ptr) char *path = path_in(programs, CARGO_RUNNER_SOCKET);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	programs->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (programs->listener < 0 ||
	    bind(programs->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(programs->listener, SOMAXCONN) < 0)
		return error_errno(errno, "listen at %s", path);
	return NULL;
}

struct error *cargo_programs_new(const struct cargo_programs_options *options,
				 struct cargo_programs **ret)
{
	CLEANUP(cargo_programs_cleanup)
	struct cargo_programs *programs = xcalloc(1, sizeof(*programs));
	struct error *err;

	programs->options = *options;
	programs->listener = -1;
	err = programs_make_folder(programs);
	if (!err)
		err = link_runner(programs);
	if (!err)
		err = listen_for_runners(programs);
	if (!err)
		*ret = STEAL(programs);
	return err;
}

static void programs_end_process(struct process *process)
{
	struct process **at = &process->programs->processes;

	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	loop_unwatch(process->programs->recording->loop, process->watch);
	close_fd(&process->fd);
	free(process);
}

void cargo_programs_stop(struct cargo_programs *programs)
{
	struct process *next;

	if (programs->listener < 0)
		return;
	for (struct process *process = programs->processes; process; process = next) {
		next = process->next;
		if (!process->is_answered)
			programs_end_process(process);
	}
	if (programs->recording)
		loop_unwatch(programs->recording->loop, STEAL(programs->watch));
	close(steal_fd(&programs->listener));
}

void cargo_programs_close(struct cargo_programs *programs)
{
	static const char *const files[] = {CARGO_RUNNER_NAME, CARGO_RUNNER_SOCKET};

	cargo_programs_stop(programs);
	while (programs->processes)
		programs_end_process(programs->processes);

	for (size_t i = 0; programs->folder && i < ARRAY_SIZE(files); i++) {
		CLEANUP(free_ptr) char *path = path_in(programs, files[i]);

		unlink(path);
	}
	if (programs->folder)
		rmdir(programs->folder);
	free(STEAL(programs->folder));
}

void cargo_programs_free(struct cargo_programs *programs)
{
	if (!programs)
		return;
	cargo_programs_close(programs);
	string_list_deinit(&programs->changes);
	string_list_deinit(&programs->names);
	string_list_deinit(&programs->taken);
	free(programs);
}

void cargo_programs_set(struct cargo_programs *programs, const char *name, const char *value)
{
	const char *before = getenv(name);

	string_list_take(&programs->changes,
			 before ? xasprintf("%s=%s", name, before) : xstrdup(name));
	setenv(name, value, true);
}

void cargo_programs_run(struct cargo_programs *programs, const char *triple,
			const struct string_list *user_runner)
{
	CLEANUP(free_ptr) char *variable = cargo_runner_variable(triple);
	char *value = xasprintf("%s/%s %zu", programs->folder, CARGO_RUNNER_NAME,
				user_runner->count);

	for (size_t i = 0; i < user_runner->count; i++) {
		char *longer = xasprintf("%s %s", value, user_runner->items[i]);

		free(value);
		value = longer;
	}
	cargo_programs_set(programs, variable, value);
	free(value);
}

/* Returns the name of an output, with the program's name replacing %e. */
static char *output_of(const char *pattern, const char *name)
{
	char *path = NULL;
	size_t len;
	FILE *out = open_memstream(&path, &len);

	for (const char *at = pattern; *at; at++) {
		if (at[0] == '%' && at[1] == 'e') {
			fputs(name, out);
			at++;
		} else {
			fputc(*at, out);
			if (at[0] == '%' && at[1])
				fputc(*++at, out);
		}
	}
	fclose(out);
	return path;
}

static void add_each(struct cargo_programs *programs, const char *program,
		     const struct string_list *environment, struct string_list *answer)
{
	CLEANUP(free_ptr)
	char *name = program_profile_name(program, environment, &programs->taken);

	string_list_add(answer, "");
	for (size_t i = 0; i < programs->options.outputs->count; i++)
		string_list_take(answer, output_of(programs->options.outputs->items[i], name));
	string_list_add(answer, "");
	string_list_add_all(answer, programs->options.words);
}

static void programs_on_end(void *user)
{
	programs_end_process(user);
}

/* Watches the process from now on, instead of its connection. */
static void watch_process(struct process *process)
{
	struct loop *loop = process->programs->recording->loop;
	struct error *err;

	process->is_answered = true;
	loop_unwatch(loop, STEAL(process->watch));
	close(process->fd);
	process->fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	err = process->fd < 0
		      ? error_errno(errno, "watch process %d", process->pid)
		      : loop_watch(loop, process->fd, programs_on_end, process, &process->watch);
	if (err) {
		message_error(err);
		programs_end_process(process);
	}
}

static struct error *programs_record(struct cargo_programs *programs, pid_t pid, const char *path)
{
	struct recorder *recorder = programs->recording->recorder;
	CLEANUP(free_ptr) char *name = program_name(path);
	CLEANUP(free_ptr) char *comm = program_comm(path);

	recorder_name_command(recorder, pid, comm, name);
	return recorder_add_command(recorder, pid);
}

static void programs_add_program(struct cargo_programs *programs, const char *path)
{
	CLEANUP(free_ptr) char *name = program_name(path);

	programs->count++;
	if (!string_list_have(&programs->names, name))
		string_list_add(&programs->names, name);
}

/* Returns false if hello is malformed. It has "NAME=VALUE" strings, an empty
 * string, and the path of the program. */
static bool programs_answer(struct process *process, const struct string_list *hello)
{
	struct cargo_programs *programs = process->programs;
	CLEANUP(string_list_deinit) struct string_list environment = {0}, words = {0};
	CLEANUP(free_ptr) char *text = NULL;
	struct error *err = NULL;
	size_t i = 0, len;

	for (; i < hello->count && *hello->items[i]; i++)
		string_list_add(&environment, hello->items[i]);
	if (i + 1 >= hello->count || !*hello->items[i + 1])
		return false;
	string_list_add_all(&words, &programs->changes);
	if (!programs->count)
		programs->options.on_first(programs->options.user);
	if (programs->options.each)
		add_each(programs, hello->items[i + 1], &environment, &words);
	else
		err = programs_record(programs, process->pid, hello->items[i + 1]);
	if (err)
		message_error(error_wrap(err, "record %s", hello->items[i + 1]));
	else
		programs_add_program(programs, hello->items[i + 1]);
	text = string_list_pack(&words, &len);
	/* It cannot block, because nothing else was sent. */
	if (send(process->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		message_error(error_errno(errno, "answer the runner of %s", hello->items[i + 1]));
	return true;
}

static void on_hello(void *user)
{
	struct process *process = user;
	CLEANUP(string_list_deinit) struct string_list hello = {0};
	CLEANUP(free_ptr) char *text = xmalloc(CARGO_MESSAGE_BYTES_MAX);
	ssize_t len = recv(process->fd, text, CARGO_MESSAGE_BYTES_MAX, MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	string_list_unpack(&hello, text, len > 0 ? (size_t)len : 0);
	if (programs_answer(process, &hello) && process->programs->options.each)
		watch_process(process);
	else
		programs_end_process(process);
}

static bool programs_is_ours(int fd, pid_t *ret)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != geteuid())
		return false;
	*ret = peer.pid;
	return peer.pid > 0;
}

static void programs_on_connection(void *user)
{
	struct cargo_programs *programs = user;
	int fd = accept4(programs->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct process *process;
	struct error *err;
	pid_t pid;

	if (fd < 0)
		return;
	if (!programs_is_ours(fd, &pid)) {
		close(fd);
		return;
	}
	process = xmalloc(sizeof(*process));
	*process = (struct process){
		.programs = programs, .fd = fd, .pid = pid, .next = programs->processes};
	programs->processes = process;
	err = loop_watch(programs->recording->loop, fd, on_hello, process, &process->watch);
	if (err) {
		message_error(err);
		programs_end_process(process);
	}
}

struct error *cargo_programs_open(struct cargo_programs *programs, struct recording *recording)
{
	programs->recording = recording;
	return loop_watch(recording->loop, programs->listener, programs_on_connection, programs,
			  &programs->watch);
}

size_t cargo_programs_count(const struct cargo_programs *programs)
{
	return programs->count;
}

size_t cargo_programs_running(const struct cargo_programs *programs)
{
	size_t count = 0;

	for (const struct process *process = programs->processes; process; process = process->next)
		count++;
	return count;
}

static char *programs_text_of(const struct cargo_programs *programs)
{
	const struct string_list *names = &programs->names;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%zu process%s", programs->count, programs->count == 1 ? "" : "es");
	fprintf(out, " of %zu program%s (", names->count, names->count == 1 ? "" : "s");
	for (size_t i = 0; i < names->count && i < NAMES_SHOWN; i++)
		fprintf(out, "%s%s", i ? ", " : "", names->items[i]);
	fprintf(out, "%s)", names->count > NAMES_SHOWN ? ", …" : "");
	fclose(out);
	return text;
}

/* Prints the name of the profile if there is one process, otherwise a pattern. */
static void say_profile(const struct cargo_programs *programs, const char *output)
{
	bool is_one = programs->taken.count == 1;
	const char *name = is_one ? programs->taken.items[0] : "*";
	const char *place = strstr(output, "%e");

	if (place)
		message("%s %.*s%s%s", is_one ? "its profile is" : "their profiles are",
			(int)(place - output), output, name, place + strlen("%e"));
}

void cargo_programs_say(const struct cargo_programs *programs)
{
	CLEANUP(free_ptr) char *text = programs_text_of(programs);

	if (!programs->count)
		return;
	message("recorded %s", text);
	for (size_t i = 0; programs->options.each && i < programs->options.outputs->count; i++)
		say_profile(programs, programs->options.outputs->items[i]);
}
