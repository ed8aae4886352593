#include "cmd/doctor/process_findings.h"

#include "base/alloc.h"
#include "perf/refusal.h"
#include "proc/maps.h"
#include "record/waiting_refusal.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_name(pid_t pid, struct process_facts *facts)
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
#ifndef PROF_STATIC
	const struct passwd *user = getpwuid(uid);

	if (user) {
		snprintf(facts->user, sizeof(facts->user), "%s", user->pw_name);
		return;
	}
#endif
	snprintf(facts->user, sizeof(facts->user), "%u", (unsigned)uid);
}

/* The inode of a namespace; 0: unknown. */
static ino_t namespace_of(const char *process, const char *kind)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%s/ns/%s", process, kind);
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static bool differs(const char *process, const char *kind)
{
	ino_t its = namespace_of(process, kind);

	return its && its != namespace_of("self", kind);
}

/* As after chroot(2). */
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
	read_name(pid, ret);
	read_user(st.st_uid, ret);
	ret->uid = st.st_uid;
	ret->is_root = geteuid() == 0;
	ret->in_container = differs(number, "mnt") || differs(number, "pid") ||
			    has_other_root(number);
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

static bool has_module(const struct module_list *modules, enum jit jit)
{
	for (size_t i = 0; i < modules->count; i++)
		if (modules->items[i].kind == PROFILE_MODULE_FILE &&
		    jit_of_path(modules->items[i].path) == jit)
			return true;
	return false;
}

/* By its code; NULL: C, C++ or another compiled language. */
static const char *language_of(const struct module_list *modules)
{
	static const struct {
		enum jit jit;
		const char *name;
	} runtimes[] = {{JIT_JAVA, "Java"},   {JIT_NODE, "Node.js"}, {JIT_PYTHON, "Python"},
			{JIT_DOTNET, ".NET"}, {JIT_RUBY, "Ruby"},    {JIT_ERLANG, "Erlang"}};

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (has_module(modules, runtimes[i].jit))
			return runtimes[i].name;
	for (size_t i = 0; i < modules->count; i++) {
		if (modules->items[i].sources.present & NAMES_GO)
			return "Go";
		if (modules->items[i].sources.is_rust)
			return "Rust";
	}
	return NULL;
}

static void add_process(const struct process_facts *facts, const struct module_list *modules,
			struct findings *ret)
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
		finding.cost = xstrdup("it runs in the kernel only");
	}
	findings_add(ret, &finding);
}

static void add_sampling(const struct process_facts *facts, struct findings *ret)
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

/* "process 12 waits without stacks: CAUSE (HELP)" */
static void add_waiting(const struct process_facts *facts, struct findings *ret)
{
	struct finding finding = {.subject = "waiting threads"};

	if (facts->waiting) {
		finding.state = FINDING_LIMITED;
		finding.what = xstrdup(facts->waiting);
		finding.cost = xstrdup("--off-cpu lacks stacks or costs more; no --await");
	} else {
		finding.what = xstrdup("--off-cpu and --await can look at it");
	}
	findings_add(ret, &finding);
}

void process_findings(const struct process_facts *facts, const struct module_list *modules,
		      struct findings *ret)
{
	*ret = (struct findings){0};
	add_process(facts, modules, ret);
	add_sampling(facts, ret);
	add_waiting(facts, ret);
}
