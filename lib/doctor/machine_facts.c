#include "doctor/machine_facts.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "debuginfod/library.h"
#include "inside/source.h"
#include "perf/cpus.h"
#include "perf/default_event.h"
#include "perf/pid_filter.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Reads a small file without its final newline. The text is empty if the file
 * cannot be read.
 */
static void machine_facts_read_text(const char *path, char *text, size_t room)
{
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, room - 1, file) : 0;

	text[len] = '\0';
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
}

static int read_setting(const char *path)
{
	char text[64];
	int value;

	machine_facts_read_text(path, text, sizeof(text));
	return sscanf(text, "%d", &value) == 1 ? value : SETTING_UNKNOWN;
}

static uint64_t capabilities_of(const char *status)
{
	const char *line = strstr(status, "\nCapEff:\t");
	uint64_t capabilities = 0;

	if (!line || sscanf(line, "\nCapEff:\t%" SCNx64, &capabilities) != 1)
		return 0;
	return capabilities;
}

/*
 * The inode of the initial pid namespace (include/linux/proc_ns.h:
 * PROC_PID_INIT_INO).
 */
#define FIRST_PID_NAMESPACE 0xeffffffcU

static bool in_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE;
}

static void read_rights(struct machine_facts *facts)
{
	char status[8192], users[256];
	uint64_t capabilities;
	bool maps;

	machine_facts_read_text("/proc/self/status", status, sizeof(status));
	machine_facts_read_text("/proc/self/uid_map", users, sizeof(users));
	maps = maps_users(users);
	facts->is_root = geteuid() == 0;
	if (!circumstances_from_status(status, &facts->around))
		facts->around.privileged = facts->is_root;
	facts->around.privileged &= !maps;
	facts->around.paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid");
	capabilities = maps ? 0 : capabilities_of(status);
	facts->may_trace = capabilities >> CAP_SYS_PTRACE & 1;
	facts->may_lock = capabilities >> CAP_IPC_LOCK & 1;
	facts->in_container = maps || in_pid_namespace();
}

static void read_limits(struct machine_facts *facts)
{
	struct rlimit memory, files;

	facts->memlock_bytes = facts->files = UINT64_MAX;
	if (getrlimit(RLIMIT_MEMLOCK, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY)
		facts->memlock_bytes = memory.rlim_cur;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max != RLIM_INFINITY)
		facts->files = files.rlim_max;
	facts->mlock_kib = read_setting("/proc/sys/kernel/perf_event_mlock_kb");
	facts->max_rate_hz = read_setting("/proc/sys/kernel/perf_event_max_sample_rate");
	facts->cpu_percent = read_setting("/proc/sys/kernel/perf_cpu_time_max_percent");
}

/* Hidden addresses read as 0. */
static bool sees_kernel_symbols(void)
{
	CLEANUP(close_file) FILE *symbols = fopen("/proc/kallsyms", "re");
	uint64_t address;

	for (int line = 0; symbols && line < 1000; line++)
		if (fscanf(symbols, "%" SCNx64 "%*[^\n]", &address) == 1 && address)
			return true;
	return false;
}

static void read_kernel(struct machine_facts *facts)
{
	static const char *const traced[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	facts->kptr_restrict = read_setting("/proc/sys/kernel/kptr_restrict");
	facts->sees_kernel_symbols = sees_kernel_symbols();
	facts->ptrace_scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
	for (size_t i = 0; i < ARRAY_SIZE(traced); i++) {
		CLEANUP(free_ptr) char *events = xasprintf("%s/events", traced[i]);

		facts->reads_tracefs |= access(events, R_OK | X_OK) == 0;
	}
}

/*
 * Returns whether tracefs is mounted, even if its directory is not accessible.
 */
static bool has_tracefs(void)
{
	CLEANUP(close_file) FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[4096], type[64];

	while (mounts && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*s %*s %63s", type) == 1 && !strcmp(type, "tracefs"))
			return true;
	return false;
}

/* Parses "none [integrity] confidentiality". */
static void read_lockdown(struct machine_facts *facts)
{
	char text[128];
	const char *chosen;

	machine_facts_read_text("/sys/kernel/security/lockdown", text, sizeof(text));
	chosen = strchr(text, '[');
	if (chosen)
		snprintf(facts->lockdown, sizeof(facts->lockdown), "%.*s",
			 (int)strcspn(chosen + 1, "]"), chosen + 1);
}

static void read_security(struct machine_facts *facts)
{
	facts->enforces_selinux = read_setting("/sys/fs/selinux/enforce") == 1;
	machine_facts_read_text("/proc/self/attr/apparmor/current", facts->profile,
				sizeof(facts->profile));
	if (!strcmp(facts->profile, "unconfined"))
		facts->profile[0] = '\0';
	read_lockdown(facts);
}

static void read_counters(struct machine_facts *facts)
{
	struct pmus pmus = {0};
	struct event event;

	pmus_read(NULL, &pmus);
	event_default(&pmus, &event, &facts->no_cycles);
	event_deinit(&event);
	pmus_deinit(&pmus);
}

static unsigned online_cpus(void)
{
	CLEANUP(free_ptr) unsigned *cpus = NULL;
	size_t count = 0;
	struct error *err = cpus_online(&cpus, &count);

	error_free(err);
	return err ? affinity_cpu_count() : (unsigned)count;
}

static void read_debug_files(struct machine_facts *facts)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod_library library;

	facts->has_libdebuginfod = debuginfod_library_load(&library);
	snprintf(facts->debuginfod, sizeof(facts->debuginfod), "%s", urls ? urls : "");
	facts->has_debug_files = access("/usr/lib/debug/.build-id", F_OK) == 0;
	facts->has_debuginfod_profile = access(DEBUGINFOD_PROFILE, F_OK) == 0;
	distribution_here(&facts->distribution);
}

static void read_library(struct machine_facts *facts)
{
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(error_cleanup) struct error *err = inside_library_path(&path);

	facts->inside_hz = err ? 0 : inside_highest_cpu_hz();
}

void machine_facts_read(struct machine_facts *ret)
{
	CLEANUP(pid_filter_cleanup) struct pid_filter *filter = pid_filter_new(NULL);

	*ret = (struct machine_facts){.filters_pids = filter, .cpus = online_cpus()};
	read_rights(ret);
	read_limits(ret);
	read_kernel(ret);
	ret->has_tracefs = has_tracefs();
	read_security(ret);
	read_counters(ret);
	read_debug_files(ret);
	read_library(ret);
	permissions_probe(0, &ret->may);
}
