#include "record/cgroup_labels.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include "unit_test.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum { PARENT = 10, CHILD = 11, GRANDCHILD = 12, LAST = 40 };

/* A directory instead of /proc. */
struct fixture {
	char proc[32];
	struct cgroup_labels *labels;
	struct strtab *strings;
};

static int open_fixture(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	strcpy(fixture->proc, "/tmp/prof-cgroup-XXXXXX");
	assert_non_null(mkdtemp(fixture->proc));
	fixture->labels = cgroup_labels_new(fixture->proc);
	fixture->strings = strtab_new();
	*state = fixture;
	return 0;
}

static char *file_of(const struct fixture *fixture, pid_t pid)
{
	return xasprintf("%s/%d/cgroup", fixture->proc, (int)pid);
}

static void end(const struct fixture *fixture, pid_t pid)
{
	CLEANUP(free_ptr) char *file = file_of(fixture, pid);

	remove(file);
	*strrchr(file, '/') = '\0';
	remove(file);
}

static int close_fixture(void **state)
{
	struct fixture *fixture = *state;

	for (pid_t pid = PARENT; pid <= LAST; pid++)
		end(fixture, pid);
	remove(fixture->proc);
	cgroup_labels_free(fixture->labels);
	strtab_free(fixture->strings);
	free(fixture);
	return 0;
}

static void is_in(const struct fixture *fixture, pid_t pid, const char *lines)
{
	CLEANUP(free_ptr) char *path = file_of(fixture, pid);
	char *name = strrchr(path, '/');
	FILE *file;

	*name = '\0';
	mkdir(path, 0700);
	*name = '/';
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
}

static void passes(const struct fixture *fixture, uint64_t time_ns)
{
	cgroup_labels_feed(fixture->labels,
			   &(struct record){.type = RECORD_OTHER, .time_ns = time_ns});
}

static void forks_at(const struct fixture *fixture, pid_t parent, pid_t pid, uint64_t time_ns)
{
	cgroup_labels_feed(fixture->labels, &(struct record){.type = RECORD_FORK,
							     .pid = pid,
							     .tid = pid,
							     .time_ns = time_ns,
							     .fork.parent_pid = parent});
}

static void forks(const struct fixture *fixture, pid_t parent, pid_t pid)
{
	forks_at(fixture, parent, pid, 0);
}

static void executes(const struct fixture *fixture, pid_t pid)
{
	cgroup_labels_feed(fixture->labels, &(struct record){.type = RECORD_COMM,
							     .pid = pid,
							     .tid = pid,
							     .comm = {.name = "x", .exec = true}});
}

/* Returns NULL if the process does not have the label. */
static const char *label_of(const struct fixture *fixture, pid_t pid, const char *key)
{
	struct profile_label labels[CGROUP_LABELS_MAX];
	bool is_final;
	uint32_t count = cgroup_labels_of(fixture->labels, pid, fixture->strings, labels,
					  &is_final);

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(strtab_get(fixture->strings, labels[i].key), key))
			return strtab_get(fixture->strings, labels[i].text);
	return NULL;
}

TEST_WITH(open_fixture, close_fixture, a_process_has_its_cgroup_and_what_it_names)
{
	const struct fixture *fixture = *state;

	is_in(fixture, PARENT, "0::/system.slice/nginx.service\n");
	assert_string_equal(label_of(fixture, PARENT, "cgroup"), "/system.slice/nginx.service");
	assert_string_equal(label_of(fixture, PARENT, "container"), "nginx.service");
	is_in(fixture, CHILD, "0::/batch\n");
	assert_string_equal(label_of(fixture, CHILD, "cgroup"), "/batch");
	assert_null(label_of(fixture, CHILD, "container"));
}

TEST_WITH(open_fixture, close_fixture, the_root_cgroup_is_no_label)
{
	const struct fixture *fixture = *state;

	is_in(fixture, PARENT, "4:memory:/\n0::/\n");
	assert_null(label_of(fixture, PARENT, "cgroup"));
	is_in(fixture, CHILD, "no line of a cgroup\n::\n");
	assert_null(label_of(fixture, CHILD, "cgroup"));
}

TEST_WITH(open_fixture, close_fixture, of_several_hierarchies_the_one_that_names_a_container_counts)
{
	const struct fixture *fixture = *state;

	is_in(fixture, PARENT,
	      "9:memory:/much/longer/than/the/others\n3:cpu,cpuacct:/lxc/web\n0::/batch\n");
	assert_string_equal(label_of(fixture, PARENT, "cgroup"), "/lxc/web");
	is_in(fixture, CHILD, "9:memory:/much/longer/than/the/others\n0::/batch\n");
	assert_string_equal(label_of(fixture, CHILD, "cgroup"), "/batch");
	is_in(fixture, GRANDCHILD, "9:memory:/jobs\n5:perf_event:/batch\n0::/\n");
	assert_string_equal(label_of(fixture, GRANDCHILD, "cgroup"), "/batch");
}

TEST_WITH(open_fixture, close_fixture, a_process_that_is_gone_has_the_labels_of_its_parent)
{
	const struct fixture *fixture = *state;

	is_in(fixture, PARENT, "0::/batch\n");
	forks(fixture, PARENT, CHILD);
	forks(fixture, CHILD, GRANDCHILD);
	assert_string_equal(label_of(fixture, GRANDCHILD, "cgroup"), "/batch");
	end(fixture, PARENT);
	assert_string_equal(label_of(fixture, GRANDCHILD, "cgroup"), "/batch");
	assert_string_equal(label_of(fixture, CHILD, "cgroup"), "/batch");
}

TEST_WITH(open_fixture, close_fixture, a_process_is_read_again_when_it_has_executed_a_program)
{
	const struct fixture *fixture = *state;

	is_in(fixture, PARENT, "0::/engine\n");
	assert_string_equal(label_of(fixture, PARENT, "cgroup"), "/engine");
	is_in(fixture, PARENT, "0::/lxc/web\n");
	assert_string_equal(label_of(fixture, PARENT, "cgroup"), "/engine");
	executes(fixture, PARENT);
	assert_string_equal(label_of(fixture, PARENT, "cgroup"), "/lxc/web");
}

TEST_WITH(open_fixture, close_fixture, the_number_of_an_ended_process_is_another_process)
{
	const struct fixture *fixture = *state;

	is_in(fixture, CHILD, "0::/old\n");
	assert_string_equal(label_of(fixture, CHILD, "cgroup"), "/old");
	is_in(fixture, CHILD, "0::/new\n");
	forks(fixture, PARENT, CHILD);
	assert_string_equal(label_of(fixture, CHILD, "cgroup"), "/new");
}

/* The last child has a PARENT that does not exist. PARENT and all others are in
 * the cgroup. */
static pid_t have_all_stayed(const struct fixture *fixture, const char *lines)
{
	pid_t pid = PARENT;

	is_in(fixture, PARENT, lines);
	while (pid < PARENT + 16) {
		is_in(fixture, ++pid, lines);
		forks(fixture, PARENT, pid);
		label_of(fixture, pid, "cgroup");
	}
	forks(fixture, PARENT, ++pid);
	return pid;
}

TEST_WITH(open_fixture, close_fixture, where_none_moves_only_processes_that_stay_are_read)
{
	const struct fixture *fixture = *state;
	pid_t pid = have_all_stayed(fixture, "0::/batch\n");

	is_in(fixture, pid, "0::/moved\n");
	assert_string_equal(label_of(fixture, pid, "cgroup"), "/batch");
	passes(fixture, NS_PER_SECOND - 1);
	assert_string_equal(label_of(fixture, pid, "cgroup"), "/batch");
	passes(fixture, NS_PER_SECOND);
	assert_string_equal(label_of(fixture, pid, "cgroup"), "/moved");
}

TEST_WITH(open_fixture, close_fixture, where_one_has_moved_all_are_read)
{
	const struct fixture *fixture = *state;
	pid_t pid = have_all_stayed(fixture, "0::/batch\n");

	is_in(fixture, pid, "0::/moved\n");
	passes(fixture, NS_PER_SECOND);
	assert_string_equal(label_of(fixture, pid, "cgroup"), "/moved");
	is_in(fixture, ++pid, "0::/moved\n");
	forks(fixture, PARENT, pid);
	assert_string_equal(label_of(fixture, pid, "cgroup"), "/moved");
}

TEST_WITH(open_fixture, close_fixture,
	  a_child_is_where_its_parent_moved_though_that_was_never_sampled)
{
	const struct fixture *fixture = *state;
	pid_t pid = have_all_stayed(fixture, "0::/batch\n"), child = pid + 1;

	is_in(fixture, pid, "0::/moved\n");
	is_in(fixture, child, "0::/moved\n");
	forks_at(fixture, pid, child, NS_PER_SECOND);
	assert_string_equal(label_of(fixture, child, "cgroup"), "/moved");
}
