#include "serve/profile_job.h"

#include "base/alloc.h"
#include "base/forked_child.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { WORDS_BYTES_MAX = 64 << 10 };

struct profile_job {
	char *const *words; /* arguments of the child */
	pid_t pid;
	int pidfd, profile_fd, words_fd;
	struct loop *loop;
	struct loop_watch *watch;
};

/* For the child: restores the signals that prof was started with. */
static void profile_job_set_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child. */
static int profile_job_become(void *user)
{
	const struct profile_job *job = user;
	const struct rlimit size = {PROFILE_JOB_BYTES_MAX, PROFILE_JOB_BYTES_MAX};

	setpgid(0, 0);
	profile_job_set_signals();
	if (dup2(job->profile_fd, STDOUT_FILENO) >= 0 && dup2(job->words_fd, STDERR_FILENO) >= 0 &&
	    setrlimit(RLIMIT_FSIZE, &size) == 0)
		execv("/proc/self/exe", job->words);
	return 127;
}

static void job_free(struct profile_job *job)
{
	loop_unwatch(job->loop, job->watch);
	if (job->pidfd >= 0)
		close(job->pidfd);
	if (job->profile_fd >= 0)
		close(job->profile_fd);
	if (job->words_fd >= 0)
		close(job->words_fd);
	free(job);
}

struct error *profile_job_start(char *const *words, struct loop *loop, loop_callback *done,
				void *user, struct profile_job **ret)
{
	struct profile_job *job = xmalloc(sizeof(*job));
	struct error *err;

	*job = (struct profile_job){
		.words = words,
		.pidfd = -1,
		.profile_fd = memfd_create("profile", MFD_CLOEXEC),
		.words_fd = memfd_create("words", MFD_CLOEXEC),
		.loop = loop,
	};
	err = job->profile_fd < 0 || job->words_fd < 0
		      ? error_errno(errno, "start a recording")
		      : forked_child_start(FORKED_CHILD_ENDS_WITH_THREAD, profile_job_become, job,
					   &job->pid);
	if (err) {
		job_free(job);
		return err;
	}
	job->pidfd = (int)syscall(SYS_pidfd_open, job->pid, 0);
	err = job->pidfd < 0 ? error_errno(errno, "watch a recording")
			     : loop_watch(loop, job->pidfd, done, user, &job->watch);
	if (err) {
		profile_job_cancel(job);
		return err;
	}
	*ret = job;
	return NULL;
}

static char *profile_job_read_words(int fd)
{
	char *words = xmalloc(WORDS_BYTES_MAX + 1);
	ssize_t len = pread(fd, words, WORDS_BYTES_MAX, 0);

	words[len < 0 ? 0 : len] = '\0';
	return words;
}

void profile_job_finish(struct profile_job *job, struct profile_result *ret)
{
	struct forked_child_end end = forked_child_wait(job->pid);
	struct stat st = {0};

	*ret = (struct profile_result){
		.cpu_ns = end.cpu_ns,
		.words = profile_job_read_words(job->words_fd),
	};
	ret->was_killed = WIFSIGNALED(end.status);
	ret->is_whole = WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0 &&
			fstat(job->profile_fd, &st) == 0 && st.st_size > 0;
	ret->bytes = (uint64_t)st.st_size;
	ret->fd = job->profile_fd;
	job->profile_fd = -1;
	job_free(job);
}

uint64_t profile_job_cancel(struct profile_job *job)
{
	uint64_t cpu_ns;

	if (!job)
		return 0;
	cpu_ns = forked_child_kill(job->pid).cpu_ns;
	job_free(job);
	return cpu_ns;
}

/* Parses a number with commas between its thousands and moves past it. */
static uint64_t profile_job_number_at(const char **at)
{
	uint64_t number = 0;

	for (; (**at >= '0' && **at <= '9') || **at == ','; ++*at)
		if (**at != ',')
			number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

/* Parses "1,234 samples, 0 lost" and "20 sampled allocations, 1 lost". */
static bool counts_of_line(const char *line, struct profile_counts *ret)
{
	const char *end = strchrnul(line, '\n'), *at = line, *comma;

	if (*at < '0' || *at > '9')
		return false;
	ret->samples = profile_job_number_at(&at);
	comma = strstr(at, ", ");
	if (!text_begins(at, " sample") || !comma || comma > end)
		return false;
	at = comma + 2;
	ret->lost = profile_job_number_at(&at);
	return text_begins(at, " lost");
}

struct profile_counts profile_counts_of(const char *words)
{
	static const char prefix[] = "prof: ";
	struct profile_counts counts = {0};

	for (const char *line = words; *line; line = strchrnul(line, '\n')) {
		line += *line == '\n';
		if (text_begins(line, prefix) && counts_of_line(line + strlen(prefix), &counts))
			return counts;
	}
	return (struct profile_counts){0};
}
