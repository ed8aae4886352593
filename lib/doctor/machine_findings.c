#include "doctor/machine_findings.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/humanize.h"
#include "record/config.h"

#include <inttypes.h>
#include <string.h>

enum {
	/*
	 * Ring size per CPU. A smaller ring loses samples immediately if stacks
	 * are copied (perf/ring_set.c).
	 */
	GOOD_RING_KIB = 2048,
	/*
	 * One event that samples and one of the side band, per thread and CPU.
	 */
	FILES_PER_THREAD_AND_CPU = 2,
	GOOD_THREADS = 1000,
	/* The highest kernel.perf_event_paranoid at which users may sample. */
	PARANOID_USER = 2,
};

/* Converts an error to a finding: its text, and its hint as the command. */
static struct finding of_refusal(const char *subject, struct error *err)
{
	const char *hint = error_hint_text(err);
	struct finding finding = {
		.subject = subject,
		.state = FINDING_MISSING,
		.what = xstrdup(error_text(err)),
		.command = hint ? xstrdup(hint) : NULL,
	};

	error_free(err);
	return finding;
}

/* Takes the line that root runs. */
static void set_fix(struct finding *finding, char *fix)
{
	finding->fix = fix;
	finding->command = xasprintf("sudo %s", fix);
}

static struct finding sampling(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "sampling"};
	int paranoid = facts->around.paranoid;

	if (facts->may.user) {
		finding = of_refusal(
			"sampling", refusal_explain_in(&(struct refusal){.number = facts->may.user},
						       &facts->around));
		if (facts->inside_hz)
			finding.state = FINDING_LIMITED;
		if (!facts->around.privileged && paranoid > PARANOID_USER)
			finding.fix = xstrdup("sysctl kernel.perf_event_paranoid=1");
		finding.cost =
			facts->inside_hz
				? xasprintf("prof records only what it starts, by a library in the "
					    "program: CPU time at up to %" PRIu32
					    " Hz, and memory (--alloc); no -p, -a, -e or --wall",
					    facts->inside_hz)
				: xstrdup("prof cannot record");
	} else if (facts->may.kernel) {
		finding.state = FINDING_LIMITED;
		finding.what = xasprintf("user space of your own processes only: "
					 "kernel.perf_event_paranoid is %d",
					 paranoid);
		finding.cost = xstrdup("no kernel functions; no -a, --uid or other users' "
				       "processes");
		set_fix(&finding, xstrdup("sysctl kernel.perf_event_paranoid=1"));
	} else if (facts->may.cpus) {
		finding.state = FINDING_LIMITED;
		finding.what = xasprintf("your own processes, with the kernel: "
					 "kernel.perf_event_paranoid is %d",
					 paranoid);
		finding.cost = xstrdup("no -a, --uid or other users' processes");
		set_fix(&finding, xstrdup("sysctl kernel.perf_event_paranoid=0"));
	} else {
		finding.what = xasprintf("all processes and the kernel%s",
					 facts->around.privileged ? ", as a privileged user" : "");
	}
	return finding;
}

static struct finding counters(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "hardware counters"};

	if (facts->no_cycles) {
		finding.state = FINDING_LIMITED;
		finding.what = xasprintf("none are used (%s)", facts->no_cycles);
		finding.cost = xstrdup("prof samples cpu-clock: no cycles, instructions or cache "
				       "misses, and no code that runs with interrupts disabled");
	} else {
		finding.what = xstrdup("cycles are counted");
	}
	return finding;
}

static struct finding kernel_symbols(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "kernel symbols"};

	if (facts->sees_kernel_symbols) {
		finding.what = xstrdup("/proc/kallsyms has addresses");
	} else if (facts->may.kernel) {
		finding.what = xstrdup("hidden, and not needed as long as the kernel is not "
				       "sampled");
	} else {
		finding.state = FINDING_LIMITED;
		finding.what = facts->kptr_restrict == SETTING_UNKNOWN
				       ? xstrdup("/proc/kallsyms has no addresses")
				       : xasprintf("/proc/kallsyms hides its addresses: "
						   "kernel.kptr_restrict is %d",
						   facts->kptr_restrict);
		finding.cost = xstrdup("kernel functions are shown as addresses");
		if (facts->kptr_restrict != SETTING_UNKNOWN)
			set_fix(&finding, xasprintf("sysctl kernel.kptr_restrict=%d",
						    facts->is_root ? 1 : 0));
	}
	return finding;
}

/* Returns what the kernel lets a user lock for the rings of each CPU. */
static uint64_t ring_kib(const struct machine_facts *facts)
{
	uint64_t kib = facts->mlock_kib > 0 ? (uint64_t)facts->mlock_kib : 0;

	return kib + facts->memlock_bytes / 1024 / (facts->cpus ? facts->cpus : 1);
}

static struct finding ring_memory(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "ring buffers"};
	bool unlimited = facts->may_lock || facts->memlock_bytes == UINT64_MAX ||
			 facts->around.paranoid == -1;

	if (unlimited) {
		finding.what = xstrdup("as large as needed");
	} else {
		finding.what = xasprintf("%" PRIu64 " KiB per CPU (kernel.perf_event_mlock_kb is "
					 "%d, ulimit -l %" PRIu64 ")",
					 ring_kib(facts), facts->mlock_kib,
					 facts->memlock_bytes / 1024);
		if (ring_kib(facts) < GOOD_RING_KIB) {
			finding.state = FINDING_LIMITED;
			finding.cost = xstrdup("smaller copies of stacks, and samples are lost "
					       "sooner on busy machines");
			set_fix(&finding, xstrdup("sysctl kernel.perf_event_mlock_kb=8192"));
		}
	}
	return finding;
}

static struct finding open_files(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "open files"};
	uint64_t per_thread = FILES_PER_THREAD_AND_CPU * (facts->cpus ? facts->cpus : 1);
	uint64_t threads = facts->files / per_thread;

	if (facts->files == UINT64_MAX || facts->is_root) {
		finding.what = xstrdup("as many as needed");
	} else {
		finding.what = xasprintf("at most %" PRIu64 ": enough to attach to %" PRIu64
					 " threads",
					 facts->files, threads);
		if (threads < GOOD_THREADS) {
			finding.state = FINDING_LIMITED;
			finding.cost = xstrdup("-p fails for processes with more threads");
			finding.command = xstrdup("sudo prlimit --pid $$ --nofile=1048576");
		}
	}
	return finding;
}

static struct finding sample_rate(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "sample rate"};

	finding.what = xasprintf("up to %d Hz, and up to %d %% of a CPU's time", facts->max_rate_hz,
				 facts->cpu_percent);
	if (facts->max_rate_hz == SETTING_UNKNOWN) {
		free(finding.what);
		finding.what = xstrdup("unknown");
	} else if (facts->max_rate_hz < RECORD_FREQUENCY_HZ) {
		finding.state = FINDING_LIMITED;
		finding.cost = xasprintf("prof samples at %d instead of %d Hz (the kernel lowers "
					 "the limit when samples take long)",
					 facts->max_rate_hz, RECORD_FREQUENCY_HZ);
		set_fix(&finding, xstrdup("sysctl kernel.perf_event_max_sample_rate=100000"));
	}
	return finding;
}

/*
 * Values of kernel.yama.ptrace_scope. From SCOPE_ROOT on, even children must
 * not be traced.
 */
enum { SCOPE_DESCENDANTS = 1, SCOPE_ROOT = 2, SCOPE_NONE = 3 };

static struct finding waiting(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "waiting threads"};
	int scope = facts->ptrace_scope;

	if (scope < SCOPE_DESCENDANTS || (facts->may_trace && scope < SCOPE_NONE)) {
		finding.what = xasprintf("--off-cpu and --await can read the stacks of %s",
					 facts->may_trace ? "all processes" : "your own processes");
		return finding;
	}
	finding.state = FINDING_LIMITED;
	finding.what = xasprintf("kernel.yama.ptrace_scope is %d", scope);
	finding.cost = xstrdup(scope == SCOPE_DESCENDANTS
				       ? "--off-cpu and --await work for programs that prof "
					 "starts, but not with -p PID"
				       : "--off-cpu and --await are not permitted");
	if (scope < SCOPE_NONE)
		set_fix(&finding, xstrdup("sysctl kernel.yama.ptrace_scope=0"));
	else
		finding.command = xstrdup("reboot; the setting cannot be lowered otherwise");
	return finding;
}

static struct finding memory(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "memory"};

	if (facts->inside_hz) {
		finding.what = xstrdup("--alloc records what prof starts, and processes that prof "
				       "inside has started");
	} else {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup("libprof-inside.so is not found");
		finding.cost = xstrdup("no --alloc, no prof inside");
		finding.command = xstrdup("install prof with its library (meson install)");
	}
	return finding;
}

static struct finding tracepoints(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "tracepoints"};

	if (facts->reads_tracefs && facts->has_tracefs) {
		finding.what = xstrdup("tracefs is mounted and readable");
		return finding;
	}
	finding.state = FINDING_LIMITED;
	finding.cost = xstrdup("no -e SUBSYSTEM:EVENT, no --wakers");
	if (!facts->has_tracefs) {
		finding.what = xstrdup("tracefs is not mounted");
		set_fix(&finding, xstrdup("mount -t tracefs nodev /sys/kernel/tracing"));
	} else {
		finding.what = xstrdup("only root may read tracefs");
		finding.command = xstrdup("sudo prof record …");
	}
	return finding;
}

static struct finding pid_filter(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "BPF"};

	if (facts->filters_pids) {
		finding.what = xstrdup("the kernel drops samples of other processes");
	} else if (facts->may.cpus) {
		finding.what = xstrdup("not needed as long as only your own processes are sampled");
	} else {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup("not permitted, or not in this kernel");
		finding.cost = xstrdup("recording a command while other processes are busy costs "
				       "more CPU time");
		if (!facts->is_root)
			finding.command = xstrdup("sudo prof record …");
	}
	return finding;
}

static struct finding containment(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "container"};

	if (facts->in_container) {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup("prof runs in a container");
		finding.cost = xstrdup("only processes of the container have symbols");
		finding.command = xstrdup("run prof on the host: prof record -p PID");
	} else {
		finding.what = xstrdup("prof does not run in a container");
	}
	return finding;
}

/*
 * Security modules matter if they refuse something. The finding `sampling`
 * reports what is refused.
 */
static struct finding security(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "security modules"};
	const char *lockdown = facts->lockdown;

	if (!strcmp(lockdown, "confidentiality")) {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup("the kernel is locked down for confidentiality");
		finding.cost = xstrdup("perf events of the kernel and BPF are refused");
		finding.command = xstrdup("boot with lockdown=integrity");
	} else if (facts->profile[0]) {
		finding.state = facts->may.user ? FINDING_LIMITED : FINDING_OK;
		finding.what = xasprintf("AppArmor restricts prof with the profile %s",
					 facts->profile);
	} else if (facts->enforces_selinux) {
		finding.state = facts->may.user ? FINDING_LIMITED : FINDING_OK;
		finding.what = xstrdup("SELinux is enforcing");
		if (facts->may.user)
			finding.command = xstrdup("sudo ausearch -m avc -c prof");
	} else {
		finding.what = xstrdup("no security module restricts prof");
	}
	return finding;
}

char *debuginfod_command(const struct distribution *distribution)
{
	return xasprintf("export DEBUGINFOD_URLS=%s", distribution->debuginfod);
}

static struct finding debug_information(const struct machine_facts *facts)
{
	struct finding finding = {.subject = "debug information"};
	const char *urls = facts->debuginfod;

	finding.what = xasprintf(
		"%s/usr/lib/debug; DEBUGINFOD_URLS is %s%s",
		facts->has_debug_files ? "files in " : "no files in ", urls[0] ? urls : "not set",
		urls[0] && !facts->has_libdebuginfod ? ", but prof cannot load libdebuginfod" : "");
	if (urls[0] && facts->has_libdebuginfod)
		return finding;
	finding.state = FINDING_LIMITED;
	finding.cost = xstrdup("system libraries without debug packages have few symbols and no "
			       "lines");
	finding.command = urls[0] ? distribution_install_debuginfod(&facts->distribution)
				  : debuginfod_command(&facts->distribution);
	/* A login shell reads the file. */
	if (!urls[0] && !facts->has_debuginfod_profile)
		finding.fix = xasprintf("echo 'export DEBUGINFOD_URLS=\"${DEBUGINFOD_URLS:-%s}\"' "
					">" DEBUGINFOD_PROFILE,
					facts->distribution.debuginfod);
	return finding;
}

void machine_findings(const struct machine_facts *facts, struct findings *ret)
{
	static struct finding (*const subjects[])(const struct machine_facts *facts) = {
		sampling, kernel_symbols, ring_memory, sample_rate,	  waiting,
		memory,	  open_files,	  tracepoints, debug_information, containment,
		security, counters,	  pid_filter,
	};

	*ret = (struct findings){0};
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		struct finding finding = subjects[i](facts);

		findings_add(ret, &finding);
	}
	findings_sort(ret);
}
