#include "serve/profile_job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { WORDS_BYTES_MAX = 64 << 10 };

struct profile_job {
	pid_t pid;
	int pidfd, profile_fd, words_fd;
	struct loop *loop;
	struct loop_watch *watch;
};

/* In the child: signals are as prof's own were before it watched them. */
static void set_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void become(char *const *words, const struct profile_job *job,
					     pid_t parent)
{
	const struct rlimit size = {PROFILE_JOB_BYTES_MAX, PROFILE_JOB_BYTES_MAX};

	setpgid(0, 0);
	set_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent && dup2(job->profile_fd, STDOUT_FILENO) >= 0 &&
	    dup2(job->words_fd, STDERR_FILENO) >= 0 && setrlimit(RLIMIT_FSIZE, &size) == 0)
		execv("/proc/self/exe", words);
	_exit(127);
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

/* Waits for the end. Returns the CPU time. */
static uint64_t reap(const struct profile_job *job, int *status)
{
	struct rusage usage = {0};

	while (wait4(job->pid, status, 0, &usage) < 0 && errno == EINTR)
		;
	return clock_ns_of(usage.ru_utime) + clock_ns_of(usage.ru_stime);
}

struct error *profile_job_start(char *const *words, struct loop *loop, loop_callback *done,
				void *user, struct profile_job **ret)
{
	struct profile_job *job = xmalloc(sizeof(*job));
	pid_t parent = getpid();
	struct error *err;

	*job = (struct profile_job){
		.pidfd = -1,
		.profile_fd = memfd_create("profile", MFD_CLOEXEC),
		.words_fd = memfd_create("words", MFD_CLOEXEC),
		.loop = loop,
	};
	if (job->profile_fd >= 0 && job->words_fd >= 0)
		job->pid = fork();
	else
		job->pid = -1;
	if (job->pid < 0) {
		err = error_errno(errno, "start a recording");
		job_free(job);
		return err;
	}
	if (job->pid == 0)
		become(words, job, parent);
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

static char *read_words(int fd)
{
	char *words = xmalloc(WORDS_BYTES_MAX + 1);
	ssize_t len = pread(fd, words, WORDS_BYTES_MAX, 0);

	words[len < 0 ? 0 : len] = '\0';
	return words;
}

void profile_job_finish(struct profile_job *job, struct profile_result *ret)
{
	struct stat st = {0};
	int status;

	*ret = (struct profile_result){
		.cpu_ns = reap(job, &status),
		.words = read_words(job->words_fd),
	};
	ret->was_killed = WIFSIGNALED(status);
	ret->is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
			fstat(job->profile_fd, &st) == 0 && st.st_size > 0;
	ret->bytes = (uint64_t)st.st_size;
	ret->fd = job->profile_fd;
	job->profile_fd = -1;
	job_free(job);
}

uint64_t profile_job_cancel(struct profile_job *job)
{
	uint64_t cpu_ns;
	int status;

	if (!job)
		return 0;
	kill(job->pid, SIGKILL);
	cpu_ns = reap(job, &status);
	job_free(job);
	return cpu_ns;
}

/* A number with commas between its thousands, moved past. */
static uint64_t number_at(const char **at)
{
	uint64_t number = 0;

	for (; (**at >= '0' && **at <= '9') || **at == ','; ++*at)
		if (**at != ',')
			number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

/* "1,234 samples, 0 lost", also "20 sampled allocations, 1 lost". */
static bool counts_of_line(const char *line, struct profile_counts *ret)
{
	const char *end = strchrnul(line, '\n'), *at = line, *comma;

	if (*at < '0' || *at > '9')
		return false;
	ret->samples = number_at(&at);
	comma = strstr(at, ", ");
	if (!text_begins(at, " sample") || !comma || comma > end)
		return false;
	at = comma + 2;
	ret->lost = number_at(&at);
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
