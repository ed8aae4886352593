#include "proc/names.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/strtab.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

/* Flag in the table of tids: the thread has ended. */
#define ENDED (UINT32_C(1) << 31)

struct ended_thread {
	uint64_t time_ns;
	pid_t tid;
};

/*
 * The limit of threads and distinct names per generation, 16 MB. A file may
 * contain any number.
 */
enum { GENERATION_THREADS = 128 << 10 };

/* More than the kernel's 15 bytes, which recordings need not respect. */
enum { NAME_BYTES_MAX = 63 };

struct names_generation {
	struct idmap by_tid; /* tid → string id */
	struct strtab *strings;
};

/* An entry of names_replace(). */
struct names_replacement {
	pid_t tid;
	char *comm, *name;
};

/*
 * A name that was not used during the whole life of the young generation is
 * forgotten with the older one.
 */
struct names {
	char *proc; /* NULL for a recording */
	struct names_generation young, older;
	struct ended_thread *ended; /* ended threads; by_tid shows whether a tid was reused */
	size_t ended_count, ended_room;
	struct names_replacement *replacements;
	size_t replacement_count, replacement_room;
};

static struct names_generation generation_new(void)
{
	return (struct names_generation){.strings = strtab_new()};
}

static void generation_free(struct names_generation *generation)
{
	idmap_deinit(&generation->by_tid);
	strtab_free(generation->strings);
}

struct names *names_new(const char *proc)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->proc = proc ? xstrdup(proc) : NULL;
	names->young = generation_new();
	names->older = generation_new();
	return names;
}

static void remove_replacement(struct names *names, size_t index)
{
	struct names_replacement *last = &names->replacements[--names->replacement_count];

	free(names->replacements[index].comm);
	free(names->replacements[index].name);
	names->replacements[index] = *last;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	free(names->proc);
	generation_free(&names->young);
	generation_free(&names->older);
	free(names->ended);
	while (names->replacement_count)
		remove_replacement(names, names->replacement_count - 1);
	free(names->replacements);
	free(names);
}

/* Returns the entry in the young generation, which the caller sets. */
static uint32_t *names_entry_of(struct names *names, pid_t tid)
{
	if (names->young.by_tid.count >= GENERATION_THREADS ||
	    strtab_count(names->young.strings) >= GENERATION_THREADS) {
		generation_free(&names->older);
		names->older = names->young;
		names->young = generation_new();
		names->ended_count = 0;
	}
	return idmap_put(&names->young.by_tid, (uint64_t)tid, 0);
}

static string_id names_add_name(struct names *names, const char *name)
{
	return strtab_add_len(names->young.strings, name, strnlen(name, NAME_BYTES_MAX));
}

/*
 * Returns a young string id, possibly with ENDED, or IDMAP_NONE if the thread
 * is unknown.
 */
static uint32_t names_find(struct names *names, pid_t tid)
{
	uint32_t name = idmap_get(&names->young.by_tid, (uint64_t)tid, 0);
	uint32_t older = idmap_get(&names->older.by_tid, (uint64_t)tid, 0);
	char text[NAME_BYTES_MAX + 1];
	uint32_t *entry;

	if (name != IDMAP_NONE || older == IDMAP_NONE)
		return name;
	strcpy(text, strtab_get(names->older.strings, older & ~ENDED));
	entry = names_entry_of(names, tid);
	return *entry = names_add_name(names, text) | (older & ENDED);
}

static void names_forget_at(struct names *names, pid_t tid)
{
	idmap_remove(&names->young.by_tid, (uint64_t)tid, 0);
	idmap_remove(&names->older.by_tid, (uint64_t)tid, 0);
}

void names_replace(struct names *names, pid_t tid, const char *comm, const char *name)
{
	GROW(names->replacements, names->replacement_count, names->replacement_room);
	names->replacements[names->replacement_count++] = (struct names_replacement){
		.tid = tid, .comm = xstrdup(comm), .name = xstrdup(name)};
}

/* Few replacements wait at a time, so a linear search is enough. */
static string_id replaced_name(struct names *names, pid_t tid, const char *comm)
{
	string_id name;

	for (size_t i = 0; i < names->replacement_count; i++) {
		const struct names_replacement *replacement = &names->replacements[i];

		if (replacement->tid != tid || strcmp(replacement->comm, comm) != 0)
			continue;
		name = names_add_name(names, replacement->name);
		remove_replacement(names, i);
		return name;
	}
	return names_add_name(names, comm);
}

void names_set(struct names *names, pid_t tid, const char *comm)
{
	uint32_t *entry = names_entry_of(names, tid);

	*entry = replaced_name(names, tid, comm);
}

/* The kernel appends a newline to the name. Other newlines are part of it. */
static bool read_comm(const char *proc, pid_t pid, pid_t tid, char comm[64])
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/%d/task/%d/comm", proc, (int)pid, (int)tid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, comm, 63);

	if (len <= 0)
		return false;
	if (comm[len - 1] == '\n')
		len--;
	comm[len] = '\0';
	return true;
}

static bool names_learn(struct names *names, pid_t pid, pid_t tid)
{
	char comm[64];

	if (tid <= 0 || !names->proc || !read_comm(names->proc, pid, tid, comm))
		return false;
	names_set(names, tid, comm);
	return true;
}

void names_fork(struct names *names, pid_t parent_pid, pid_t parent_tid, pid_t tid)
{
	uint32_t name = names_find(names, parent_tid);

	if (name == IDMAP_NONE && names_learn(names, parent_pid, parent_tid))
		name = names_find(names, parent_tid);
	/*
	 * Without a known parent, the thread must not keep the name of the
	 * tid's previous thread.
	 */
	if (name == IDMAP_NONE)
		names_forget_at(names, tid);
	else
		names_set(names, tid, strtab_get(names->young.strings, name & ~ENDED));
}

void names_exit(struct names *names, pid_t tid, uint64_t time_ns)
{
	uint32_t name = names_find(names, tid);

	if (name == IDMAP_NONE || name & ENDED)
		return;
	*idmap_put(&names->young.by_tid, (uint64_t)tid, 0) = name | ENDED;
	if (names->ended_count == GENERATION_THREADS)
		names->ended_count = 0;
	GROW(names->ended, names->ended_count, names->ended_room);
	names->ended[names->ended_count++] = (struct ended_thread){.time_ns = time_ns, .tid = tid};
}

void names_forget(struct names *names, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < names->ended_count; i++) {
		struct ended_thread thread = names->ended[i];
		uint32_t name = idmap_get(&names->young.by_tid, (uint64_t)thread.tid, 0);

		if (thread.time_ns >= before_ns)
			names->ended[kept++] = thread;
		else if (name != IDMAP_NONE && name & ENDED)
			names_forget_at(names, thread.tid);
	}
	names->ended_count = kept;
}

const char *names_get(struct names *names, pid_t pid, pid_t tid)
{
	uint32_t name = names_find(names, tid);
	char comm[64];

	if (name == IDMAP_NONE && !names_learn(names, pid, tid)) {
		if (tid == 0)
			strcpy(comm, "[idle]"); /* one per CPU */
		else if (tid < 0)
			strcpy(comm, "[ended]"); /* the kernel no longer knows which thread */
		else
			snprintf(comm, sizeof(comm), ":%d", (int)tid);
		names_set(names, tid, comm);
	}
	if (name == IDMAP_NONE)
		name = names_find(names, tid);
	return strtab_get(names->young.strings, name & ~ENDED);
}
