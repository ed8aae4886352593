#include "agent_ring_writer.h"
#include "base/alloc.h"
#include "inside/source.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static struct {
	struct inside_file file;
	struct inside_source *source;
	struct record_source records;
} f;

/* The record that assert_next() has read last. */
static struct record record;

static const struct inside_options usual = {
	.cpu_hz = 100, .alloc_period = 1000, .pc_bit = TEST_PC_BIT};

static void open_with(struct inside_options options)
{
	assert_null(inside_file_make(&f.file));
	options.file = &f.file;
	f.source = inside_source_new(&options);
	f.records = inside_record_source(f.source);
	assert_null(record_source_enable(&f.records));
	record_source_batch(&f.records);
}

static void close_all(void)
{
	record_source_close(&f.records);
	inside_file_close(&f.file);
}

static int set_up(void **state)
{
	(void)state;
	open_with(usual);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_all();
	return 0;
}

static void assert_next(enum record_type type)
{
	assert_true(record_source_next(&f.records, &record));
	assert_int_equal(record.type, type);
}

static void assert_end(void)
{
	assert_false(record_source_next(&f.records, &record));
}

/* Returns the pid of a child that has ended and was waited for. */
static pid_t ended_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

TEST_WITH(set_up, tear_down, a_program_begins_with_its_name_and_mappings)
{
	agent_ring_write_start(&f.file, 3, 1, getpid(), "program", true);
	agent_ring_write_maps(&f.file, 3, getpid(),
			      "1000-3000 r-xp 00002000 fe:01 77     /bin/program\n"
			      "nonsense\n"
			      "8000-9000 r-xp 00000000 00:00 0      [vdso]\n");
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_int_equal(record.fork.parent_pid, 1);
	assert_next(RECORD_COMM);
	assert_true(record.comm.exec);
	assert_string_equal(record.comm.name, "program");
	assert_int_equal(record.pid, getpid());
	assert_next(RECORD_MMAP);
	assert_int_equal(record.mmap.start, 0x1000);
	assert_int_equal(record.mmap.length_bytes, 0x2000);
	assert_int_equal(record.mmap.offset, 0x2000);
	assert_int_equal(record.mmap.inode, 77);
	assert_true(record.mmap.executable);
	assert_true(record.mmap.is_claimed);
	assert_int_equal(record.mmap.claimant, geteuid());
	assert_string_equal(record.mmap.path, "/bin/program");
	assert_next(RECORD_MMAP);
	assert_string_equal(record.mmap.path, "[vdso]");
	assert_end();
	assert_int_equal(inside_source_counts(f.source).processes, 1);
}

static pid_t waiting_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST_WITH(set_up, tear_down, a_child_of_fork_has_its_parent)
{
	pid_t child;

	child = waiting_child();
	agent_ring_write_start(&f.file, 0, 1, getpid(), "parent", true);
	agent_ring_write_start(&f.file, 0, getpid(), child, "child", false);
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_next(RECORD_COMM);
	assert_next(RECORD_FORK);
	assert_int_equal(record.pid, child);
	assert_int_equal(record.fork.parent_pid, getpid());
	assert_next(RECORD_COMM);
	assert_false(record.comm.exec);
	assert_end();
	end_child(child);
}

TEST(records_of_a_process_that_does_not_share_the_file_are_dropped)
{
	pid_t stranger = waiting_child(); /* created before the file exists */
	size_t len;
	char *text;

	open_with(usual);
	agent_ring_write_start(&f.file, 0, getpid(), stranger, "claimed", false);
	agent_ring_write_maps(&f.file, 0, stranger,
			      "1000-3000 r-xp 00000000 fe:01 77 /bin/program\n");
	agent_ring_write_alloc(&f.file, 0, stranger, stranger, 0xabc, 0);
	agent_ring_write_free(&f.file, 0, getpid(), getpid(), 1);
	record_source_batch(&f.records);
	assert_next(RECORD_FREE);
	assert_end();
	assert_int_equal(inside_source_counts(f.source).strangers, 3);
	assert_null(inside_source_load_maps(f.source, stranger, &len));
	text = inside_source_load_maps(f.source, getpid(), &len);
	assert_non_null(text);
	free(text);
	end_child(stranger);
	close_all();
}

/* Starts a child that maps the file when it receives the descriptor, as a
 * program does after execve(). */
static pid_t late_member(int channel[2])
{
	char path[64], done = 0;
	pid_t pid;
	int fd;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel), 0);
	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(channel[1], &fd, sizeof(fd)) != sizeof(fd))
		_exit(1);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (mmap(NULL, INSIDE_FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ||
	    write(channel[1], &done, sizeof(done)) != sizeof(done))
		_exit(1);
	for (;;)
		pause();
}

TEST(a_stranger_that_begins_is_asked_about_again_at_once)
{
	int channel[2];
	pid_t child = late_member(channel);
	char done;

	open_with(usual);
	agent_ring_write_start(&f.file, 0, getpid(), child, "child", false);
	record_source_batch(&f.records);
	assert_end();
	assert_int_equal(write(channel[0], &f.file.fd, sizeof(f.file.fd)), sizeof(f.file.fd));
	assert_int_equal(read(channel[0], &done, sizeof(done)), sizeof(done));
	agent_ring_write_start(&f.file, 0, getpid(), child, "program", true);
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_next(RECORD_COMM);
	assert_string_equal(record.comm.name, "program");
	assert_end();
	end_child(child);
	close(channel[0]);
	close(channel[1]);
	close_all();
}

TEST(a_stranger_that_has_ended_stays_one)
{
	const struct timespec long_enough = {.tv_nsec = 60 * NS_PER_MS}; /* members.c: AGAIN_MS */
	pid_t stranger = waiting_child();

	open_with(usual);
	agent_ring_write_start(&f.file, 0, getpid(), stranger, "claimed", false);
	record_source_batch(&f.records);
	assert_end();
	end_child(stranger);
	nanosleep(&long_enough, NULL);
	agent_ring_write_alloc(&f.file, 0, stranger, stranger, 0xabc, 0);
	record_source_batch(&f.records);
	assert_end();
	assert_int_equal(inside_source_counts(f.source).strangers, 2);
	close_all();
}

/* Returns the line of /proc/self/maps for the first executable mapping of a
 * file. */
static char *own_line(void)
{
	CLEANUP(close_file) FILE *maps = fopen("/proc/self/maps", "re");
	char line[4200];

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, " r-xp ") && strchr(line, '/'))
			return xstrdup(line);
	return NULL;
}

TEST_WITH(set_up, tear_down, a_mapping_is_the_kernel_s_or_a_claim)
{
	CLEANUP(free_ptr) char *line = own_line();
	CLEANUP(free_ptr)
	char *lying = xasprintf("%.*s/etc/passwd\n", (int)(strchr(line, '/') - line), line);
	CLEANUP(free_ptr)
	char *text = xasprintf("1000-2000 r-xp 0 00:00 0 /without/an/inode\n"
			       "3000-4000 r-xp 0 fe:01 77 /claimed\n"
			       "5000-6000 r-xp 0 fe:01 77\n"
			       "%s%s",
			       lying, line);

	agent_ring_write_start(&f.file, 3, 1, getpid(), "program", true);
	agent_ring_write_maps(&f.file, 3, getpid(), text);
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_next(RECORD_COMM);
	assert_next(RECORD_MMAP);
	assert_string_equal(record.mmap.path, "/claimed");
	assert_true(record.mmap.is_claimed);
	assert_int_equal(record.mmap.claimant, geteuid());
	/* The kernel's name is used, whatever the program wrote. */
	for (unsigned i = 0; i < 2; i++) {
		assert_next(RECORD_MMAP);
		assert_false(record.mmap.is_claimed);
		assert_non_null(strstr(line, record.mmap.path));
	}
	assert_end();
}

TEST_WITH(set_up, tear_down, new_code_is_what_the_kernel_lists_there_or_anonymous)
{
	CLEANUP(free_ptr) char *line = own_line();
	uint64_t start = strtoull(line, NULL, 16);
	CLEANUP(free_ptr)
	char *text = xasprintf("1000-3000 r-xp 00000000 00:00 0\n"
			       "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:00 0\n",
			       start + 1, start + 2);

	agent_ring_write_start(&f.file, 3, 1, getpid(), "", true);
	agent_ring_write_maps(&f.file, 3, getpid(), text);
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_next(RECORD_MMAP);
	assert_int_equal(record.mmap.start, 0x1000);
	assert_int_equal(record.mmap.length_bytes, 0x2000);
	assert_string_equal(record.mmap.path, "");
	assert_false(record.mmap.is_claimed);
	assert_next(RECORD_MMAP);
	assert_int_equal(record.mmap.start, start);
	assert_non_null(strstr(line, record.mmap.path));
	assert_end();
}

TEST_WITH(set_up, tear_down, mappings_of_a_process_that_has_ended_are_nobody_s_claims)
{
	pid_t pid = ended_pid();

	agent_ring_write_start(&f.file, 0, 1, pid, "short", true);
	agent_ring_write_maps(&f.file, 0, pid,
			      "1000-3000 r-xp 00000000 fe:01 77 /bin/program\n"
			      "4000-5000 r-xp 00000000 00:00 0\n");
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_next(RECORD_COMM);
	assert_next(RECORD_MMAP);
	assert_true(record.mmap.is_claimed);
	assert_int_equal(record.mmap.claimant, 65534);
	assert_end();
}

/* Reads like a reader that needs much time per record. */
static unsigned read_slowly(unsigned next)
{
	while (record_source_next(&f.records, &record)) {
		uint64_t until_ns = clock_thread_cpu_ns() + 8 * NS_PER_MS;

		assert_int_equal(record.allocation.address, next++);
		while (clock_thread_cpu_ns() < until_ns)
			;
	}
	return next;
}

TEST_WITH(set_up, tear_down, a_batch_ends_after_a_time_and_the_next_one_goes_on)
{
	enum { RECORDS = 60 };
	unsigned read, before;
	uint64_t complete_ns;

	for (unsigned i = 0; i < RECORDS; i++)
		agent_ring_write_free(&f.file, i % INSIDE_RINGS, getpid(), getpid(), i);
	record_source_batch(&f.records);
	before = read_slowly(0);
	complete_ns = inside_source_complete_ns(f.source);
	assert_true(inside_source_is_cut(f.source));
	assert_true(before < RECORDS / 2);
	record_source_batch(&f.records);
	read = read_slowly(before);
	assert_true(read > before);
	assert_true(read < RECORDS);
	assert_true(inside_source_complete_ns(f.source) > complete_ns);
	assert_int_equal(inside_source_counts(f.source).skipped, 0);
	inside_source_skip(f.source);
	assert_int_equal(inside_source_counts(f.source).skipped, RECORDS - read);
	record_source_batch(&f.records);
	assert_end();
	assert_false(inside_source_is_cut(f.source));
}

TEST_WITH(set_up, tear_down, samples_have_registers_and_stack)
{
	agent_ring_write_cpu(&f.file, 0, getpid(), getpid(), 4000000);
	agent_ring_write_alloc(&f.file, 1, getpid(), getpid(), 0xabc, INSIDE_ALLOC_UNTRACKED);
	agent_ring_write_free(&f.file, 0, getpid(), getpid(), 0xabc);
	record_source_batch(&f.records);
	assert_next(RECORD_SAMPLE);
	assert_int_equal(record.sample.period, 4000000);
	assert_int_equal(record.sample.ip, 0x1234);
	assert_int_equal(record.sample.regs.mask, TEST_REGS_MASK);
	assert_int_equal(bytes_left(&record.sample.regs.values), 8 * TEST_REGISTERS);
	assert_int_equal(bytes_left(&record.sample.stack), 32);
	assert_int_equal(bytes_u64(&record.sample.stack), 11);
	assert_next(RECORD_ALLOC);
	assert_int_equal(record.allocation.address, 0xabc);
	assert_int_equal(record.allocation.size_bytes, 100);
	assert_int_equal(record.allocation.period_bytes, 512 << 10);
	assert_true(record.allocation.is_untracked);
	assert_false(record.allocation.is_mapping);
	assert_int_equal(record.sample.ip, 0x5678);
	assert_next(RECORD_FREE);
	assert_int_equal(record.allocation.address, 0xabc);
	assert_end();
}

TEST_WITH(set_up, tear_down, agent_rings_are_merged_by_time_up_to_the_batch_s_beginning)
{
	uint64_t last_ns = 0;

	for (unsigned i = 0; i < 500; i++)
		agent_ring_write_free(&f.file, i * 7 % INSIDE_RINGS, getpid(), getpid(), i);
	record_source_batch(&f.records);
	for (unsigned i = 0; i < 500; i++) {
		assert_next(RECORD_FREE);
		assert_int_equal(record.allocation.address, i);
		assert_true(record.time_ns >= last_ns);
		last_ns = record.time_ns;
	}
	assert_true(last_ns <= inside_source_complete_ns(f.source));
	agent_ring_write_free(&f.file, 0, getpid(), getpid(), 1);
	assert_end();
}

TEST_WITH(set_up, tear_down, a_limit_holds_later_records_back)
{
	uint64_t between_ns;

	agent_ring_write_free(&f.file, 0, getpid(), getpid(), 1);
	between_ns = clock_now_ns();
	agent_ring_write_free(&f.file, 0, getpid(), getpid(), 2);
	inside_source_limit(f.source, between_ns);
	record_source_batch(&f.records);
	assert_next(RECORD_FREE);
	assert_end();
	assert_int_equal(inside_source_complete_ns(f.source), between_ns);
	inside_source_limit(f.source, 0);
	record_source_batch(&f.records);
	assert_next(RECORD_FREE);
	assert_int_equal(record.allocation.address, 2);
	assert_end();
}

TEST_WITH(set_up, tear_down, a_agent_ring_is_read_around_its_end)
{
	for (unsigned i = 0; i < 100000; i++) {
		agent_ring_write_alloc(&f.file, 5, getpid(), getpid(), i, 0);
		record_source_batch(&f.records);
		assert_next(RECORD_ALLOC);
		assert_int_equal(record.allocation.address, i);
		assert_end();
	}
	assert_true(agent_ring_of(&f.file, 5)->head > 10 * INSIDE_RING_BYTES);
	assert_int_equal(agent_ring_of(&f.file, 5)->head, agent_ring_of(&f.file, 5)->tail);
	assert_int_equal(inside_source_counts(f.source).damaged, 0);
}

TEST_WITH(set_up, tear_down, a_new_thread_comes_with_its_name)
{
	pid_t child = waiting_child();

	/* Another process claims to be a thread of this one. It is not in
	 * /proc/PID/task. */
	agent_ring_write_cpu(&f.file, 0, getpid(), child, 1);
	agent_ring_write_cpu(&f.file, 0, getpid(), child, 1);
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_int_equal(record.fork.parent_pid, getpid());
	assert_int_equal(record.tid, child);
	assert_next(RECORD_SAMPLE);
	assert_next(RECORD_SAMPLE);
	assert_end();
	end_child(child);
}

TEST_WITH(set_up, tear_down, processes_that_have_ended_exit_after_their_records)
{
	pid_t pid = ended_pid();

	agent_ring_write_start(&f.file, 0, 1, pid, "short", true);
	record_source_batch(&f.records);
	assert_next(RECORD_FORK);
	assert_next(RECORD_COMM);
	assert_end();
	agent_ring_write_free(&f.file, 0, pid, pid, 1);
	record_source_disable(&f.records);
	record_source_batch(&f.records);
	assert_next(RECORD_FREE);
	assert_next(RECORD_EXIT);
	assert_int_equal(record.pid, pid);
	assert_int_equal(record.time_ns, inside_source_complete_ns(f.source));
	assert_end();
}

TEST(lost_records_are_told_once)
{
	assert_null(inside_file_make(&f.file));
	f.file.control->lost = 1000; /* by an earlier recording */
	f.source = inside_source_new(&(struct inside_options){.file = &f.file, .alloc_period = 1});
	f.records = inside_record_source(f.source);
	f.file.control->lost += 17;
	f.file.control->lost_frees += 3;
	record_source_batch(&f.records);
	assert_next(RECORD_LOST);
	assert_int_equal(record.lost.count, 17);
	assert_end();
	record_source_batch(&f.records);
	assert_end();
	assert_int_equal(inside_source_counts(f.source).lost, 17);
	assert_int_equal(inside_source_counts(f.source).lost_frees, 3);
	close_all();
}

TEST(loads_without_hooks_are_counted_since_the_file_was_made)
{
	assert_null(inside_file_make(&f.file));
	f.file.control->unhooked_loads = 1; /* before the recording */
	f.source = inside_source_new(&(struct inside_options){.file = &f.file, .alloc_period = 1});
	f.records = inside_record_source(f.source);
	f.file.control->unhooked_loads++;
	assert_int_equal(inside_source_counts(f.source).unhooked_loads, 2);
	close_all();
}

TEST_WITH(set_up, tear_down, the_library_records_what_is_asked_for)
{
	assert_int_equal(f.file.control->cpu_hz, 100);
	assert_int_equal(f.file.control->alloc_period, 1000);
	assert_int_equal(f.file.control->alloc_scale, INSIDE_SCALE / 1000);
	assert_int_equal(f.file.control->records_mappings, 1);
	inside_source_pause(f.source);
	/* Threads that start in a pause need their timers, but their samples
	 * are dropped. */
	assert_int_equal(f.file.control->cpu_hz, 100);
	assert_int_equal(f.file.control->alloc_period, 0);
	assert_int_equal(f.file.control->alloc_scale, 0);
	agent_ring_write_cpu(&f.file, 0, getpid(), getpid(), 1);
	agent_ring_write_free(&f.file, 0, getpid(), getpid(), 1);
	record_source_batch(&f.records);
	assert_next(RECORD_FREE);
	assert_end();
	inside_source_resume(f.source);
	assert_int_equal(f.file.control->alloc_period, 1000);
	record_source_disable(&f.records);
	assert_int_equal(f.file.control->cpu_hz, 0);
	assert_int_equal(f.file.control->alloc_period, 0);
	assert_int_equal(f.file.control->records_mappings, 0);
}

TEST(allocations_alone_are_given_out_if_no_more_is_wanted)
{
	open_with((struct inside_options){
		.alloc_period = 1, .allocations_only = true, .pc_bit = TEST_PC_BIT});
	assert_int_equal(f.file.control->records_mappings, 0);
	agent_ring_write_start(&f.file, 0, 1, getpid(), "program", true);
	agent_ring_write_maps(&f.file, 0, getpid(), "1000-3000 r-xp 0 fe:01 77 /bin/program\n");
	agent_ring_write_cpu(&f.file, 0, getpid(), getpid(), 1);
	agent_ring_write_alloc(&f.file, 0, getpid(), getpid(), 1, 0);
	record_source_batch(&f.records);
	assert_next(RECORD_ALLOC);
	assert_end();
	close_all();
}

TEST(only_chosen_processes_and_their_children_are_kept)
{
	const pid_t chosen = getpid();
	struct inside_options options = usual;
	pid_t child, grandchild, other;

	options.pids = &chosen;
	options.pid_count = 1;
	options.allocations_only = true;
	open_with(options);
	child = waiting_child();
	grandchild = waiting_child();
	other = waiting_child();
	agent_ring_write_free(&f.file, 0, child, child, 1);
	agent_ring_write_start(&f.file, 0, chosen, child, "child", false);
	agent_ring_write_free(&f.file, 0, child, child, 2);
	agent_ring_write_start(&f.file, 0, child, grandchild, "grandchild", false);
	agent_ring_write_free(&f.file, 0, grandchild, grandchild, 3);
	agent_ring_write_free(&f.file, 0, chosen, chosen, 4);
	agent_ring_write_free(&f.file, 0, other, other, 5);
	record_source_batch(&f.records);
	for (unsigned i = 2; i <= 4; i++) {
		assert_next(RECORD_FREE);
		assert_int_equal(record.allocation.address, i);
	}
	assert_end();
	end_child(child);
	end_child(grandchild);
	end_child(other);
	close_all();
}

TEST_WITH(set_up, tear_down, a_agent_ring_that_makes_no_sense_is_emptied)
{
	struct inside_free future = {.header = header_of(INSIDE_FREE, 0, getpid(), getpid())};

	/* More than an agent ring can hold. */
	agent_ring_of(&f.file, 0)->head = 3 * INSIDE_RING_BYTES;
	/* The position goes backwards. */
	agent_ring_of(&f.file, 1)->head = (uint64_t)-8;
	/* A record of length 0. */
	agent_ring_of(&f.file, 2)->head = 64;
	/* A record that is longer than the data. */
	memcpy(agent_ring_bytes(&f.file, 3), &(uint32_t){1000}, 4);
	agent_ring_of(&f.file, 3)->head = 64;
	/* A record with a time in the future, which would delay all records
	 * after it. */
	future.header.time_ns = clock_now_ns() + 1000 * NS_PER_SECOND;
	agent_ring_write(&f.file, 4, &future, sizeof(future));
	/* A thread that cannot exist. */
	agent_ring_write_free(&f.file, 5, -1, -1, 1);
	/* A sample without room for its registers. */
	agent_ring_write(
		&f.file, 6,
		&(struct inside_cpu){.header = header_of(INSIDE_CPU, 0, getpid(), getpid()),
				     .stack.regs_mask = UINT64_MAX},
		sizeof(struct inside_cpu));
	/* A type that does not exist. */
	agent_ring_write(&f.file, 7,
			 &(struct inside_free){.header = header_of(77, 0, getpid(), getpid())},
			 sizeof(struct inside_free));
	record_source_batch(&f.records);
	assert_end();
	assert_int_equal(inside_source_counts(f.source).damaged, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(agent_ring_of(&f.file, i)->head, agent_ring_of(&f.file, i)->tail);
	/* The agent rings are used again. */
	for (unsigned i = 0; i < 8; i++)
		agent_ring_write_free(&f.file, i, getpid(), getpid(), i);
	record_source_batch(&f.records);
	for (unsigned i = 0; i < 8; i++) {
		assert_next(RECORD_FREE);
		assert_int_equal(record.allocation.address, i);
	}
	assert_end();
}

TEST_WITH(set_up, tear_down, the_agent_ring_of_a_dead_owner_is_freed)
{
	agent_ring_of(&f.file, 0)->owner = (uint32_t)ended_pid();
	agent_ring_of(&f.file, 1)->owner = (uint32_t)getpid();
	record_source_disable(&f.records); /* then each batch checks for dead owners */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_not_equal(agent_ring_of(&f.file, 0)->owner, 0);
		record_source_batch(&f.records);
	}
	assert_int_equal(agent_ring_of(&f.file, 0)->owner, 0);
	assert_int_equal(agent_ring_of(&f.file, 1)->owner, getpid());
}

TEST(the_file_of_a_process_is_found)
{
	struct inside_file file, found;
	struct error *err = inside_file_find(getpid(), &found);

	assert_int_equal(error_number(err), ENOENT);
	error_free(err);
	assert_null(inside_file_make(&file));
	assert_null(inside_file_find(getpid(), &found));
	file.control->alloc_period = 12345;
	assert_int_equal(found.control->alloc_period, 12345);
	inside_file_close(&found);
	inside_file_close(&file);
}

TEST(a_file_of_another_version_is_refused)
{
	struct inside_file file, found;
	struct error *err;

	assert_null(inside_file_make(&file));
	file.control->version++;
	err = inside_file_find(getpid(), &found);
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), "another version"));
	error_free(err);
	inside_file_close(&file);
}

TEST(a_file_that_could_shrink_is_refused)
{
	CLEANUP(close_fd) int fd = memfd_create(INSIDE_FILE_NAME, MFD_CLOEXEC);
	struct inside_file found;
	struct error *err;

	assert_int_equal(ftruncate(fd, (off_t)INSIDE_FILE_BYTES), 0);
	err = inside_file_find(getpid(), &found);
	assert_non_null(err);
	error_free(err);
}

TEST(only_one_claims_a_file)
{
	struct inside_file file, found;

	assert_null(inside_file_make(&file));
	assert_null(inside_file_find(getpid(), &found));
	assert_true(inside_file_claim(&file));
	assert_false(inside_file_claim(&found));
	inside_file_close(&file);
	assert_true(inside_file_claim(&found));
	inside_file_close(&found);
}
