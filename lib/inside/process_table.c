#include "inside/process_table.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	INHABITANTS_MAX = 64 << 10, /* a limit, because records can claim any ids */
	NAMES_MAX = 256,	    /* names that are read per poll */
};

static uint64_t process_table_id_of(pid_t pid, pid_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

void process_table_deinit(struct process_table *table)
{
	free(table->items);
	free(table->changes);
	idmap_deinit(&table->by_id);
}

struct process_entry *process_table_find(struct process_table *table, pid_t pid, pid_t tid)
{
	uint32_t index = idmap_get(&table->by_id, process_table_id_of(pid, tid), 0);

	return index == IDMAP_NONE ? NULL : &table->items[index];
}

/* Leaves the name unchanged if it cannot be read. */
static void process_table_read_name(const struct process_entry *of, char name[COMM_BYTES])
{
	char path[64], text[COMM_BYTES + 1];
	CLEANUP(close_fd) int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)of->pid, (int)of->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (len <= 1)
		return;
	/* The text ends with a newline. */
	memset(name, 0, COMM_BYTES);
	memcpy(name, text, (size_t)len - 1 < COMM_BYTES ? (size_t)len - 1 : COMM_BYTES - 1);
}

struct process_entry *process_table_meet(struct process_table *table, pid_t pid, pid_t tid,
					 bool *is_new)
{
	struct process_entry *found = process_table_find(table, pid, tid);

	*is_new = !found;
	if (!found) {
		if (table->count >= INHABITANTS_MAX)
			return NULL;
		GROW(table->items, table->count, table->room);
		*idmap_put(&table->by_id, process_table_id_of(pid, tid), 0) = table->count;
		found = &table->items[table->count++];
		*found = (struct process_entry){.pid = pid, .tid = tid};
		process_table_read_name(found, found->name);
	}
	found->was_met = true;
	return found;
}

static struct process_table_change *add_change(struct process_table *table,
					       const struct process_entry *of)
{
	struct process_table_change *change;

	GROW(table->changes, table->change_count, table->change_room);
	change = &table->changes[table->change_count++];
	*change = (struct process_table_change){.pid = of->pid, .tid = of->tid};
	return change;
}

static bool process_table_has_ended(const struct process_entry *entry)
{
	return syscall(SYS_tgkill, entry->pid, entry->tid, 0) < 0 && errno == ESRCH;
}

static void remove_at(struct process_table *table, uint32_t index)
{
	struct process_entry *at = &table->items[index];

	idmap_remove(&table->by_id, process_table_id_of(at->pid, at->tid), 0);
	*at = table->items[--table->count];
	if (index < table->count)
		*idmap_put(&table->by_id, process_table_id_of(at->pid, at->tid), 0) = index;
}

static void look_at_name(struct process_table *table, struct process_entry *entry)
{
	char name[COMM_BYTES];

	memcpy(name, entry->name, sizeof(name));
	process_table_read_name(entry, name);
	if (memcmp(name, entry->name, sizeof(name)) == 0)
		return;
	memcpy(entry->name, name, sizeof(name));
	memcpy(add_change(table, entry)->name, name, sizeof(name));
}

void process_table_look(struct process_table *table)
{
	unsigned names = 0;

	table->change_count = 0;
	for (uint32_t i = table->count; i-- > 0;) {
		struct process_entry *entry = &table->items[i];

		if (entry->has_ended) {
			remove_at(table, i);
		} else if (process_table_has_ended(entry)) {
			entry->has_ended = true;
			add_change(table, entry)->has_ended = true;
		} else if (entry->was_met && names < NAMES_MAX) {
			entry->was_met = false;
			look_at_name(table, entry);
			names++;
		}
	}
}
