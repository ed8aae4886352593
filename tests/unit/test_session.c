/*
 * Feeds an array of records and checks the profile. The processes are
 * synthetic, so the tests need neither root nor perf. The mapped files are
 * files of this machine.
 */
#include "record/session.h"

#include "base/alloc.h"
#include "lacking.h"
#include "record/interrupt_code.h"
#include "record/latencies.h"
#include "ucontext_regs.h"
#include "unit_test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { PAGE = 4096, STACK_BYTES = 1 << 18 };
/* A pid that no machine assigns, so it has no files of ours. */
enum { PID = 1 << 29, CHILD, THREAD };

struct fixture {
	struct address_spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	uint64_t now_ns;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->spaces = address_spaces_new("/proc");
	f->names = names_new("/proc");
	f->unwinder = unwinder_new(f->spaces, arch_native(), false);
	f->profile = profile_new();
	f->session = session_new(f->spaces, f->names, f->unwinder, arch_native(), f->profile);
	session_add_event(f->session, &(struct profile_event){.kind = VALUE_CPU_TIME});
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
	address_spaces_free(f->spaces);
	free(f);
	return 0;
}

/* Adds a record that is a microsecond later than the previous one. */
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

/* Makes a sample at an address of user space, without registers or call chain. */
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
	struct profile_stack stack = profile_stacks(profile).items[id];

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

/* Returns a sorted line per sample: "process/thread: root … leaf ×samples". The
 * caller frees it. */
static char *profile_text(struct fixture *f)
{
	size_t count = profile_samples(f->profile).count;
	char **lines = xcalloc(count, sizeof(*lines));
	char *text = NULL;
	size_t len;
	FILE *all;

	session_finish(f->session);
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &profile_samples(f->profile).items[i];
		const struct profile_thread *thread = profile_thread_of(f->profile, sample->labels);
		FILE *out = open_memstream(&lines[i], &len);

		fprintf(out, "%s/%s: ", profile_string(f->profile, thread->process),
			profile_string(f->profile, thread->name));
		put_stack(f->profile, sample->stack, out);
		fprintf(out, " x%" PRIu64 "\n", sample->samples);
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
	return text;
}

static void assert_profile(struct fixture *f, const char *expected)
{
	CLEANUP(free_ptr) char *text = profile_text(f);

	assert_string_equal(text, expected);
}

TEST_WITH(set_up, tear_down,
	  a_stack_runs_from_the_outermost_user_frame_to_the_innermost_of_the_kernel)
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
	assert_int_equal(session_counts(f->session)->quality.samples, 2);
	assert_int_equal(profile_samples(f->profile).items[0].weight, 20);
}

static struct interrupt_code *kernel_symbols(void)
{
	static const char text[] = "ffffffff81000100 T asm_common_interrupt\n"
				   "ffffffff81000200 T do_idle\n"
				   "ffffffff81000300 T rest_init\n";
	CLEANUP(close_file)
	FILE *file = fmemopen((void *)(uintptr_t)text, sizeof(text) - 1, "r");

	return interrupt_code_read(file);
}

static struct record sampled_idle(const uint64_t *chain, size_t count, unsigned event)
{
	struct record record = sampled(0, 0, chain[0]);

	record.sample.event = event;
	record.sample.in_kernel = true;
	record.sample.kernel_chain = bytes_of(chain, count * sizeof(*chain));
	return record;
}

static const uint64_t idle_loop[] = {0xffffffff81000210, 0xffffffff81000310};
static const uint64_t idle_interrupt[] = {0xffffffff81900000, 0xffffffff81000120,
					  0xffffffff81000210};

TEST_WITH(set_up, tear_down, a_clock_leaves_out_the_idle_loop_and_keeps_its_interrupts)
{
	struct fixture *f = *state;

	session_set_interrupt_code(f->session, kernel_symbols());
	feed(f, sampled_idle(idle_loop, 2, 0));
	feed(f, sampled_idle(idle_interrupt, 3, 0));
	feed(f, sampled_idle(idle_loop, 2, 0));
	assert_profile(f, "[idle]/[idle]: [kernel.kallsyms]+ffffffff81000210r "
			  "[kernel.kallsyms]+ffffffff81000120r "
			  "[kernel.kallsyms]+ffffffff81900000 x1\n");
	assert_int_equal(session_counts(f->session)->quality.samples, 1);
	assert_int_equal(session_counts(f->session)->quality.idle, 2);
}

TEST_WITH(set_up, tear_down, without_symbols_of_the_kernel_a_clock_leaves_out_all_of_the_idle_task)
{
	struct fixture *f = *state;

	feed(f, sampled_idle(idle_interrupt, 3, 0));
	assert_profile(f, "");
	assert_int_equal(session_counts(f->session)->quality.samples, 0);
	assert_int_equal(session_counts(f->session)->quality.idle, 1);
}

TEST_WITH(set_up, tear_down, occurrences_on_an_idle_cpu_all_count)
{
	struct fixture *f = *state;

	session_add_event(f->session, &(struct profile_event){.name = 1});
	session_count_occurrences(f->session, 1);
	feed(f, sampled_idle(idle_loop, 2, 1));
	feed(f, sampled_idle(idle_loop, 2, 0));
	assert_profile(f, "[idle]/[idle]: [kernel.kallsyms]+ffffffff81000310r "
			  "[kernel.kallsyms]+ffffffff81000210 x1\n");
	assert_int_equal(session_counts(f->session)->quality.idle, 1);
}

TEST_WITH(set_up, tear_down, idle_cpus_are_the_same_to_the_next_profile)
{
	struct fixture *f = *state;
	struct profile *next = profile_new();

	session_set_interrupt_code(f->session, kernel_symbols());
	session_add_event(
		f->session,
		&(struct profile_event){.name = strtab_add(profile_strings(f->profile), "probe")});
	session_count_occurrences(f->session, 1);
	session_change_profile(f->session, next);
	profile_free(f->profile);
	f->profile = next;
	feed(f, sampled_idle(idle_interrupt, 3, 0));
	feed(f, sampled_idle(idle_loop, 2, 0));
	feed(f, sampled_idle(idle_loop, 2, 1));
	assert_int_equal(session_counts(f->session)->quality.samples, 2);
	assert_int_equal(session_counts(f->session)->quality.idle, 1);
}

TEST_WITH(set_up, tear_down, without_a_chain_the_instruction_pointer_is_all)
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

TEST_WITH(set_up, tear_down, a_frame_pointer_chain_ends_at_an_address_outside_of_code)
{
	struct fixture *f = *state;
	static const uint64_t wrong[] = {0x1010, 0x1120, 0x7777777, 0x1230};
	static const uint64_t to_the_root[] = {0x1010, 0x1120, 0};
	struct record record = sampled(PID, PID, wrong[0]);

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	record.sample.user_chain = bytes_of(wrong, sizeof(wrong));
	feed(f, record);
	record.sample.user_chain = bytes_of(to_the_root, sizeof(to_the_root));
	feed(f, record);
	assert_profile(f, "app/app: /app+120r /app+10 x1\n"
			  "app/app: [truncated] /app+120r /app+10 x1\n");
	assert_int_equal(session_counts(f->session)->quality.truncated, 1);
}

/* Makes a sample with distinct callers and the same leaf. */
static struct record sampled_below(pid_t pid, uint64_t callers[3])
{
	struct record record = sampled(pid, pid, callers[0]);

	record.sample.user_chain = bytes_of(callers, 3 * sizeof(*callers));
	return record;
}

TEST_WITH(set_up, tear_down, a_process_of_ever_new_stacks_stops_adding_long_ones_at_the_ceiling)
{
	struct fixture *f = *state;
	const pid_t other = PID + 1;
	CLEANUP(free_ptr) char *text = NULL;
	struct profile_sample last;
	uint32_t count;
	size_t len;
	FILE *out;

	session_set_ceiling(f->session, 1000);
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 16));
	feed(f, renamed(other, other, "other", false));
	feed(f, mapped(other, "/other", 0x1000, 16));
	for (uint64_t i = 0; i < 1000; i++)
		feed(f, sampled_below(PID, (uint64_t[]){0x1010, 0x2000 + i, 0x8000}));
	count = profile_stacks(f->profile).count;
	assert_in_range(count, 1000, 1010);
	assert_in_range(session_counts(f->session)->quality.shortened, 500, 510);
	/* The known part of the stack and the leaf are kept. */
	session_finish(f->session);
	last = profile_samples(f->profile).items[profile_samples(f->profile).count - 1];
	out = open_memstream(&text, &len);
	put_stack(f->profile, last.stack, out);
	fclose(out);
	assert_string_equal(text, "/app+7000r [frames left out] /app+10");
	assert_int_equal(last.samples, session_counts(f->session)->quality.shortened);
	/* The others may use the rest. */
	feed(f, sampled_below(other, (uint64_t[]){0x1010, 0x1020, 0x1030}));
	assert_int_equal(profile_stacks(f->profile).count, count + 3);
}

TEST_WITH(set_up, tear_down, what_a_process_has_added_to_a_former_profile_does_not_count)
{
	struct fixture *f = *state;
	const pid_t other = PID + 1;
	struct profile *next = profile_new();
	uint32_t count;

	session_set_ceiling(f->session, 1000);
	feed(f, mapped(PID, "/app", 0x1000, 16));
	feed(f, mapped(other, "/other", 0x1000, 16));
	for (uint64_t i = 0; i < 1000; i++)
		feed(f, sampled_below(PID, (uint64_t[]){0x1010, 0x2000 + i, 0x8000}));
	session_change_profile(f->session, next);
	profile_free(f->profile);
	f->profile = next;
	for (uint64_t i = 0; i < 1000; i++)
		feed(f, sampled_below(other, (uint64_t[]){0x1010, 0x2000 + i, 0x8000}));
	count = profile_stacks(next).count;
	assert_in_range(count, 1000, 1010);
	feed(f, sampled_below(PID, (uint64_t[]){0x1010, 0x1020, 0x1030}));
	assert_int_equal(profile_stacks(next).count, count + 3);
}

/* Makes a sample with branches of three words each: from, to, flags. */
static struct record branching(pid_t pid, const uint64_t *branches, size_t count)
{
	struct record record = sampled(pid, pid, 0x1010);

	record.sample.branches = bytes_of(branches, count * 3 * sizeof(*branches));
	return record;
}

TEST_WITH(set_up, tear_down, a_branch_is_a_stack_from_where_to_where)
{
	struct fixture *f = *state;
	static const uint64_t branches[] = {
		0x1020, 0x1030, 1, 0x1040, 0xffffffff81000010, 0, 0x1020, 0x1030, 1, 0, 0x1010, 2};

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, branching(PID, branches, 4));
	assert_profile(f, "app/app: /app+10 x1\n"
			  "app/app: /app+20 /app+30 x2\n"
			  "app/app: /app+40 [kernel.kallsyms]+ffffffff81000010 x1\n");
	assert_int_equal(session_counts(f->session)->quality.samples, 1);
}

TEST_WITH(set_up, tear_down, branches_of_a_process_of_ever_new_ones_are_left_out_at_the_ceiling)
{
	struct fixture *f = *state;
	uint32_t count;

	session_set_ceiling(f->session, 1000);
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 16));
	for (uint64_t i = 0; i < 2000; i++)
		feed(f, branching(PID, (uint64_t[]){0x2000 + i, 0x3000, 0}, 1));
	count = profile_stacks(f->profile).count;
	assert_in_range(count, 1000, 1010);
	feed(f, branching(PID, (uint64_t[]){0x2000, 0x3000, 0}, 1)); /* a known one */
	assert_int_equal(profile_stacks(f->profile).count, count);
	assert_int_equal(profile_samples(f->profile).items[0].samples, 2);
}

/* Label sets are renumbered. */
TEST_WITH(set_up, tear_down, branches_keep_their_labels_when_ended_threads_are_folded)
{
	struct fixture *f = *state;
	static const uint64_t branches[] = {0x1020, 0x1030, 1, 0x1040, 0x1050, 2};
	unsigned wrong = 0;

	session_fold_ended(f->session, 1);
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	for (pid_t tid = THREAD; tid < THREAD + 3; tid++) {
		feed(f, forked(PID, PID, tid));
		feed(f, branching(PID, branches, 2));
		feed(f, exited(PID, tid));
	}
	for (uint64_t i = 0; i < profile_samples(f->profile).count; i++) {
		const struct profile_sample *sample = &profile_samples(f->profile).items[i];
		const struct profile_label_set *set = profile_get_label_set(f->profile,
									    sample->labels);

		if (profile_stacks(f->profile).items[sample->stack].depth < 2)
			continue;
		assert_int_equal(set->count, 1);
		wrong += !strcmp(profile_string(f->profile, set->labels[0].text), "mispredicted");
		assert_int_equal(sample->samples, 3);
	}
	assert_int_equal(wrong, 1);
}

TEST_WITH(set_up, tear_down, a_return_address_behind_the_end_of_a_mapping_belongs_to_it)
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

/* Registers at 0x1010, whatever the record's ip is. */
static uint64_t dumped_register(unsigned perf_number, uint64_t sp)
{
	const struct arch *arch = arch_native();
	unsigned dwarf = arch->perf_to_dwarf[perf_number];

	if (dwarf == PERF_REG_PC)
		return 0x1010;
	/* The frame pointer points beyond the copy. */
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

TEST_WITH(set_up, tear_down, a_stack_that_was_cut_off_begins_with_a_note_and_is_counted)
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
	assert_int_equal(session_counts(f->session)->quality.truncated, 1);
	assert_int_equal(session_counts(f->session)->user_stacks, 1);
}

/* Like a snapshot of a sleeping thread. */
TEST_WITH(set_up, tear_down, a_sample_with_sp_and_pc_alone_is_unwound)
{
	struct fixture *f = *state;
	const struct arch *arch = arch_native();
	struct record record = sampled(getpid(), getpid(), 0);
	CLEANUP(close_fd) int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	CLEANUP(free_ptr) unsigned char *stack = xmalloc(STACK_BYTES);
	struct regs regs;
	ucontext_t context;

	getcontext(&context);
	regs_from_ucontext(&context, &regs);
	const uint64_t values[] = {regs.values[arch->sp], regs.pc};
	/* With a system call, which sanitizers accept. */
	ssize_t copied = pread(memory, stack, STACK_BYTES, (off_t)values[0]);

	assert_true(copied > 0);
	address_spaces_snapshot(f->spaces, getpid(), 0);
	record.sample.ip = regs.pc;
	record.sample.regs.abi = 2;
	record.sample.regs.mask = UINT64_C(1) << arch->perf_sp | UINT64_C(1) << arch->perf_pc;
	record.sample.regs.values = bytes_of(values, sizeof(values));
	feed(f, record); /* nothing was copied */
	assert_int_equal(session_counts(f->session)->user_stacks, 1);
	assert_int_equal(session_counts(f->session)->quality.truncated, 1);
	record.sample.stack = bytes_of(stack, (size_t)copied);
	feed(f, record);
	assert_int_equal(session_counts(f->session)->user_stacks, 2);
	assert_int_equal(session_counts(f->session)->quality.truncated, 1);
}

TEST_WITH(set_up, tear_down, a_process_of_32_bits_is_unwound_by_words_of_32_bits_and_counted)
{
	struct fixture *f = *state;
	const uint32_t stack[] = {0x7008, 0x1024, 0, 0}; /* what the frame pointer points at */
	const unsigned ebp = 6;
	uint64_t values[64];
	struct record record = with_registers(sampled(PID, PID, 0x1010), 0x7000, values);

	if (!arch_native()->compat)
		RETURN_LACKING("processes of 32 bits that are unwound");
	values[ebp] = 0x7000;
	record.sample.regs.abi = 1;
	record.sample.stack = bytes_of(stack, sizeof(stack));
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, record);
	assert_profile(f, "app/app: /app+24r /app+10 x1\n");
	assert_int_equal(session_counts(f->session)->quality.compat, 1);
	assert_int_equal(session_counts(f->session)->quality.truncated, 0);
}

TEST_WITH(set_up, tear_down, a_thread_of_the_kernel_has_no_user_part)
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

TEST_WITH(set_up, tear_down, in_the_midst_of_an_exec_there_is_no_user_part)
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
	assert_int_equal(session_counts(f->session)->quality.truncated, 0);
}

TEST_WITH(set_up, tear_down, samples_before_and_after_an_exec_are_in_different_programs)
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

TEST_WITH(set_up, tear_down, a_child_has_the_mappings_and_the_name_of_its_parent)
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

TEST_WITH(set_up, tear_down, a_thread_shares_the_mappings_and_has_a_name_of_its_own)
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

TEST_WITH(set_up, tear_down, threads_outlive_the_first_one)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, forked(PID, PID, THREAD));
	feed(f, exited(PID, PID));
	feed(f, sampled(PID, THREAD, 0x1010));
	assert_profile(f, "app/app: /app+10 x1\n");
}

/* The mappings of an ended process can be forgotten. */
static bool has_ended(struct fixture *f, pid_t pid)
{
	struct location location;

	session_forget(f->session, f->now_ns + 1);
	return !address_spaces_locate(f->spaces, pid, f->now_ns, 0x1010, &location);
}

TEST_WITH(set_up, tear_down, threads_that_were_there_before_outlive_the_first_one)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	session_add_thread(f->session, PID, PID);
	session_add_thread(f->session, PID, THREAD);
	session_add_thread(f->session, PID, THREAD); /* the kernel may report this */
	feed(f, exited(PID, PID));
	feed(f, renamed(PID, THREAD, "worker", false));
	feed(f, sampled(PID, THREAD, 0x1010));
	assert_profile(f, "app/worker: /app+10 x1\n");
	assert_false(has_ended(f, PID));
	feed(f, exited(PID, THREAD));
	assert_true(has_ended(f, PID));
}

TEST_WITH(set_up, tear_down, a_process_is_over_when_its_last_thread_is_whichever_that_is)
{
	struct fixture *f = *state;

	feed(f, forked(PID, CHILD, CHILD));
	feed(f, mapped(CHILD, "/app", 0x1000, 1));
	feed(f, forked(CHILD, CHILD, THREAD));
	feed(f, exited(CHILD, CHILD));
	assert_false(has_ended(f, CHILD));
	feed(f, exited(CHILD, THREAD));
	assert_true(has_ended(f, CHILD));
}

TEST_WITH(set_up, tear_down, ended_threads_are_freed_with_their_names)
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

TEST_WITH(set_up, tear_down, a_session_goes_on_into_another_profile)
{
	struct fixture *f = *state;
	struct profile *first = f->profile;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	f->profile = profile_new();
	session_change_profile(f->session, f->profile);
	assert_int_equal(session_counts(f->session)->quality.samples, 0);
	feed(f, sampled(PID, PID, 0x1020));
	session_finish(f->session);
	for (int i = 0; i < 2; i++) {
		const struct profile *profile = i ? f->profile : first;
		struct profile_frame frame = profile_get_frame(profile, 0);

		assert_int_equal(profile_samples(profile).count, 1);
		assert_int_equal(profile_event_count(profile), 1);
		assert_string_equal(
			profile_string(profile, profile_get_module(profile, frame.module)->path),
			"/app");
		assert_string_equal(profile_string(profile, profile_thread_of(profile, 0)->name),
				    "app");
	}
	profile_free(first);
}

static const uint64_t in_kernel[] = {0xffffffff81000010};

static struct record sampled_with_cookie(pid_t pid, pid_t tid, uint64_t cookie)
{
	struct record record = sampled(pid, tid, in_kernel[0]);

	record.sample.in_kernel = true;
	record.sample.kernel_chain = bytes_of(in_kernel, sizeof(in_kernel));
	record.sample.is_chain_deferred = true;
	record.sample.chain_cookie = cookie;
	return record;
}

/* A user part at 0x1010, called before 0x1120. */
static struct record user_part(pid_t pid, pid_t tid, uint64_t cookie)
{
	static const uint64_t chain[] = {0x1010, 0x1120};

	return (struct record){
		.type = RECORD_DEFERRED_CHAIN,
		.pid = pid,
		.tid = tid,
		.deferred_chain = {.cookie = cookie, .chain = bytes_of(chain, sizeof(chain))}};
}

TEST_WITH(set_up, tear_down, a_user_part_that_comes_later_is_looked_up_at_the_time_of_the_sample)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "app", false));
	feed(f, renamed(PID, THREAD, "worker", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled_with_cookie(PID, THREAD, 7));
	feed(f, mapped(PID, "/other", 0x1000, 1));
	feed(f, renamed(PID, THREAD, "idler", false));
	assert_int_equal(session_counts(f->session)->quality.samples, 0);
	feed(f, user_part(PID, THREAD, 7));
	assert_profile(f, "app/worker: /app+120r /app+10 [kernel.kallsyms]+ffffffff81000010 x1\n");
	assert_int_equal(session_counts(f->session)->quality.truncated, 0);
	assert_int_equal(session_counts(f->session)->strays, 0);
}

TEST_WITH(set_up, tear_down, a_stack_whose_user_part_never_comes_is_truncated)
{
	struct fixture *f = *state;
	struct record in_user = sampled(PID, PID, 0x1010);

	in_user.sample.is_chain_deferred = true;
	feed(f, renamed(PID, PID, "app", false));
	feed(f, renamed(PID, THREAD, "worker", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled_with_cookie(PID, PID, 7));
	feed(f, in_user);
	feed(f, sampled_with_cookie(PID, THREAD, 8));
	feed(f, user_part(PID, THREAD, 9));
	feed(f, exited(PID, PID));
	assert_int_equal(session_counts(f->session)->quality.samples, 3);
	assert_int_equal(session_counts(f->session)->chainless, 3);
	assert_int_equal(session_counts(f->session)->quality.truncated, 3);
	assert_int_equal(session_counts(f->session)->strays, 1);
	assert_profile(f, "app/app: [truncated] /app+10 x1\n"
			  "app/app: [truncated] [kernel.kallsyms]+ffffffff81000010 x1\n"
			  "app/worker: [truncated] [kernel.kallsyms]+ffffffff81000010 x1\n");
}

TEST_WITH(set_up, tear_down, a_sample_in_execve_does_not_get_the_stack_of_the_new_program)
{
	struct fixture *f = *state;

	feed(f, renamed(PID, PID, "sh", false));
	feed(f, mapped(PID, "/bin/sh", 0x1000, 1));
	feed(f, sampled_with_cookie(PID, PID, 7));
	feed(f, renamed(PID, PID, "app", true));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, user_part(PID, PID, 7));
	assert_profile(f, "sh/sh: [kernel.kallsyms]+ffffffff81000010 x1\n");
	assert_int_equal(session_counts(f->session)->chainless, 0);
}

TEST_WITH(set_up, tear_down, timed_samples_stay_in_order_though_user_parts_come_later)
{
	struct fixture *f = *state;
	struct profile_timed_samples all;

	profile_keep_timestamps(f->profile);
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled_with_cookie(PID, THREAD, 7));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, sampled_with_cookie(PID, CHILD, 8));
	feed(f, sampled(PID, PID, 0x1010));
	feed(f, user_part(PID, CHILD, 8));
	feed(f, user_part(PID, THREAD, 7));
	session_finish(f->session);
	all = profile_timed_samples(f->profile);
	assert_int_equal(all.count, 4);
	for (size_t i = 1; i < all.count; i++)
		assert_true(all.items[i - 1].time_ns < all.items[i].time_ns);
	assert_int_equal(all.items[1].sample, all.items[3].sample);
	assert_int_not_equal(all.items[0].sample, all.items[1].sample);
}

TEST_WITH(set_up, tear_down, samples_that_wait_belong_to_the_profile_that_ends)
{
	struct fixture *f = *state;
	struct profile *next = profile_new();

	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled_with_cookie(PID, PID, 7));
	session_change_profile(f->session, next);
	feed(f, user_part(PID, PID, 7));
	assert_int_equal(profile_samples(f->profile).count, 1);
	assert_int_equal(profile_samples(next).count, 0);
	profile_free(f->profile);
	f->profile = next;
}

static void live_and_die(struct fixture *f, pid_t pid)
{
	feed(f, forked(PID, pid, pid));
	feed(f, renamed(pid, pid, "job", true));
	feed(f, mapped(pid, "/job", 0x1000, 1));
	feed(f, sampled(pid, pid, 0x1010));
	feed(f, exited(pid, pid));
	session_forget(f->session, f->now_ns - 10000);
}

TEST_WITH(set_up, tear_down, memory_does_not_grow_with_processes_that_come_and_go)
{
	struct fixture *f = *state;
	size_t early_bytes = 0, late_bytes;
	int count = 0;

	session_fold_ended(f->session, 1000);
	feed(f, renamed(PID, PID, "shell", false));
	/* Memory is compared at the same distance from a fold. */
	for (; count < 20000; count++) {
		live_and_die(f, CHILD + count);
		if (count == 5000)
			early_bytes = mallinfo2().uordblks;
	}
	live_and_die(f, CHILD + count);
	late_bytes = mallinfo2().uordblks;
	assert_true(late_bytes < early_bytes + 100000);
	assert_true(profile_label_set_count(f->profile) <= 1000);
	assert_int_equal(session_counts(f->session)->quality.samples, 20001);
}

static uint64_t samples_of(const struct profile *profile, pid_t pid, pid_t tid)
{
	uint64_t ret = 0;

	for (uint64_t i = 0; i < profile_samples(profile).count; i++) {
		const struct profile_sample *sample = &profile_samples(profile).items[i];
		const struct profile_thread *thread = profile_thread_of(profile, sample->labels);

		if (thread->pid == pid && thread->tid == tid)
			ret += sample->samples;
	}
	return ret;
}

TEST_WITH(set_up, tear_down, endless_threads_share_the_labels_of_others)
{
	struct fixture *f = *state;
	enum { THREADS = 300000, LABELS_MAX = 262145 };

	for (pid_t i = 0; i < THREADS; i++)
		feed(f, (struct record){.type = RECORD_SAMPLE,
					.pid = PID,
					.tid = PID + i,
					.sample = {.ip = 0x1000, .period = 1}});
	assert_true(profile_label_set_count(f->profile) <= LABELS_MAX);
	assert_int_equal(session_counts(f->session)->quality.samples, THREADS);
}

TEST_WITH(set_up, tear_down, ended_threads_fold_into_their_process_and_ended_processes_by_name)
{
	struct fixture *f = *state;

	session_fold_ended(f->session, 5);
	feed(f, renamed(PID, PID, "server", false));
	feed(f, sampled(PID, PID, 0x10));
	for (pid_t tid = CHILD; tid < CHILD + 2; tid++) {
		feed(f, forked(PID, PID, tid));
		feed(f, sampled(PID, tid, 0x10));
		feed(f, exited(PID, tid));
	}
	live_and_die(f, CHILD + 2);
	assert_int_equal(samples_of(f->profile, PID, CHILD), 1);
	/* The fifth and the sixth ones end: a thread of the second job, and its
	 * process. */
	live_and_die(f, CHILD + 3);
	assert_int_equal(samples_of(f->profile, PID, PID), 1);
	assert_int_equal(samples_of(f->profile, PID, -1), 2);
	assert_int_equal(samples_of(f->profile, -1, -1), 2);
	assert_int_equal(session_counts(f->session)->quality.samples, 5);
}

/* Makes a call of the thread, which takes a microsecond. */
static void call(struct fixture *f, struct latencies *latencies, pid_t tid)
{
	struct record record = sampled(PID, tid, 0x10);

	record.time_ns = f->now_ns += 1000;
	assert_true(latencies_feed(latencies, &record));
	record.time_ns = f->now_ns += 1000;
	record.sample.is_other_end = true;
	assert_true(latencies_feed(latencies, &record));
}

/* Label sets are renumbered when ended threads are folded, and in another
 * profile. */
TEST_WITH(set_up, tear_down,
	  calls_have_the_labels_of_their_thread_in_every_generation_of_the_profile)
{
	struct fixture *f = *state;
	const struct event event = {.measures_calls = true};
	struct profile *next = profile_new();
	struct latencies *latencies = latencies_new(&(struct latencies_options){
		.session = f->session, .events = &event, .event_count = 1});

	session_fold_ended(f->session, 1);
	feed(f, renamed(PID, PID, "server", false));
	feed(f, forked(PID, PID, THREAD));
	call(f, latencies, PID);
	call(f, latencies, THREAD);
	feed(f, exited(PID, THREAD));
	assert_int_equal(samples_of(f->profile, PID, -1), 1);
	feed(f, forked(PID, PID, THREAD + 1));
	for (pid_t tid = THREAD + 3; tid > THREAD; tid--)
		call(f, latencies, tid);
	for (pid_t tid = THREAD + 3; tid > THREAD; tid--)
		assert_int_equal(samples_of(f->profile, PID, tid), 1);
	session_change_profile(f->session, next);
	latencies_begin_profile(latencies);
	for (pid_t tid = THREAD + 1; tid < THREAD + 4; tid++)
		call(f, latencies, tid);
	for (pid_t tid = THREAD + 1; tid < THREAD + 4; tid++)
		assert_int_equal(samples_of(next, PID, tid), 1);
	latencies_free(latencies);
	profile_free(f->profile);
	f->profile = next;
}

TEST_WITH(set_up, tear_down, a_pid_that_is_used_again_starts_anew)
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

TEST_WITH(set_up, tear_down, data_mappings_are_not_code)
{
	struct fixture *f = *state;
	struct record data = mapped(PID, "/data", 0x1000, 1);

	data.mmap.executable = false;
	feed(f, renamed(PID, PID, "app", false));
	feed(f, data);
	feed(f, sampled(PID, PID, 0x1010));
	assert_profile(f, "app/app: [unknown]+1010 x1\n");
}

TEST_WITH(set_up, tear_down, samples_lost_or_throttled_by_the_kernel_are_counted)
{
	struct fixture *f = *state;

	feed(f, (struct record){.type = RECORD_LOST, .lost.count = 5});
	feed(f, (struct record){.type = RECORD_LOST, .lost.count = 2});
	feed(f, (struct record){.type = RECORD_LOST, .lost = {LOST_SWITCHES, 9}});
	feed(f, (struct record){.type = RECORD_LOST, .lost = {LOST_CHANGES, 3000}});
	feed(f, (struct record){.type = RECORD_THROTTLE});
	assert_int_equal(session_counts(f->session)->quality.lost, 7);
	assert_int_equal(session_counts(f->session)->lost_switches, 9);
	assert_int_equal(session_counts(f->session)->quality.lost_changes, 3000);
	assert_int_equal(session_counts(f->session)->quality.throttled, 1);
}

TEST_WITH(set_up, tear_down, unused_records_change_nothing)
{
	struct fixture *f = *state;

	for (enum record_type type = RECORD_SWITCH; type <= RECORD_DEFERRED_CHAIN; type++)
		feed(f, (struct record){.type = type, .pid = PID, .tid = PID});
	assert_profile(f, "");
	assert_int_equal(session_counts(f->session)->quality.samples, 0);
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

TEST_WITH(set_up, tear_down, the_main_module_is_the_last_program_that_the_command_becomes)
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

TEST_WITH(set_up, tear_down, of_a_running_process_the_main_module_is_the_file_it_runs)
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

TEST_WITH(set_up, tear_down, modules_of_frames_are_described_and_no_others)
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

TEST_WITH(set_up, tear_down, timed_samples_and_markers_are_kept_on_request)
{
	struct fixture *f = *state;
	struct record on_other_cpu = sampled(PID, PID, 0x1010);

	on_other_cpu.cpu = 1;
	feed(f, renamed(PID, PID, "app", false));
	feed(f, mapped(PID, "/app", 0x1000, 1));
	feed(f, sampled(PID, PID, 0x1010));
	assert_int_equal(profile_timed_samples(f->profile).count, 0);
	profile_keep_timestamps(f->profile);
	feed(f, on_other_cpu);
	feed(f, forked(PID, CHILD, CHILD));
	feed(f, renamed(CHILD, CHILD, "tool", true));
	feed(f, (struct record){.type = RECORD_LOST, .lost.count = 7});
	feed(f, exited(CHILD, CHILD));
	assert_int_equal(profile_timed_samples(f->profile).count, 1);
	assert_int_equal(profile_timed_samples(f->profile).items[0].time_ns, 4000);
	assert_int_equal(profile_timed_samples(f->profile).items[0].sample, 0);
	assert_int_equal(profile_timed_samples(f->profile).items[0].cpu, 1);
	assert_int_equal(profile_marker_count(f->profile), 4);
	assert_marker(f, 0, PROFILE_MARKER_FORK, "app");
	assert_marker(f, 1, PROFILE_MARKER_EXEC, "tool");
	assert_int_equal(profile_get_marker(f->profile, 2)->count, 7);
	assert_marker(f, 3, PROFILE_MARKER_EXIT, "tool");
}

static void assert_event(struct fixture *f, event_id id, const char *name)
{
	assert_string_equal(profile_string(f->profile, profile_get_event(f->profile, id)->name),
			    name);
}

TEST_WITH(set_up, tear_down, events_of_one_name_stay_apart)
{
	struct fixture *f = *state;
	static const char *const names[] = {"cycles", "cycles#2", "cycles", "cycles"};
	struct record record = sampled(PID, PID, 0x1010);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		session_add_event(
			f->session,
			&(struct profile_event){
				.name = strtab_add(profile_strings(f->profile), names[i])});
	assert_int_equal(profile_event_count(f->profile), 5);
	assert_event(f, 1, "cycles");
	assert_event(f, 2, "cycles#2");
	assert_event(f, 3, "cycles#3");
	assert_event(f, 4, "cycles#4");
	record.sample.event = 4;
	feed(f, record);
	assert_int_equal(profile_samples(f->profile).items[0].event, 4);
}

TEST(counts_of_profiles_are_added_field_by_field)
{
	enum {
		FIRST = sizeof(struct profile_quality),
		SIZE = sizeof(struct session_counts) - FIRST
	};
	enum { FIELDS = SIZE / sizeof(uint64_t) };
	struct session_counts sum = {.quality.lost = 1}, more = {.quality.lost = 2};
	uint64_t fields[FIELDS];

	for (unsigned i = 0; i < FIELDS; i++)
		fields[i] = i + 1;
	memcpy((char *)&sum + FIRST, fields, SIZE);
	memcpy((char *)&more + FIRST, fields, SIZE);
	session_counts_add(&sum, &more);
	memcpy(fields, (char *)&sum + FIRST, SIZE);
	for (unsigned i = 0; i < FIELDS; i++)
		assert_int_equal(fields[i], 2 * (i + 1));
	assert_int_equal(sum.quality.lost, 3);
}
