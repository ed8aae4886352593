#include "perf/refusal.h"

#include "base/alloc.h"
#include "perf/event.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux 5.8; before, CAP_SYS_ADMIN alone. */
enum { CAPABILITY_PERFMON = 38 };

static const char *event_name(const struct refusal *refusal)
{
	return refusal->event ? refusal->event->name : "perf events";
}

static bool in_kernel_only(const struct refusal *refusal)
{
	return refusal->event && refusal->event->exclude_user;
}

static bool is_denial(int number)
{
	return number == EACCES || number == EPERM;
}

static struct error *explain_seccomp(const struct refusal *refusal)
{
	struct error *err = error_errno(
		refusal->number, "a seccomp filter (of a container, most likely) forbids sampling");

	return error_hint(err, "start the container with --cap-add PERFMON, or with --security-opt "
			       "seccomp=unconfined");
}

static struct error *explain_foreign(const struct refusal *refusal)
{
	struct error *err = error_errno(refusal->number, "process %d belongs to another user",
					(int)refusal->tid);

	return error_hint(err, "run prof as root (sudo)");
}

/* The kernel's levels: 1 refuses whole CPUs, 2 the kernel too; Debian's and Ubuntu's 3 and 4 all.
 */
static struct error *explain_paranoid(const struct refusal *refusal, int paranoid)
{
	bool everyone = refusal->tid == -1;
	struct error *err =
		error_errno(refusal->number,
			    "kernel.perf_event_paranoid is %d, which forbids sampling %s", paranoid,
			    everyone		      ? "other users' processes"
			    : in_kernel_only(refusal) ? "the kernel"
			    : paranoid > 2	      ? "without privileges"
						      : event_name(refusal));

	return error_hint(err, "sudo sysctl kernel.perf_event_paranoid=%d, or run prof as root",
			  everyone ? 0 : 1);
}

static struct error *explain_denial(const struct refusal *refusal,
				    const struct circumstances *around)
{
	int allowed_up_to = refusal->tid == -1 ? 0 : 1;

	/* The paranoid level says EACCES, a filter usually EPERM. */
	if (around->seccomp && (around->privileged || refusal->number == EPERM))
		return explain_seccomp(refusal);
	if (around->foreign_user && !around->privileged)
		return explain_foreign(refusal);
	if (!around->privileged && around->paranoid > allowed_up_to)
		return explain_paranoid(refusal, around->paranoid);
	if (around->seccomp)
		return explain_seccomp(refusal);
	return error_hint(error_errno(refusal->number, "sample %s", event_name(refusal)), "%s",
			  around->privileged ? "a security module (SELinux, AppArmor, lockdown) "
					       "forbids it: see dmesg"
					     : "run prof as root (sudo)");
}

static struct error *explain_missing(const struct refusal *refusal)
{
	struct error *err = NULL;

	if (refusal->event && refusal->event->precise) {
		err = error_errno(refusal->number, "this machine cannot sample %s precisely",
				  event_name(refusal));
		return error_hint(err, "leave out the modifier p");
	}
	if (refusal->number == ENODEV)
		err = error_errno(refusal->number, "%s cannot be sampled on CPU %u",
				  event_name(refusal), refusal->cpu);
	else
		err = error_errno(refusal->number, "this machine has no counter for %s",
				  event_name(refusal));
	return error_hint(err, "-e cpu-clock samples CPU time and needs no counter");
}

struct error *refusal_explain_in(const struct refusal *refusal, const struct circumstances *around)
{
	switch (refusal->number) {
	case EACCES:
	case EPERM:
		return explain_denial(refusal, around);
	case ENOSYS:
		if (around->seccomp)
			return explain_seccomp(refusal);
		return error_errno(ENOSYS, "this kernel is built without perf events");
	case ESRCH:
		return error_errno(ESRCH, "process %d", (int)refusal->tid);
	case EMFILE:
		return error_hint(error_errno(EMFILE, "open an event a thread and CPU"),
				  "run prof as root (sudo), who may raise the limit of "
				  "descriptors; or choose CPUs with -C, or threads with -t");
	case ENFILE:
		return error_hint(error_errno(ENFILE, "open an event a thread and CPU"),
				  "raise the system's limit: sudo sysctl fs.file-max=1000000");
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case ENXIO:
		return explain_missing(refusal);
	case EBUSY:
		return error_hint(error_errno(EBUSY, "sample %s", event_name(refusal)),
				  "another profiler holds the counter; -e cpu-clock needs none");
	default:
		return error_errno(refusal->number, "sample %s", event_name(refusal));
	}
}

bool circumstances_from_status(const char *status, struct circumstances *ret)
{
	const char *effective = strstr(status, "\nCapEff:");
	const char *seccomp = strstr(status, "\nSeccomp:");
	unsigned long long capabilities = 0;
	int mode = 0;

	if (!effective || sscanf(effective, "\nCapEff: %llx", &capabilities) != 1)
		return false;
	if (seccomp && sscanf(seccomp, "\nSeccomp: %d", &mode) != 1)
		return false;
	ret->privileged = capabilities >> CAPABILITY_PERFMON & 1 ||
			  capabilities >> CAP_SYS_ADMIN & 1;
	ret->seccomp = mode == 2;
	return true;
}

bool maps_users(const char *uid_map)
{
	unsigned inside = 0, outside = 0, count = 0;

	return sscanf(uid_map, "%u %u %u", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != UINT32_MAX);
}

/* The text of a small file of /proc; empty when it cannot be read. */
static void slurp(const char *path, char *text, size_t room)
{
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, room - 1, file) : 0;

	text[len] = '\0';
}

struct error *refusal_explain(const struct refusal *refusal)
{
	struct circumstances around = {0};
	char text[8192];
	struct stat st;

	slurp("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (sscanf(text, "%d", &around.paranoid) != 1)
		around.paranoid = 0;
	slurp("/proc/self/status", text, sizeof(text));
	if (!circumstances_from_status(text, &around))
		around.privileged = geteuid() == 0;
	slurp("/proc/self/uid_map", text, sizeof(text));
	around.privileged &= !maps_users(text);
	snprintf(text, sizeof(text), "/proc/%d", (int)refusal->tid);
	around.foreign_user = refusal->tid > 0 && is_denial(refusal->number) &&
			      stat(text, &st) == 0 && st.st_uid != geteuid();
	return refusal_explain_in(refusal, &around);
}
