#include "perf/refusal.h"

#include "base/alloc.h"
#include "perf/branch.h"
#include "perf/event.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Since Linux 5.8; before, only CAP_SYS_ADMIN exists. */
enum { CAPABILITY_PERFMON = 38 };

static const char *perf_refusal_event_name(const struct refusal *refusal)
{
	return refusal->event ? refusal->event->name : "perf events";
}

static bool in_kernel_only(const struct refusal *refusal)
{
	return refusal->event && refusal->event->exclude_user;
}

static bool perf_refusal_is_denial(int number)
{
	return number == EACCES || number == EPERM;
}

static bool is_lack(int number)
{
	return number == EOPNOTSUPP || number == EINVAL || number == ENODEV || number == ENOENT ||
	       number == ENXIO;
}

static struct error *explain_seccomp(const struct refusal *refusal)
{
	struct error *err = error_errno(refusal->number,
					"cannot sample %s: a seccomp filter, probably of a "
					"container, denies perf_event_open",
					perf_refusal_event_name(refusal));

	return error_hint(err, "start the container with --cap-add PERFMON, or with --security-opt "
			       "seccomp=unconfined");
}

static struct error *explain_untrusted(const struct refusal *refusal)
{
	struct error *err = error_errno(refusal->number,
					"cannot sample process %d: it belongs to another user",
					(int)refusal->tid);

	return error_hint(err, "run prof as root (sudo)");
}

/* Applies at any paranoid level, also to processes with more capabilities than
 * prof. */
static struct error *explain_guarded(const struct refusal *refusal, bool is_undumpable)
{
	const char *why = is_undumpable
				  ? "it is not dumpable (it changed its credentials, its program "
				    "may not be read, or it called prctl(PR_SET_DUMPABLE, 0))"
				  : "it has capabilities that prof lacks, or a security module "
				    "protects it";
	struct error *err = error_errno(refusal->number, "cannot sample process %d: %s",
					(int)refusal->tid, why);

	return error_hint(err, "run prof as root (sudo); kernel.perf_event_paranoid does not "
			       "matter here");
}

/* Level 1 denies whole CPUs; level 2 also denies the kernel; levels 3 and 4 of
 * Debian and Ubuntu deny everything. */
static struct error *explain_paranoid(const struct refusal *refusal, int paranoid)
{
	bool everyone = refusal->tid == -1;
	struct error *err =
		error_errno(refusal->number, "cannot sample %s: kernel.perf_event_paranoid is %d",
			    everyone		      ? "other users' processes"
			    : in_kernel_only(refusal) ? "the kernel"
						      : perf_refusal_event_name(refusal),
			    paranoid);

	return error_hint(err, "sudo sysctl kernel.perf_event_paranoid=%d, or run prof as root",
			  everyone ? 0 : 1);
}

/* The paranoid level and the owner are irrelevant, because a probe applies to a
 * file and so to all processes. */
static struct error *explain_probe_denial(const struct refusal *refusal)
{
	struct error *err = error_errno(refusal->number,
					"cannot sample %s: probes need root or "
					"CAP_PERFMON",
					perf_refusal_event_name(refusal));

	return error_hint(err, "run prof as root (sudo), or give it the capability: sudo setcap "
			       "cap_perfmon+ep prof");
}

/* ENOENT and EINVAL refer to the place, ENOTSUPP to its instruction. */
static struct error *explain_probe(const struct refusal *refusal)
{
	/* ENOTSUPP of the kernel, which user space does not define. */
	enum { NOT_SUPPORTED = 524 };

	if (refusal->number == NOT_SUPPORTED)
		return error_new("cannot sample %s: the kernel cannot probe the instruction there",
				 perf_refusal_event_name(refusal));
	return error_errno(refusal->number, "cannot sample %s", perf_refusal_event_name(refusal));
}

static struct error *explain_denial(const struct refusal *refusal,
				    const struct circumstances *around)
{
	int allowed_up_to = refusal->tid == -1 ? 0 : 1;

	/* The paranoid level causes EACCES, a filter usually EPERM. */
	if (around->seccomp && (around->privileged || refusal->number == EPERM))
		return explain_seccomp(refusal);
	if (refusal->event && refusal->event->is_probe && !around->privileged)
		return explain_probe_denial(refusal);
	if (around->other_user && !around->privileged)
		return explain_untrusted(refusal);
	if (around->guarded && !around->privileged)
		return explain_guarded(refusal, around->undumpable);
	if (!around->privileged && around->paranoid > allowed_up_to)
		return explain_paranoid(refusal, around->paranoid);
	if (around->seccomp)
		return explain_seccomp(refusal);
	return error_hint(
		error_errno(refusal->number, "cannot sample %s", perf_refusal_event_name(refusal)),
		"%s",
		around->no_proc ? "mount /proc, which shows the reason: mount -t proc proc /proc"
		: around->privileged ? "a security module (SELinux, AppArmor, lockdown) "
				       "denies it: see dmesg"
				     : "run prof as root (sudo)");
}

static struct error *perf_refusal_explain_missing(const struct refusal *refusal)
{
	struct error *err = NULL;

	if (refusal->event && refusal->event->precise && !refusal->event->may_be_less_precise) {
		err = error_errno(refusal->number, "cannot sample %s precisely on this machine",
				  perf_refusal_event_name(refusal));
		return error_hint(err, "remove the modifier p");
	}
	if (refusal->number == ENODEV)
		err = error_errno(refusal->number, "CPU %u has no counter for %s", refusal->cpu,
				  perf_refusal_event_name(refusal));
	else
		err = error_errno(refusal->number, "this machine has no counter for %s",
				  perf_refusal_event_name(refusal));
	return error_hint(err, "use -e cpu-clock: it samples CPU time and needs no counter");
}

/* Virtual CPUs and kernel events have no branch stack. */
static struct error *explain_branches(const struct refusal *refusal)
{
	bool is_call_stack = refusal->event->fields.branch_filter == branch_filter_call_stack;
	const char *why =
		event_is_software(refusal->event)
			? "only hardware events such as cycles have branch records, which "
			  "most virtual machines lack"
			: "this CPU or virtual machine has no branch records";
	struct error *err = error_errno(refusal->number, "cannot record branches with %s: %s",
					perf_refusal_event_name(refusal), why);

	return error_hint(err, "%s",
			  is_call_stack
				  ? "use --call-graph dwarf, the default, or fp: they need none"
			  : refusal->event->fields.branch_filter != branch_filter_any
				  ? "try -b, which records all branches; samples without them "
				    "need neither -b nor -j"
				  : "samples and stacks without -b need none");
}

/* EINVAL or EOPNOTSUPP from a PMU other than the CPU's usually mean that it has
 * no interrupt. */
static struct error *explain_pmu(const struct refusal *refusal)
{
	struct error *err = error_errno(refusal->number, "cannot sample %s",
					perf_refusal_event_name(refusal));
	const char *pmu = refusal->event->variants[0].pmu;

	if (refusal->event->pmu_kind == PMU_CORE)
		return error_hint(err, "the PMU %s does not take these values of its terms", pmu);
	return error_hint(err, "the PMU %s may only count: perf stat -e %s", pmu,
			  perf_refusal_event_name(refusal));
}

static bool is_of_pmu(const struct refusal *refusal)
{
	return refusal->event && refusal->event->variant_count == 1;
}

struct error *refusal_explain_in(const struct refusal *refusal, const struct circumstances *around)
{
	if (refusal->event && refusal->event->is_probe &&
	    !perf_refusal_is_denial(refusal->number) && refusal->number != EMFILE &&
	    refusal->number != ENFILE && refusal->number != ESRCH)
		return explain_probe(refusal);
	if (refusal->event && refusal->event->fields.branch_filter && is_lack(refusal->number))
		return explain_branches(refusal);
	switch (refusal->number) {
	case EACCES:
	case EPERM:
		return explain_denial(refusal, around);
	case ENOSYS:
		if (around->seccomp)
			return explain_seccomp(refusal);
		return error_errno(ENOSYS, "this kernel is built without perf events");
	case ESRCH:
		return error_errno(ESRCH, "cannot sample process %d", (int)refusal->tid);
	case EMFILE:
		return error_hint(error_errno(EMFILE, "open an event per thread and CPU"),
				  "%s; or select CPUs with -C or threads with -t, or sample all "
				  "processes with -a",
				  around->privileged ? "start prof with a higher limit of open "
						       "files (ulimit -n)"
						     : "run prof as root (sudo), which may raise "
						       "the limit of open files");
	case ENFILE:
		return error_hint(error_errno(ENFILE, "open an event per thread and CPU"),
				  "raise the system's limit: sudo sysctl fs.file-max=1000000");
	case EINVAL:
		if (is_of_pmu(refusal))
			return explain_pmu(refusal);
		return error_errno(EINVAL, "cannot sample %s", perf_refusal_event_name(refusal));
	case EOPNOTSUPP:
		if (is_of_pmu(refusal) && refusal->event->pmu_kind != PMU_CORE)
			return explain_pmu(refusal);
		return perf_refusal_explain_missing(refusal);
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return perf_refusal_explain_missing(refusal);
	case EBUSY:
		return error_hint(
			error_errno(EBUSY, "cannot sample %s", perf_refusal_event_name(refusal)),
			"another profiler uses the counter; -e cpu-clock needs none");
	default:
		return error_errno(refusal->number, "cannot sample %s",
				   perf_refusal_event_name(refusal));
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

/* Reads a small /proc file. The text is empty if the file cannot be read. */
static void perf_refusal_slurp(const char *path, char *text, size_t room)
{
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, room - 1, file) : 0;

	text[len] = '\0';
}

/* The directory belongs to the target's user even if its files belong to
 * root. */
static void examine_target(pid_t tid, struct circumstances *around)
{
	CLEANUP(free_ptr) char *directory = xasprintf("/proc/%d", (int)tid);
	CLEANUP(free_ptr) char *status = xasprintf("%s/status", directory);
	CLEANUP(free_ptr) char *exe = xasprintf("%s/exe", directory);
	struct stat of_directory, of_status;
	char target;

	if (stat(directory, &of_directory) < 0 || stat(status, &of_status) < 0)
		return;
	around->other_user = of_directory.st_uid != geteuid();
	around->undumpable = of_status.st_uid != of_directory.st_uid;
	around->guarded = around->undumpable || (readlink(exe, &target, sizeof(target)) < 0 &&
						 perf_refusal_is_denial(errno));
}

struct error *refusal_explain(const struct refusal *refusal)
{
	struct circumstances around = {0};
	char text[8192];

	perf_refusal_slurp("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (sscanf(text, "%d", &around.paranoid) != 1)
		around.paranoid = 0;
	perf_refusal_slurp("/proc/self/status", text, sizeof(text));
	around.no_proc = !*text;
	if (!circumstances_from_status(text, &around))
		around.privileged = geteuid() == 0;
	perf_refusal_slurp("/proc/self/uid_map", text, sizeof(text));
	around.privileged &= !maps_users(text);
	if (refusal->tid > 0 && perf_refusal_is_denial(refusal->number))
		examine_target(refusal->tid, &around);
	return refusal_explain_in(refusal, &around);
}
