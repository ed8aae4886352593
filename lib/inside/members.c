#include "inside/members.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "base/text.h"
#include "inside/layout.h"
#include "proc/jit_map.h"
#include "proc/maps.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * When to look up a process again. It maps the file once its program runs, and
 * pids are reused.
 */
enum { AGAIN_MS = 50 };

enum {
	STATES_MAX = 64 << 10, /* limits the table, because records can claim any pid */
	ANCESTORS_MAX = 64,
};

/*
 * A value is a state in the low bits and, above it, the time when it was found.
 */
enum { STATE_BITS = 2 };

void members_init(struct members *members, int fd, const pid_t *targets, size_t target_count)
{
	struct stat st;

	*members = (struct members){.targets = targets, .target_count = target_count};
	members->users = xcalloc(target_count + 1, sizeof(*members->users));
	for (size_t i = 0; i < target_count; i++)
		members->users[i] = process_user("/proc", targets[i]);
	if (!target_count)
		members->users[0] = geteuid();
	if (fstat(fd, &st) < 0)
		return;
	members->device_major = major(st.st_dev);
	members->device_minor = minor(st.st_dev);
	members->inode = st.st_ino;
}

void members_deinit(struct members *members)
{
	free(members->users);
	idmap_deinit(&members->states);
}

static bool maps_file(const struct members *members, struct bytes text)
{
	struct maps maps = {.rest = text, .data = true};
	struct mapping mapping;

	while (members->inode && maps_next(&maps, &mapping))
		if (mapping.inode == members->inode &&
		    mapping.device_major == members->device_major &&
		    mapping.device_minor == members->device_minor &&
		    text_begins(mapping.path, "/memfd:"))
			return true;
	return false;
}

static bool is_target(const struct members *members, pid_t pid)
{
	if (!members->target_count)
		return pid == getpid();
	for (size_t i = 0; i < members->target_count; i++)
		if (members->targets[i] == pid)
			return true;
	return false;
}

static bool descends_from_target(const struct members *members, pid_t pid)
{
	for (unsigned i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		if (is_target(members, pid))
			return true;
		pid = descendants_parent_of(pid);
	}
	return false;
}

/*
 * Returns whether the process is related to a target. An unrelated process may
 * also map a file that is sent to it, as display servers do.
 */
static bool is_related(const struct members *members, pid_t pid, uid_t user)
{
	size_t count = members->target_count ? members->target_count : 1;

	for (size_t i = 0; i < count; i++)
		if (members->users[i] == user && user != (uid_t)-1)
			return true;
	return descends_from_target(members, pid);
}

/*
 * Reads the user before and after the mappings. If the process gained
 * privileges by execve() or its pid was reused in between, one of the checks
 * fails.
 */
static enum membership members_load(const struct members *members, pid_t pid, char **text,
				    size_t *len, uid_t *user)
{
	uid_t before = process_user("/proc", pid);

	*text = maps_load("/proc", pid, len);
	*user = process_user("/proc", pid);
	if (!*text || !*len || *user == (uid_t)-1)
		return MEMBERSHIP_UNKNOWN;
	if (*user == before && maps_file(members, bytes_of(*text, *len)) &&
	    is_related(members, pid, before))
		return MEMBERSHIP_MEMBER;
	return MEMBERSHIP_STRANGER;
}

char *members_load_maps(const struct members *members, pid_t pid, size_t *len, uid_t *user)
{
	CLEANUP(free_ptr) char *text = NULL;
	uid_t found;

	if (members_load(members, pid, &text, len, &found) != MEMBERSHIP_MEMBER)
		return NULL;
	if (user)
		*user = found;
	return STEAL(text);
}

enum membership members_check(struct members *members, pid_t pid, bool has_begun, uint64_t now_ns)
{
	CLEANUP(free_ptr) char *text = NULL;
	uint32_t now_ms = (uint32_t)(now_ns / NS_PER_MS) & (UINT32_MAX >> (STATE_BITS + 1));
	uint32_t known = idmap_get(&members->states, (uint64_t)pid, 0);
	enum membership before = MEMBERSHIP_UNKNOWN, membership;
	size_t len;
	uid_t user;

	if (known != IDMAP_NONE) {
		before = known & ((1u << STATE_BITS) - 1);
		if (before == MEMBERSHIP_MEMBER ||
		    (!has_begun && now_ms - (known >> STATE_BITS) < AGAIN_MS))
			return before;
	}
	membership = members_load(members, pid, &text, &len, &user);
	if (membership == MEMBERSHIP_UNKNOWN && before == MEMBERSHIP_STRANGER && !has_begun)
		membership = MEMBERSHIP_STRANGER;
	if (members->states.count >= STATES_MAX)
		idmap_deinit(&members->states);
	*idmap_put(&members->states, (uint64_t)pid, 0) = now_ms << STATE_BITS | membership;
	return membership;
}
