#include "sandbox/confinement.h"

#include "base/alloc.h"
#include "sandbox/landlock.h"
#include "sandbox/privileges.h"
#include "sandbox/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* "nogroup". A group whose number is that of the user may have privileges. */
enum { NO_GROUP = 65534 };

/* A module needs one at a time per thread. The limit is far below what would
 * starve other processes. */
enum { DESCRIPTORS_MAX = 256 };

/* Total of its user. No other limit counts the kernel's memory of a thread, 26
 * KB. */
enum { THREADS_MAX = 16384 };

/* Stack of the main thread, with the usual size; other stacks count as data. */
enum { STACK_BYTES = 8 << 20 };

/*
 * Address space for mapped files, in addition to what is mapped already. It
 * exceeds any debug information, and bounds page tables (1/512) to 128 MiB.
 */
#define MAPPED_BYTES (UINT64_C(64) << 30)

/* Resets handlers of the parent, except the one that makes truncated files read
 * as zeros. */
static void reset_signals(void)
{
	static const int own_faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU};
	struct sigaction action;
	sigset_t set;

	for (int number = 1; number < NSIG; number++)
		if (number != SIGBUS && sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
			signal(number, SIG_DFL);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(own_faults); i++)
		sigaddset(&set, own_faults[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Assumed in a container without /proc: more than prof uses for a small
 * recording. */
enum { DATA_BYTES = 256 << 20 };

struct error *confinement_measure(struct confinement_memory *ret)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/self/statm", "re");
	uint64_t page = (uint64_t)getpagesize(), mapped, data;

	*ret = (struct confinement_memory){.mapped_bytes = MAPPED_BYTES, .data_bytes = DATA_BYTES};
	if (!file && errno == ENOENT)
		return NULL;
	if (!file)
		return error_errno(errno, "open /proc/self/statm");
	if (fscanf(file, "%" SCNu64 " %*u %*u %*u %*u %" SCNu64, &mapped, &data) != 2)
		return error_new("/proc/self/statm has no sizes");
	*ret = (struct confinement_memory){.mapped_bytes = mapped * page,
					   .data_bytes = data * page};
	return NULL;
}

#define LIMIT(resource, bound) privileges_limit(resource, #resource, bound, bound)

static struct error *confinement_set_limits(const struct confinement *confinement)
{
	uint64_t data = confinement->present.data_bytes + confinement->memory_bytes;
	uint64_t mapped = confinement->present.mapped_bytes + confinement->memory_bytes +
			  MAPPED_BYTES;
	struct error *err = LIMIT(RLIMIT_DATA, data);

	if (!err)
		err = LIMIT(RLIMIT_AS, mapped);
	if (!err)
		err = LIMIT(RLIMIT_STACK, STACK_BYTES);
	if (!err)
		err = LIMIT(RLIMIT_CORE, 0);
	if (!err && !SANITIZED)
		err = LIMIT(RLIMIT_FSIZE, 0);
	if (!err)
		err = LIMIT(RLIMIT_NOFILE, DESCRIPTORS_MAX);
	/* SIGXCPU identifies the reason. SIGKILL, a second later, cannot be
	 * ignored. */
	if (!err)
		err = privileges_limit(RLIMIT_CPU, "RLIMIT_CPU", confinement->cpu_seconds,
				       confinement->cpu_seconds + UINT64_C(1));
	if (!err && geteuid() == 0)
		err = LIMIT(RLIMIT_NPROC, THREADS_MAX);
	return err;
}

struct error *confinement_enter(const struct confinement *confinement)
{
	struct error *err;

	reset_signals();
	/* A sanitizer needs the standard streams for its reports. */
	privileges_close_others(SANITIZED ? STDERR_FILENO + 1 : 0, (unsigned)confinement->fd);
	err = confinement_set_limits(confinement);
	if (!err)
		err = privileges_drop_user(confinement->uid, NO_GROUP);
	if (!err)
		err = privileges_drop_capabilities();
	if (!err)
		err = privileges_set_attributes(confinement->parent);
	if (!err)
		err = landlock_allow_nothing();
	if (!err)
		err = syscall_filter_install();
	return err;
}
