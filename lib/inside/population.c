#include "inside/population.h"

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
	INHABITANTS_MAX = 64 << 10, /* records can claim any ids */
	NAMES_MAX = 256,	    /* that are read in one look */
};

static uint64_t id_of(pid_t pid, pid_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

void population_deinit(struct population *population)
{
	free(population->items);
	free(population->changes);
	idmap_deinit(&population->by_id);
}

struct inhabitant *population_find(struct population *population, pid_t pid, pid_t tid)
{
	uint32_t index = idmap_get(&population->by_id, id_of(pid, tid), 0);

	return index == IDMAP_NONE ? NULL : &population->items[index];
}

/* Leaves the name alone if it cannot be read. */
static void read_name(const struct inhabitant *of, char name[COMM_BYTES])
{
	char path[64], text[COMM_BYTES + 1];
	CLEANUP(close_fd) int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)of->pid, (int)of->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (len <= 1)
		return;
	/* It ends with a newline. */
	memset(name, 0, COMM_BYTES);
	memcpy(name, text, (size_t)len - 1 < COMM_BYTES ? (size_t)len - 1 : COMM_BYTES - 1);
}

struct inhabitant *population_meet(struct population *population, pid_t pid, pid_t tid,
				   bool *is_new)
{
	struct inhabitant *found = population_find(population, pid, tid);

	*is_new = !found;
	if (!found) {
		if (population->count >= INHABITANTS_MAX)
			return NULL;
		GROW(population->items, population->count, population->room);
		*idmap_put(&population->by_id, id_of(pid, tid), 0) = population->count;
		found = &population->items[population->count++];
		*found = (struct inhabitant){.pid = pid, .tid = tid};
		read_name(found, found->name);
	}
	found->was_met = true;
	return found;
}

static struct population_change *add_change(struct population *population,
					    const struct inhabitant *of)
{
	struct population_change *change;

	GROW(population->changes, population->change_count, population->change_room);
	change = &population->changes[population->change_count++];
	*change = (struct population_change){.pid = of->pid, .tid = of->tid};
	return change;
}

static bool has_ended(const struct inhabitant *inhabitant)
{
	return syscall(SYS_tgkill, inhabitant->pid, inhabitant->tid, 0) < 0 && errno == ESRCH;
}

static void remove_at(struct population *population, uint32_t index)
{
	struct inhabitant *at = &population->items[index];

	idmap_remove(&population->by_id, id_of(at->pid, at->tid), 0);
	*at = population->items[--population->count];
	if (index < population->count)
		*idmap_put(&population->by_id, id_of(at->pid, at->tid), 0) = index;
}

static void look_at_name(struct population *population, struct inhabitant *inhabitant)
{
	char name[COMM_BYTES];

	memcpy(name, inhabitant->name, sizeof(name));
	read_name(inhabitant, name);
	if (memcmp(name, inhabitant->name, sizeof(name)) == 0)
		return;
	memcpy(inhabitant->name, name, sizeof(name));
	memcpy(add_change(population, inhabitant)->name, name, sizeof(name));
}

void population_look(struct population *population)
{
	unsigned names = 0;

	population->change_count = 0;
	for (uint32_t i = population->count; i-- > 0;) {
		struct inhabitant *inhabitant = &population->items[i];

		if (inhabitant->has_ended) {
			remove_at(population, i);
		} else if (has_ended(inhabitant)) {
			inhabitant->has_ended = true;
			add_change(population, inhabitant)->has_ended = true;
		} else if (inhabitant->was_met && names < NAMES_MAX) {
			inhabitant->was_met = false;
			look_at_name(population, inhabitant);
			names++;
		}
	}
}
