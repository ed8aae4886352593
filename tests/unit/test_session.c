/*
 * Records go in as an array, a profile comes out: on made-up processes, with neither root nor perf.
 * Files that they map are of this machine.
 */
#include "session.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

enum { PAGE = 4096 };
/* Where nothing of ours is: a pid that no machine gives. */
enum { PID = 1 << 29, CHILD, THREAD };

struct fixture {
	struct spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	uint64_t now_ns;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->spaces = spaces_new("/proc");
	f->names = names_new("/proc");
	f->unwinder = unwinder_new(f->spaces, arch_native());
	f->profile = profile_new();
	profile_add_event(f->profile, &(struct profile_event){.counts_ns = true});
	f->session = session_new(f->spaces, f->names, f->unwinder, arch_native(), f->profile);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	session_free(f->session);
	profile_free(f->profile);
	unwinder_free(f->unwinder);
	names_free(f->names);
	spaces_free(f->spaces);
	free(f);
	return 0;
}

/* Each record is a microsecond later than the one before. */
static void feed(struct fixture *f, struct record record)
{
	record.time_ns = f->now_ns += 1000;
	session_feed(f->session, &record);
}

static struct record mapped(pid_t pid, const char *path, uint64_t start, uint64_t pages)
{
	return (struct record){
		.type = RECORD_MMAP,
		.pid = pid,
		.tid = pid,
		.mmap = {.start = start,
			 .length_bytes = pages * PAGE,
			 .executable = true,
			 .path = path},
	};
}

static struct record renamed(pid_t pid, pid_t tid, const char *name, bool exec)
{
	return (struct record){
		.type = RECORD_COMM, .pid = pid, .tid = tid, .comm = {.name = name, .exec = exec}};
}

static struct record forked(pid_t parent, pid_t pid, pid_t tid)
{
	return (struct record){.type = RECORD_FORK,
			       .pid = pid,
			       .tid = tid,
			       .fork = {.parent_pid = parent, .parent_tid = parent}};
}

static struct record exited(pid_t pid, pid_t tid)
{
	return (struct record){.type = RECORD_EXIT, .pid = pid, .tid = tid};
}

/* At an address of user space, without registers or chain. */
static struct record sampled(pid_t pid, pid_t tid, uint64_t ip)
{
	return (struct record){
		.type = RECORD_SAMPLE, .pid = pid, .tid = tid, .sample = {.ip = ip, .period = 10}};
}

static void put_frame(const struct profile *profile, frame_id id, FILE *out)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	const struct profile_module *module = profile_get_module(profile, frame.module);
	const struct profile_function *function;

	if (frame.line_count) { /* a note */
		function = profile_get_function(profile, frame.lines[0].function);
		fputs(profile_string(profile, function->name), out);
		return;
	}
	fprintf(out, "%s+%" PRIx64 "%s", profile_string(profile, module->path), frame.offset,
		frame.is_return_address ? "r" : "");
}

static void put_stack(const struct profile *profile, stack_id id, FILE *out)
{
	struct profile_stack stack = profile_get_stack(profile, id);

	if (stack.parent != STACK_EMPTY) {
		put_stack(profile, stack.parent, out);
		fputc(' ', out);
	}
	put_frame(profile, stack.frame, out);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One line a cell: "process/thread: root … leaf ×samples", sorted. */
static void assert_profile(struct fixture *f, const char *expected)
{
	size_t count = profile_cell_count(f->profile);
	char **lines = xcalloc(count, sizeof(*lines));
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *all;

	session_finish(f->session);
	for (size_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(f->profile, i);
		const struct profile_thread *thread = profile_get_thread(f->profile, cell->thread);
		FILE *out = open_memstream(&lines[i], &len);

		fprintf(out, "%s/%s: ", profile_string(f->profile, thread->process),
			profile_string(f->profile, thread->name));
		put_stack(f->profile, cell->stack, out);
		fprintf(out, " x%" PRIu64 "\n", cell->samples);
		fclose(out);
	}
	qsort(lines, count, sizeof(*lines), by_text);
	all = open_memstream(&text, &len);
	for (size_t i = 0; i < count; i++) {
		fputs(lines[i], all);
		free(lines[i]);
	}
	fclose(all);
	free(lines);
	assert_string_equal(text, expected);
}

static void a_stack_runs_from_the_outermost_user_frame_to_the_innermost_of_the_kernel(void **state)
{
	struct fixture *f = *state;
	static const uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81000020};
	static const uint64_t user[] = {0x1010, 0x1120, 0x1230};
	struct record record = sampled(PID, PID, kernel[0]);

	record.sample.in_kernel = true;
	record.sample.kernel_chain = bytes_of(kernel, sizeof(kernel));
	record.sample.user_chain = bytes_of(user, sizeof(user));
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, record);
	feed(f, record);
	assert_profile(f, "app/app: /app+230r /app+120r /app+10 "
			  "[kernel.kallsyms]+ffffffff81000020r "
			  "[kernel.kallsyms]+ffffffff81000010 x2\n");
	assert_int_equal(session_counts(f->session)->samples, 2);
	assert_int_equal(profile_get_cell(f->profile, 0)->weight, 20);
}

static void without_a_chain_the_instruction_pointer_is_all(void **state)
{
	struct fixture *f = *state;
	struct record in_kernel = sampled(PID, PID, 0xffffffff81000010);

	in_kernel.sample.in_kernel = true;
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, in_kernel);
	assert_profile(f, "app/app: /app+10 x1\n"
			  "app/app: [kernel.kallsyms]+ffffffff81000010 x1\n");
}

static void what_frame_pointers_find_behind_an_address_that_is_no_code_is_not_believed(void **state)
{
	struct fixture *f = *state;
	static const uint64_t astray[] = {0x1010, 0x1120, 0x7777777, 0x1230};
	static const uint64_t to_the_root[] = {0x1010, 0x1120, 0};
	struct record record = sampled(PID, PID, astray[0]);

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	record.sample.user_chain = bytes_of(astray, sizeof(astray));
	feed(f, record);
	record.sample.user_chain = bytes_of(to_the_root, sizeof(to_the_root));
	feed(f, record);
	assert_profile(f, "app/app: /app+120r /app+10 x1\n"
			  "app/app: [truncated] /app+120r /app+10 x1\n");
	assert_int_equal(session_counts(f->session)->truncated, 1);
}

static void a_return_address_behind_the_end_of_a_mapping_belongs_to_it(void **state)
{
	struct fixture *f = *state;
	static const uint64_t user[] = {0x5010, 0x2000}; /* the call is the last instruction */
	struct record record = sampled(PID, PID, user[0]);

	record.sample.user_chain = bytes_of(user, sizeof(user));
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, mapped(PID, "/lib", 0x5000, 1));
	feed(f, record);
	assert_profile(f, "app/app: /app+1000r /lib+10 x1\n");
}

/* At 0x1010, whatever the record's ip. */
static uint64_t dumped_register(unsigned perf_number, uint64_t sp)
{
	const struct arch *arch = arch_native();
	unsigned dwarf = arch->perf_to_dwarf[perf_number];

	if (dwarf == PERF_REG_PC)
		return 0x1010;
	/* A frame pointer into what lies beyond the copy. */
	return dwarf == arch->sp ? sp : dwarf == arch->fp ? sp + PAGE : 0;
}

static struct record with_registers(struct record record, uint64_t sp, uint64_t values[64])
{
	struct record_regs *regs = &record.sample.regs;
	size_t count = 0;

	regs->abi = 2;
	regs->mask = arch_native()->perf_mask;
	for (unsigned i = 0; i < 64; i++)
		if (regs->mask >> i & 1)
			values[count++] = dumped_register(i, sp);
	regs->values = bytes_of(values, count * sizeof(*values));
	return record;
}

static void a_stack_that_was_cut_off_begins_with_a_note_and_is_counted(void **state)
{
	struct fixture *f = *state;
	static const unsigned char stack[64];
	uint64_t values[64];
	struct record record = with_registers(sampled(PID, PID, 0x1010), 0x7000, values);

	record.sample.stack = bytes_of(stack, sizeof(stack));
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, record);
	assert_profile(f, "app/app: [truncated] /app+10 x1\n");
	assert_int_equal(session_counts(f->session)->truncated, 1);
	assert_int_equal(session_counts(f->session)->user_stacks, 1);
}

static void a_process_of_32_bits_is_unwound_by_words_of_32_bits_and_counted(void **state)
{
	struct fixture *f = *state;
	const uint32_t stack[] = {0, 0x1024}; /* what the frame pointer points at */
	const unsigned ebp = 6;
	uint64_t values[64];
	struct record record = with_registers(sampled(PID, PID, 0x1010), 0x7000, values);

	values[ebp] = 0x7000;
	record.sample.regs.abi = 1;
	record.sample.stack = bytes_of(stack, sizeof(stack));
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, record);
	assert_profile(f, "app/app: /app+24r /app+10 x1\n");
	assert_int_equal(session_counts(f->session)->compat, 1);
	assert_int_equal(session_counts(f->session)->truncated, 0);
}

static void a_thread_of_the_kernel_has_no_user_part(void **state)
{
	struct fixture *f = *state;
	struct record record = sampled(PID, PID, 0xffffffff81000010);

	record.sample.in_kernel = true;
	record.sample.regs.mask = arch_native()->perf_mask;
	feed(f, renamed(PID, PID, "kworker/0:1", false));
	feed(f, record);
	assert_profile(f, "kworker/0:1/kworker/0:1: [kernel.kallsyms]+ffffffff81000010 x1\n");
	assert_int_equal(session_counts(f->session)->user_stacks, 0);
}

static void in_the_midst_of_an_exec_there_is_no_user_part(void **state)
{
	struct fixture *f = *state;
	uint64_t values[64];
	struct record record = with_registers(sampled(PID, PID, 0xffffffff81000010), 0x7000,
					      values);

	record.sample.in_kernel = true;
	feed(f, mapped(PID, "/bin/sh", 0x1000, 1));
	feed(f, renamed(PID, PID, "app", true));
	feed(f, record);
	assert_profile(f, "app/app: [kernel.kallsyms]+ffffffff81000010 x1\n");
	assert_int_equal(session_counts(f->session)->truncated, 0);
}

static void samples_before_and_after_an_exec_are_in_different_programs(void **state)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "sh", false));
	feed(f, mapped(PID, "/bin/sh", 0x1000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, renamed(PID, PID, "app", true));
	feed(f, sampled(PID, PID, 0x1010)); /* nothing is mapped yet */
	feed(f, mapped(PID, "/bin/app", 0x1000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	assert_profile(f, "app/app: /bin/app+10 x1\n"
			  "app/app: [unknown]+1010 x1\n"
			  "sh/sh: /bin/sh+10 x1\n");
}

static void a_child_has_the_mappings_and_the_name_of_its_parent(void **state)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, forked(PID, CHILD, CHILD));
	feed(f, sampled(CHILD, CHILD, 0x1010));
	feed(f, exited(PID, PID));
	feed(f, sampled(CHILD, CHILD, 0x1010));
	assert_profile(f, "app/app: /app+10 x2\n");
}

static void a_thread_shares_the_mappings_and_has_a_name_of_its_own(void **state)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, forked(PID, PID, THREAD));
	feed(f, sampled(PID, THREAD, 0x1010));
	feed(f, renamed(PID, THREAD, "worker", false));
	feed(f, sampled(PID, THREAD, 0x1010));
	assert_profile(f, "app/app: /app+10 x1\n"
			  "app/worker: /app+10 x1\n");
}

static void threads_outlive_the_first_one(void **state)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, forked(PID, PID, THREAD));
	feed(f, exited(PID, PID));
	feed(f, sampled(PID, THREAD, 0x1010));
	assert_profile(f, "app/app: /app+10 x1\n");
}

static void threads_that_were_there_before_outlive_the_first_one(void **state)
{
	struct fixture *f = *state;
	struct location location;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	session_add_thread(f->session, PID, PID);
	session_add_thread(f->session, PID, THREAD);
	session_add_thread(f->session, PID, THREAD); /* as the kernel may tell, too */
	feed(f, exited(PID, PID));
	feed(f, renamed(PID, THREAD, "worker", false));
	feed(f, sampled(PID, THREAD, 0x1010));
	assert_profile(f, "app/worker: /app+10 x1\n");
	feed(f, exited(PID, THREAD));
	assert_false(spaces_locate(f->spaces, PID, f->now_ns, 0x1010, &location));
}

static void a_process_is_over_when_its_last_thread_is_whichever_that_is(void **state)
{
	struct fixture *f = *state;
	struct location location;

	feed(f, forked(PID, CHILD, CHILD));
	feed(f, mapped(CHILD, "/app", 0x1000, 1));
	feed(f, forked(CHILD, CHILD, THREAD));
	feed(f, exited(CHILD, CHILD));
	feed(f, exited(CHILD, THREAD));
	assert_true(spaces_locate(f->spaces, CHILD, f->now_ns - 1, 0x1010, &location));
	assert_false(spaces_locate(f->spaces, CHILD, f->now_ns, 0x1010, &location));
}

static void what_ended_is_forgotten_with_its_name(void **state)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, forked(PID, CHILD, CHILD));
	feed(f, forked(CHILD, CHILD, THREAD));
	feed(f, renamed(CHILD, THREAD, "helper", false));
	feed(f, exited(CHILD, CHILD));
	session_forget(f->session, f->now_ns + 1);
	assert_string_equal(names_get(f->names, CHILD, CHILD), "app");
	feed(f, exited(CHILD, THREAD));
	session_forget(f->session, f->now_ns);
	assert_string_equal(names_get(f->names, CHILD, THREAD), "helper");
	session_forget(f->session, f->now_ns + 1);
	assert_int_not_equal(strcmp(names_get(f->names, CHILD, THREAD), "helper"), 0);
	assert_int_not_equal(strcmp(names_get(f->names, CHILD, CHILD), "app"), 0);
	assert_string_equal(names_get(f->names, PID, PID), "app");
}

static void a_pid_that_is_used_again_starts_anew(void **state)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "one", false));
	feed(f, mapped(PID, "/one", 0x1000, 1));
	feed(f, exited(PID, PID));
	feed(f, renamed(CHILD, CHILD, "parent", false));
	feed(f, mapped(CHILD, "/two", 0x1000, 1));
	feed(f, forked(CHILD, PID, PID));
	feed(f, sampled(PID, PID, 0x1010));
	assert_profile(f, "parent/parent: /two+10 x1\n");
}

static void data_is_no_code(void **state)
{
	struct fixture *f = *state;
	struct record data = mapped(PID, "/data", 0x1000, 1);

	data.mmap.executable = false;
	feed(f, renamed(PID, PID, "app", false));
	feed(f, data);
	feed(f, sampled(PID, PID, 0x1010));
	assert_profile(f, "app/app: [unknown]+1010 x1\n");
}

static void idle_cpus_do_not_count(void **state)
{
	struct fixture *f = *state;
	struct record idle = sampled(0, 0, 0xffffffff81000010);

	idle.sample.in_kernel = true;
	feed(f, idle);
	assert_profile(f, "");
	assert_int_equal(session_counts(f->session)->samples, 0);
}

static void what_the_kernel_lost_or_held_back_is_counted(void **state)
{
	struct fixture *f = *state;

	feed(f, (struct record){.type = RECORD_LOST, .lost.count = 5});
	feed(f, (struct record){.type = RECORD_LOST, .lost.count = 2});
	feed(f, (struct record){.type = RECORD_THROTTLE});
	assert_int_equal(session_counts(f->session)->lost, 7);
	assert_int_equal(session_counts(f->session)->throttled, 1);
}

static const char *main_path(struct fixture *f)
{
	const char *path = NULL;

	session_finish(f->session);
	for (uint32_t i = 0; i < profile_module_count(f->profile); i++) {
		const struct profile_module *module = profile_get_module(f->profile, i);

		if (module->is_main) {
			assert_null(path);
			path = profile_string(f->profile, module->path);
		}
	}
	return path;
}

static void the_main_module_is_the_last_program_that_the_command_becomes(void **state)
{
	struct fixture *f = *state;

	session_set_main_process(f->session, PID);
	feed(f, renamed(PID, PID, "sh", true));
	feed(f, mapped(PID, "/bin/sh", 0x1000, 1));
	feed(f, mapped(PID, "/lib/ld.so", 0x5000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, renamed(PID, PID, "app", true));
	feed(f, mapped(PID, "/bin/app", 0x1000, 1));
	feed(f, mapped(PID, "/lib/ld.so", 0x5000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, sampled(PID, PID, 0x5010));
	assert_string_equal(main_path(f), "/bin/app");
}

static void of_a_running_process_the_main_module_is_the_file_it_runs(void **state)
{
	struct fixture *f = *state;

	feed(f, mapped(PID, "/lib/ld.so", 0x5000, 1));
	feed(f, mapped(PID, "/bin/app", 0x1000, 1));
	session_set_main_path(f->session, "/bin/app");
	feed(f, mapped(PID, "/lib/plugin.so", 0x9000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, sampled(PID, PID, 0x9010));
	assert_string_equal(main_path(f), "/bin/app");
}

static void modules_of_frames_are_described_and_no_others(void **state)
{
	struct fixture *f = *state;
	struct record own = mapped(getpid(), "/proc/self/exe", 0x1000, 1);
	char path[PATH_MAX] = "";
	struct stat st;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, &st), 0);
	own.mmap.path = path;
	own.mmap.inode = st.st_ino;
	own.mmap.device_major = major(st.st_dev);
	own.mmap.device_minor = minor(st.st_dev);
	feed(f, mapped(getpid(), "/unused", 0x5000, 1));
	feed(f, own);
	feed(f, sampled(getpid(), getpid(), 0x1010));
	session_finish(f->session);
	for (uint32_t i = 0; i < profile_module_count(f->profile); i++) {
		const struct profile_module *module = profile_get_module(f->profile, i);

		assert_string_not_equal(profile_string(f->profile, module->path), "/unused");
		if (strcmp(profile_string(f->profile, module->path), path) != 0)
			continue;
		assert_int_equal(module->kind, PROFILE_MODULE_FILE);
		assert_int_equal(module->segment_count, 1);
		assert_true(strlen(profile_string(f->profile, module->build_id)) >= 16);
		return;
	}
	fail_msg("%s is not described", path);
}

static void assert_marker(const struct fixture *f, uint64_t index, enum profile_marker_kind kind,
			  const char *text)
{
	const struct profile_marker *marker = profile_get_marker(f->profile, index);

	assert_int_equal(marker->kind, kind);
	assert_string_equal(profile_string(f->profile, marker->text), text);
}

static void moments_and_markers_are_kept_where_they_are_wanted(void **state)
{
	struct fixture *f = *state;
	struct record on_other_cpu = sampled(PID, PID, 0x1010);

	on_other_cpu.cpu = 1;
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	assert_int_equal(profile_moment_count(f->profile), 0);
	profile_keep_moments(f->profile);
	feed(f, on_other_cpu);
	feed(f, forked(PID, CHILD, CHILD));
	feed(f, renamed(CHILD, CHILD, "tool", true));
	feed(f, (struct record){.type = RECORD_LOST, .lost.count = 7});
	feed(f, exited(CHILD, CHILD));
	assert_int_equal(profile_moment_count(f->profile), 1);
	assert_int_equal(profile_get_moment(f->profile, 0)->time_ns, 4000);
	assert_int_equal(profile_get_moment(f->profile, 0)->cell, 0);
	assert_int_equal(profile_get_moment(f->profile, 0)->cpu, 1);
	assert_int_equal(profile_marker_count(f->profile), 4);
	assert_marker(f, 0, PROFILE_MARKER_FORK, "app");
	assert_marker(f, 1, PROFILE_MARKER_EXEC, "tool");
	assert_int_equal(profile_get_marker(f->profile, 2)->count, 7);
	assert_marker(f, 3, PROFILE_MARKER_EXIT, "tool");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_stack_runs_from_the_outermost_user_frame_to_the_innermost_of_the_kernel),
		TEST(moments_and_markers_are_kept_where_they_are_wanted),
		TEST(without_a_chain_the_instruction_pointer_is_all),
		TEST(what_frame_pointers_find_behind_an_address_that_is_no_code_is_not_believed),
		TEST(a_return_address_behind_the_end_of_a_mapping_belongs_to_it),
		TEST(a_stack_that_was_cut_off_begins_with_a_note_and_is_counted),
		TEST(a_process_of_32_bits_is_unwound_by_words_of_32_bits_and_counted),
		TEST(a_thread_of_the_kernel_has_no_user_part),
		TEST(in_the_midst_of_an_exec_there_is_no_user_part),
		TEST(samples_before_and_after_an_exec_are_in_different_programs),
		TEST(a_child_has_the_mappings_and_the_name_of_its_parent),
		TEST(a_thread_shares_the_mappings_and_has_a_name_of_its_own),
		TEST(threads_outlive_the_first_one),
		TEST(a_process_is_over_when_its_last_thread_is_whichever_that_is),
		TEST(threads_that_were_there_before_outlive_the_first_one),
		TEST(what_ended_is_forgotten_with_its_name),
		TEST(a_pid_that_is_used_again_starts_anew),
		TEST(data_is_no_code),
		TEST(idle_cpus_do_not_count),
		TEST(what_the_kernel_lost_or_held_back_is_counted),
		TEST(the_main_module_is_the_last_program_that_the_command_becomes),
		TEST(of_a_running_process_the_main_module_is_the_file_it_runs),
		TEST(modules_of_frames_are_described_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
