#include "proc/usage.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/line_reader.h"
#include "base/text.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE_LINE_BYTES_MAX = 64 << 10, USAGE_TEXT_BYTES_MAX = 1 << 20 };

/* The processes whose usage is summed. */
struct family {
	const char *proc;
	pid_t *pids;
	size_t count, room;
	struct idmap known;
};

static void usage_add(struct family *family, pid_t pid)
{
	uint32_t *known = idmap_put(&family->known, (uint64_t)pid, 0);

	if (*known != IDMAP_NONE)
		return;
	*known = 0;
	GROW(family->pids, family->count, family->room);
	family->pids[family->count++] = pid;
}

/* Calls `use` for each line of proc/name. */
static void usage_read_lines(const char *proc, const char *name,
			     void (*use)(void *user, const char *line), void *user)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", proc, name);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	CLEANUP(line_reader_deinit) struct line_reader lines = {0};

	if (!file)
		return;
	line_reader_init(&lines, file, USAGE_LINE_BYTES_MAX, USAGE_TEXT_BYTES_MAX);
	while (line_reader_next(&lines))
		use(user, lines.line);
}

static uint64_t ns_of_ticks(uint64_t ticks)
{
	return ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

struct cpu_ticks {
	uint64_t user, kernel, children, children_kernel;
};

/*
 * utime, stime, cutime and cstime come eleven fields after the name, which may
 * contain any character.
 */
static bool read_ticks(const char *line, struct cpu_ticks *ret)
{
	const char *rest = strrchr(line, ')');

	return rest && sscanf(rest + 1,
			      " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			      " %" SCNu64 " %" SCNu64,
			      &ret->user, &ret->kernel, &ret->children, &ret->children_kernel) == 4;
}

static void add_cpu_time(void *user, const char *line)
{
	struct usage *usage = user;
	struct cpu_ticks ticks;

	if (read_ticks(line, &ticks))
		usage->cpu_ns += ns_of_ticks(ticks.user + ticks.kernel + ticks.children +
					     ticks.children_kernel);
}

static void add_kernel_time(void *user, const char *line)
{
	uint64_t *ns = user;
	struct cpu_ticks ticks;

	if (read_ticks(line, &ticks))
		*ns += ns_of_ticks(ticks.kernel);
}

static void add_memory(void *user, const char *line)
{
	struct usage *usage = user;
	uint64_t pages;

	if (sscanf(line, "%*u %" SCNu64, &pages) == 1)
		usage->memory_bytes += pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void usage_add_children(void *user, const char *line)
{
	struct family *family = user;
	char *end;

	for (long pid; (pid = strtol(line, &end, 10)) > 0 && end != line; line = end)
		usage_add(family, (pid_t)pid);
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* Each thread has a list of the children that it has started. */
static void add_children_of(struct family *family, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/task", family->proc, pid);
	CLEANUP(close_folder) DIR *threads = opendir(path);
	const struct dirent *thread;

	while (threads && (thread = readdir(threads))) {
		CLEANUP(free_ptr)
		char *name = xasprintf("%d/task/%s/children", pid, thread->d_name);

		if (thread->d_name[0] != '.')
			usage_read_lines(family->proc, name, usage_add_children, family);
	}
}

static void usage_add_process(const char *proc, pid_t pid, struct usage *usage)
{
	CLEANUP(free_ptr) char *stat = xasprintf("%d/stat", pid);
	CLEANUP(free_ptr) char *statm = xasprintf("%d/statm", pid);

	usage_read_lines(proc, stat, add_cpu_time, usage);
	usage_read_lines(proc, statm, add_memory, usage);
}

uint64_t usage_of_mapped_files(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages;

	if (!file || fscanf(file, "%*u %*u %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)getpagesize();
}

struct usage usage_of_processes(const char *proc, const pid_t *pids, size_t count)
{
	struct family family = {.proc = proc};
	struct usage usage = {0};

	for (size_t i = 0; i < count; i++)
		usage_add(&family, pids[i]);
	for (size_t i = 0; i < family.count; i++) {
		add_children_of(&family, family.pids[i]);
		usage_add_process(proc, family.pids[i], &usage);
	}
	free(family.pids);
	idmap_deinit(&family.known);
	return usage;
}

uint64_t usage_in_kernel_ns(const char *proc, pid_t pid)
{
	CLEANUP(free_ptr) char *stat = xasprintf("%d/stat", pid);
	uint64_t ns = 0;

	usage_read_lines(proc, stat, add_kernel_time, &ns);
	return ns;
}

uint64_t usage_of_thread(const char *proc, pid_t pid, pid_t tid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/task/%d/schedstat", proc, pid, tid);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	uint64_t ns;

	return file && fscanf(file, "%" SCNu64, &ns) == 1 ? ns : UINT64_MAX;
}

struct usage_machine {
	uint64_t busy_ticks, cpus;
	uint64_t total_kib, available_kib;
};

/*
 * Example: "cpu  user nice system idle iowait irq softirq steal …", followed by
 * a line for each CPU.
 */
static void read_stat(void *user, const char *line)
{
	struct usage_machine *machine = user;
	uint64_t own, nice, kernel, interrupts, soft_interrupts;

	if (text_begins(line, "cpu ") &&
	    sscanf(line + 4, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64,
		   &own, &nice, &kernel, &interrupts, &soft_interrupts) == 5)
		machine->busy_ticks = own + nice + kernel + interrupts + soft_interrupts;
	else if (text_begins(line, "cpu"))
		machine->cpus++;
}

static void read_meminfo(void *user, const char *line)
{
	struct usage_machine *machine = user;

	if (text_begins(line, "MemTotal:"))
		machine->total_kib = strtoull(line + 9, NULL, 10);
	else if (text_begins(line, "MemAvailable:"))
		machine->available_kib = strtoull(line + 13, NULL, 10);
}

struct usage usage_of_machine(const char *proc)
{
	struct usage_machine machine = {0};

	usage_read_lines(proc, "stat", read_stat, &machine);
	usage_read_lines(proc, "meminfo", read_meminfo, &machine);
	return (struct usage){
		.cpu_ns = machine.cpus ? ns_of_ticks(machine.busy_ticks) / machine.cpus : 0,
		.memory_bytes = machine.available_kib < machine.total_kib
					? (machine.total_kib - machine.available_kib) * 1024
					: 0,
	};
}

static void read_load(void *user, const char *line)
{
	*(double *)user = strtod(line, NULL);
}

double usage_load(const char *proc)
{
	double load = 0;

	usage_read_lines(proc, "loadavg", read_load, &load);
	return load;
}
