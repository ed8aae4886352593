#include "doctor/process_findings.h"

#include "base/alloc.h"
#include "base/known_user.h"
#include "perf/refusal.h"
#include "proc/maps.h"
#include "record/waiting_refusal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void process_findings_read_name(pid_t pid, struct process_facts *facts)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/comm", (int)pid);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	size_t len = file ? fread(facts->name, 1, sizeof(facts->name) - 1, file) : 0;

	facts->name[len] = '\0';
	if (len && facts->name[len - 1] == '\n')
		facts->name[len - 1] = '\0';
}

static void read_user(uid_t uid, struct process_facts *facts)
{
	const struct passwd *user = known_user_by_id(uid);

	if (user)
		snprintf(facts->user, sizeof(facts->user), "%s", user->pw_name);
	else
		snprintf(facts->user, sizeof(facts->user), "%u", (unsigned)uid);
}

/* Returns the inode of a namespace, or 0 if it is unknown. */
static ino_t namespace_of(const char *process, const char *kind)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%s/ns/%s", process, kind);
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static bool process_findings_differs(const char *process, const char *kind)
{
	ino_t its = namespace_of(process, kind);

	return its && its != namespace_of("self", kind);
}

/* Returns whether the process has another root, for example after chroot(2). */
static bool has_other_root(const char *process)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%s/root/", process);
	struct stat its, ours;

	return stat(path, &its) == 0 && stat("/", &ours) == 0 &&
	       (its.st_dev != ours.st_dev || its.st_ino != ours.st_ino);
}

static void read_refusal(struct process_facts *facts)
{
	struct error *err;

	permissions_probe(facts->pid, &facts->may);
	if (!facts->may.user)
		return;
	err = refusal_explain(&(struct refusal){.number = facts->may.user, .tid = facts->pid});
	facts->refusal = xstrdup(error_text(err));
	if (error_hint_text(err))
		facts->refusal_help = xstrdup(error_hint_text(err));
	error_free(err);
}

static void read_maps(struct process_facts *facts)
{
	CLEANUP(free_ptr) char *exe = xasprintf("/proc/%d/exe", (int)facts->pid);
	CLEANUP(free_ptr) char *maps = NULL;
	struct stat st;
	size_t len = 0;

	maps = maps_load("/proc", facts->pid, &len);
	facts->is_kernel_thread = !len && stat(exe, &st) < 0 && errno == ENOENT;
	facts->hides_mappings = !len && !facts->is_kernel_thread;
}

bool process_facts_read(pid_t pid, struct process_facts *ret)
{
	char directory[32], number[16];
	struct stat st;

	*ret = (struct process_facts){.pid = pid};
	snprintf(number, sizeof(number), "%d", (int)pid);
	snprintf(directory, sizeof(directory), "/proc/%s", number);
	if (stat(directory, &st) < 0)
		return false;
	process_findings_read_name(pid, ret);
	read_user(st.st_uid, ret);
	ret->uid = st.st_uid;
	ret->is_root = geteuid() == 0;
	ret->in_container = process_findings_differs(number, "mnt") ||
			    process_findings_differs(number, "pid") || has_other_root(number);
	read_maps(ret);
	read_refusal(ret);
	ret->waiting = waiting_refusal("/proc", pid, !ret->may.kernel);
	return true;
}

void process_facts_deinit(struct process_facts *facts)
{
	free(facts->refusal);
	free(facts->refusal_help);
	free(facts->waiting);
}

/*
 * Derives the language from its modules. Returns NULL for C, C++ or another
 * compiled language.
 */
static const char *language_of(const struct module_list *modules)
{
	const char *path;
	enum runtime runtime = module_list_runtime(modules, &path);

	if (runtime)
		return runtime_name(runtime);
	for (size_t i = 0; i < modules->count; i++) {
		if (modules->items[i].sources.present & NAMES_GO)
			return "Go";
		if (modules->items[i].sources.is_rust)
			return "Rust";
	}
	return NULL;
}

static void process_findings_add_process(const struct process_facts *facts,
					 const struct module_list *modules, struct findings *ret)
{
	const char *language = language_of(modules);
	struct finding finding = {.subject = "process"};

	finding.what = xasprintf("%s of user %s%s%s%s", facts->name, facts->user,
				 language ? ", runs " : "", language ? language : "",
				 facts->in_container ? ", in a container" : "");
	if (facts->hides_mappings) {
		finding.state = FINDING_MISSING;
		finding.cost = xstrdup("its modules cannot be listed");
		if (!facts->is_root)
			finding.command = xasprintf("sudo prof doctor %d", (int)facts->pid);
	} else if (facts->is_kernel_thread) {
		finding.cost = xstrdup("it runs only in the kernel");
	}
	findings_add(ret, &finding);
}

static void process_findings_add_sampling(const struct process_facts *facts, struct findings *ret)
{
	struct finding finding = {.subject = "sampling"};

	if (facts->may.user) {
		finding.state = FINDING_MISSING;
		finding.what = xstrdup(facts->refusal);
		finding.cost = xasprintf("prof record -p %d fails", (int)facts->pid);
		if (facts->refusal_help)
			finding.command = xstrdup(facts->refusal_help);
	} else if (facts->may.kernel) {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup("in user space only");
		finding.cost = xstrdup("no kernel functions");
		finding.command = xstrdup("sudo sysctl kernel.perf_event_paranoid=1");
	} else {
		finding.what = xasprintf("prof record -p %d works", (int)facts->pid);
	}
	findings_add(ret, &finding);
}

static bool lists_code(const struct module_list *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		if (modules->items[i].sources.present & (NAMES_LISTED | NAMES_JITDUMP))
			return true;
	return false;
}

/* The functions of a runtime, if the process has one. */
static void add_runtime(const struct module_list *modules, struct findings *ret)
{
	struct finding finding = {.subject = "runtime"};
	const char *path;
	enum runtime runtime = module_list_runtime(modules, &path);

	if (!runtime)
		return;
	if (lists_code(modules)) {
		finding.what = xasprintf("%s lists its functions", runtime_name(runtime));
	} else {
		finding.state = FINDING_LIMITED;
		finding.what = xasprintf("%s functions have no names", runtime_name(runtime));
		finding.command = xstrdup(runtime_advice(runtime, path));
	}
	findings_add(ret, &finding);
}

/* Adds "process 12 waits without stacks: CAUSE (HELP)". */
static void add_waiting(const struct process_facts *facts, struct findings *ret)
{
	struct finding finding = {.subject = "waiting threads"};

	if (facts->waiting) {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup(facts->waiting);
		finding.cost = xstrdup("--off-cpu lacks stacks or costs more; no --await");
	} else {
		finding.what = xstrdup("--off-cpu and --await work");
	}
	findings_add(ret, &finding);
}

void process_findings(const struct process_facts *facts, const struct module_list *modules,
		      struct findings *ret)
{
	*ret = (struct findings){0};
	process_findings_add_process(facts, modules, ret);
	process_findings_add_sampling(facts, ret);
	add_waiting(facts, ret);
	add_runtime(modules, ret);
}
