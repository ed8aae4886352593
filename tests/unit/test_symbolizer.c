#include "symbol/symbolizer.h"

#include "base/alloc.h"
#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

/* A profile of this program, which it symbolizes itself. */
struct fixture {
	struct profile *profile;
	struct address_spaces *spaces;
	struct symbolize_outcome outcome;
};

static const struct symbolize_options everything = {.proc = "/proc", .threads = 2};

static struct fixture fixture_new(void)
{
	struct fixture fixture = {.profile = profile_new(), .spaces = address_spaces_new("/proc")};

	address_spaces_snapshot(fixture.spaces, getpid(), 1);
	return fixture;
}

static void fixture_deinit(struct fixture *fixture)
{
	symbolize_outcome_deinit(&fixture->outcome);
	profile_free(fixture->profile);
	address_spaces_free(fixture->spaces);
}

static frame_id add_frame(struct fixture *fixture, uint64_t pc, bool is_return_address)
{
	struct location location;

	address_spaces_locate(fixture->spaces, getpid(), 2, pc, &location);
	return profile_frame(fixture->profile, location.module, location.offset, is_return_address);
}

static void name_all(struct fixture *fixture, const struct symbolize_options *options)
{
	symbolize(fixture->profile, fixture->spaces, options, &fixture->outcome);
}

static const struct profile_function *function_of(const struct fixture *fixture, frame_id frame,
						  unsigned line)
{
	struct profile_frame named = profile_get_frame(fixture->profile, frame);

	assert_true(line < named.line_count);
	return profile_get_function(fixture->profile, named.lines[line].function);
}

static const char *name_of(const struct fixture *fixture, frame_id frame, unsigned line)
{
	return profile_string(fixture->profile, function_of(fixture, frame, line)->name);
}

/* Returns the name of the physical function, even if other functions are
 * inlined at the address. */
static const char *outermost_name(const struct fixture *fixture, frame_id frame)
{
	return name_of(fixture, frame, profile_get_frame(fixture->profile, frame).line_count - 1);
}

static bool is_named(const struct fixture *fixture, frame_id frame)
{
	return profile_get_frame(fixture->profile, frame).line_count > 0;
}

/* Returns the problem of a frame's module, or NULL. */
static const char *problem_of(const struct fixture *fixture, frame_id frame)
{
	uint32_t module = profile_get_frame(fixture->profile, frame).module;

	for (size_t i = 0; i < fixture->outcome.problem_count; i++)
		if (fixture->outcome.problems[i].module == module)
			return fixture->outcome.problems[i].text;
	return NULL;
}

__attribute__((noinline)) static uint64_t caller_pc(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__attribute__((always_inline)) static inline uint64_t inlined_callee(void)
{
	uint64_t pc = caller_pc();

	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
	return pc;
}

static const unsigned line_of_the_call = __LINE__ + 4;

__attribute__((noinline)) static uint64_t physical_function(void)
{
	uint64_t pc = inlined_callee();

	__asm__ volatile("" ::: "memory");
	return pc;
}

TEST(an_inlined_function_is_a_line_of_its_own)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	frame_id frame = add_frame(&fixture, physical_function(), true);
	struct profile_frame named;
	const struct profile_function *outer;

	name_all(&fixture, &everything);
	named = profile_get_frame(fixture.profile, frame);
	assert_int_equal(named.line_count, 2);
	assert_string_equal(name_of(&fixture, frame, 0), "inlined_callee");
	assert_string_equal(name_of(&fixture, frame, 1), "physical_function");
	assert_int_equal(named.lines[1].line, line_of_the_call);
	outer = function_of(&fixture, frame, 1);
	assert_non_null(strstr(profile_string(fixture.profile, outer->file), "test_symbolizer.c"));
	assert_int_equal(outer->start_line, line_of_the_call - 2);
	assert_true(profile_get_module(fixture.profile, named.module)->named);
	assert_null(problem_of(&fixture, frame));
}

TEST(without_inlines_there_is_one_name_and_no_line)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolize_options options = everything;
	frame_id frame = add_frame(&fixture, physical_function(), true);

	options.symbols.no_inlines = true;
	name_all(&fixture, &options);
	assert_int_equal(profile_get_frame(fixture.profile, frame).line_count, 1);
	assert_string_equal(name_of(&fixture, frame, 0), "physical_function");
	assert_int_equal(profile_get_frame(fixture.profile, frame).lines[0].line, 0);
}

/* It must not be attributed to the function after the call. */
TEST(a_return_address_belongs_to_the_call_before_it)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t start = (uint64_t)(uintptr_t)physical_function;
	frame_id at_start = add_frame(&fixture, start, false);
	frame_id before_start = add_frame(&fixture, start, true);

	name_all(&fixture, &everything);
	assert_string_equal(outermost_name(&fixture, at_start), "physical_function");
	/* otherwise it is padding between functions */
	if (is_named(&fixture, before_start))
		assert_string_not_equal(outermost_name(&fixture, before_start),
					"physical_function");
}

/* Adds frames all over the code of this program and of libc. */
static void add_many_frames(struct fixture *fixture)
{
	static const struct {
		uintptr_t near;
	} places[] = {{(uintptr_t)physical_function}, {(uintptr_t)strlen}, {(uintptr_t)qsort}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		for (uint64_t at = 0; at < 4096; at += 8)
			add_frame(fixture, places[i].near / 4096 * 4096 + at, at & 8);
}

static void assert_same(const struct fixture *a, const struct fixture *b)
{
	uint32_t functions = profile_function_count(a->profile);

	assert_int_equal(profile_function_count(b->profile), functions);
	for (function_id id = 0; id < functions; id++) {
		const struct profile_function *of_a = profile_get_function(a->profile, id);
		const struct profile_function *of_b = profile_get_function(b->profile, id);

		assert_string_equal(profile_string(a->profile, of_a->name),
				    profile_string(b->profile, of_b->name));
		assert_memory_equal(of_a, of_b, sizeof(*of_a));
	}
	for (frame_id id = 0; id < profile_frame_count(a->profile); id++) {
		struct profile_frame of_a = profile_get_frame(a->profile, id);
		struct profile_frame of_b = profile_get_frame(b->profile, id);

		assert_int_equal(of_a.line_count, of_b.line_count);
		if (of_a.line_count)
			assert_memory_equal(of_a.lines, of_b.lines,
					    of_a.line_count * sizeof(*of_a.lines));
	}
}

TEST(the_number_of_threads_changes_nothing)
{
	CLEANUP(fixture_deinit) struct fixture alone = fixture_new();
	CLEANUP(fixture_deinit) struct fixture crowd = fixture_new();
	struct symbolize_options options = everything;

	add_many_frames(&alone);
	add_many_frames(&crowd);
	options.threads = 1;
	name_all(&alone, &options);
	options.threads = 7;
	name_all(&crowd, &options);
	assert_true(profile_function_count(alone.profile) > 10);
	assert_same(&alone, &crowd);
}

TEST(when_cancelled_the_rest_stays_without_names)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolize_options options = everything;
	atomic_bool cancel = true;
	atomic_uint done = 0;
	frame_id frame = add_frame(&fixture, physical_function(), true);

	options.cancel = &cancel;
	options.done = &done;
	name_all(&fixture, &options);
	assert_true(fixture.outcome.cancelled);
	assert_false(is_named(&fixture, frame));
	assert_int_equal(fixture.outcome.problem_count, 0);
	assert_int_equal(atomic_load(&done), 0);
}

TEST(names_of_frames_that_come_later_are_those_of_one_run)
{
	CLEANUP(fixture_deinit) struct fixture once = fixture_new(), growing = fixture_new();
	struct symbolizer *symbolizer = symbolizer_new(growing.profile, growing.spaces,
						       &everything);

	for (uint64_t i = 0; i < 64; i++) {
		uint64_t pc = (uint64_t)(uintptr_t)function_of + i;

		add_frame(&once, pc, false);
		add_frame(&growing, pc, false);
		if (i % 16)
			continue;
		symbolizer_run(symbolizer, &growing.outcome);
		symbolize_outcome_deinit(&growing.outcome);
		assert_true(is_named(&growing, (frame_id)i));
	}
	symbolizer_run(symbolizer, &growing.outcome);
	symbolizer_free(symbolizer);
	name_all(&once, &everything);
	for (frame_id i = 0; i < profile_frame_count(once.profile); i++) {
		struct profile_frame a = profile_get_frame(once.profile, i),
				     b = profile_get_frame(growing.profile, i);

		assert_int_equal(a.line_count, b.line_count);
		for (unsigned line = 0; line < a.line_count; line++) {
			assert_string_equal(name_of(&once, i, line), name_of(&growing, i, line));
			assert_int_equal(a.lines[line].line, b.lines[line].line);
		}
	}
}

TEST(another_profile_of_the_same_modules_is_named_by_the_same_symbolizer)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct profile *first = fixture.profile;
	uint64_t pc = (uint64_t)(uintptr_t)function_of;
	struct symbolizer *symbolizer = symbolizer_new(first, fixture.spaces, &everything);

	add_frame(&fixture, pc + 1, false);
	symbolizer_run(symbolizer, &fixture.outcome);
	symbolize_outcome_deinit(&fixture.outcome);
	fixture.profile = profile_new();
	symbolizer_set_profile(symbolizer, fixture.profile);
	add_frame(&fixture, pc, false);
	symbolizer_run(symbolizer, &fixture.outcome);
	symbolizer_free(symbolizer);
	assert_true(is_named(&fixture, 0));
	assert_string_equal(name_of(&fixture, 0, 0), "function_of");
	profile_free(first);
}

static void add_another_frame(void *user)
{
	struct fixture *fixture = user;

	add_frame(fixture, (uint64_t)(uintptr_t)function_of + profile_frame_count(fixture->profile),
		  false);
}

TEST(frames_may_come_while_others_are_named)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolize_options options = everything;
	struct symbolizer *symbolizer;
	frame_id first = add_frame(&fixture, (uint64_t)(uintptr_t)function_of, false);

	options.threads = 1;
	options.between = add_another_frame;
	options.user = &fixture;
	symbolizer = symbolizer_new(fixture.profile, fixture.spaces, &options);
	symbolizer_run(symbolizer, &fixture.outcome);
	assert_true(is_named(&fixture, first));
	assert_true(profile_frame_count(fixture.profile) > 1);
	assert_false(is_named(&fixture, first + 1));
	symbolize_outcome_deinit(&fixture.outcome);
	symbolizer_run(symbolizer, &fixture.outcome);
	assert_true(is_named(&fixture, first + 1));
	symbolizer_free(symbolizer);
}

TEST(finished_work_is_counted)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolize_options options = everything;
	atomic_bool cancel = false;
	atomic_uint done = 0;

	add_frame(&fixture, physical_function(), true);
	options.cancel = &cancel;
	options.done = &done;
	name_all(&fixture, &options);
	assert_false(fixture.outcome.cancelled);
	assert_int_equal(atomic_load(&done), 3); /* a module, its symbols and a unit */
}

TEST(notes_keep_what_they_say)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	frame_id note = profile_synthetic_frame(fixture.profile, "[truncated]");

	name_all(&fixture, &everything);
	assert_string_equal(name_of(&fixture, note, 0), "[truncated]");
	assert_int_equal(fixture.outcome.problem_count, 0);
}

TEST(the_vdso_names_its_functions)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	unsigned named = 0;

	if (!vdso)
		RETURN_LACKING("there is no vdso");
	for (uint64_t at = 0; at < 4096; at += 16)
		add_frame(&fixture, vdso + at, false);
	name_all(&fixture, &everything);
	for (frame_id id = 0; id < profile_frame_count(fixture.profile); id++)
		named += is_named(&fixture, id);
	assert_true(named > 0);
}

TEST_IN_FOLDER(kernel_frames_are_named_by_kallsyms)
{
	static const char text[] = "ffffffff81000000 T start\nffffffff81000100 t later\n"
				   "ffffffffc0000000 t in_module\t[ext4]\n";
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolize_options options = everything;
	module_id kernel = address_spaces_kernel(fixture.spaces);
	frame_id start = profile_frame(fixture.profile, kernel, 0xffffffff81000100, true);
	frame_id later = profile_frame(fixture.profile, kernel, 0xffffffff81000100, false);
	frame_id module = profile_frame(fixture.profile, kernel, 0xffffffffc0000010, false);

	options.proc = folder;
	write_file("kallsyms", text, strlen(text));
	name_all(&fixture, &options);
	assert_string_equal(name_of(&fixture, start, 0), "start");
	assert_string_equal(name_of(&fixture, later, 0), "later");
	assert_string_equal(name_of(&fixture, module, 0), "in_module [ext4]");
	assert_null(problem_of(&fixture, start));
}

/* This program serves as the kernel: its _stext is at the address in kallsyms. */
uint64_t _stext(void);

__attribute__((noinline, used)) uint64_t _stext(void)
{
	return caller_pc();
}

#define KERNEL_AT UINT64_C(0xffffffff81000000)

static uint64_t in_kernel(uint64_t pc)
{
	return KERNEL_AT + (pc - (uint64_t)(uintptr_t)_stext);
}

/* Returns false if this program has no build-id. */
static bool write_kernel(const struct elf_file *self)
{
	const struct build_id *id = elf_file_build_id(self);
	const Elf64_Nhdr head = {
		.n_namesz = sizeof(ELF_NOTE_GNU), .n_descsz = id->len, .n_type = NT_GNU_BUILD_ID};
	CLEANUP(free_ptr)
	char *kallsyms = xasprintf(
		"%lx T _stext\n%lx t its_own_name\n%lx T _etext\n", (unsigned long)KERNEL_AT,
		(unsigned long)in_kernel((uint64_t)(uintptr_t)physical_function), ULONG_MAX);
	unsigned char notes[sizeof(head) + sizeof(ELF_NOTE_GNU) + BUILD_ID_MAX];
	unsigned char *end = mempcpy(mempcpy(notes, &head, sizeof(head)), ELF_NOTE_GNU,
				     sizeof(ELF_NOTE_GNU));
	char hex[BUILD_ID_HEX_BYTES];
	CLEANUP(free_ptr) char *name = NULL, *path = NULL;

	end = mempcpy(end, id->bytes, id->len);
	write_file("proc/kallsyms", kallsyms, strlen(kallsyms));
	write_file("sys/kernel/notes", notes, (size_t)(end - notes));
	build_id_hex(id, hex);
	name = xasprintf("debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	path = path_of(name);
	return id->len && symlink("/proc/self/exe", path) == 0;
}

TEST_IN_FOLDER(kernel_lines_are_those_of_its_file_and_names_those_of_kallsyms)
{
	CLEANUP(elf_file_cleanup) struct elf_file *self = NULL;
	CLEANUP(free_ptr) char *proc = xasprintf("%s/proc", folder);
	CLEANUP(free_ptr) char *debug = xasprintf("%s/debug", folder);
	struct symbolize_options options = {
		.proc = proc, .threads = 2, .symbols.kernel_lines = true};
	uint64_t pc = in_kernel(physical_function());

	assert_null(elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self", &self));
	if (!write_kernel(self))
		RETURN_LACKING("a build-id of this program");
	for (unsigned again = 0; again < 2; again++) {
		CLEANUP(fixture_deinit)
		struct fixture fixture = {.profile = profile_new(),
					  .spaces = address_spaces_new(proc)};
		module_id kernel = address_spaces_kernel_at(fixture.spaces, pc);
		frame_id frame = profile_frame(fixture.profile, kernel, pc, true);
		struct profile_frame named;

		options.in_process = again;
		address_spaces_set_debug_dir(fixture.spaces, debug);
		name_all(&fixture, &options);
		named = profile_get_frame(fixture.profile, frame);
		assert_null(problem_of(&fixture, frame));
		assert_int_equal(named.line_count, 2);
		assert_string_equal(name_of(&fixture, frame, 0), "inlined_callee");
		assert_string_equal(name_of(&fixture, frame, 1), "its_own_name");
		assert_int_equal(named.lines[1].line, line_of_the_call);
		assert_int_equal(fixture.outcome.modules[0].lineless, 0);
	}
}

TEST_IN_FOLDER(hidden_kernel_addresses_are_a_problem_that_says_what_helps)
{
	static const char text[] = "0000000000000000 T start\n";
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolize_options options = everything;
	frame_id frame = profile_frame(fixture.profile, address_spaces_kernel(fixture.spaces),
				       0xffffffff81000000, false);

	options.proc = folder;
	write_file("kallsyms", text, strlen(text));
	name_all(&fixture, &options);
	assert_false(is_named(&fixture, frame));
	assert_non_null(strstr(problem_of(&fixture, frame), "kptr_restrict"));
}

static frame_id add_mapped(struct fixture *fixture, const char *path, uint64_t start)
{
	struct mapping mapping = {.start = start, .end = start + 0x2000, .path = path};

	address_spaces_map(fixture->spaces, getpid(), 1, &mapping);
	return add_frame(fixture, start + 0x1010, false);
}

TEST_IN_FOLDER(run_time_code_is_named_by_its_perf_map)
{
	static const char text[] = "100001000 20 LazyCompile:*hot app.js:1\n";
	CLEANUP(free_ptr) char *map = xasprintf("%d/root/tmp/perf-%d.map", getpid(), getpid());
	struct symbolize_options options = everything;

	options.proc = folder;
	{
		CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
		frame_id frame = add_mapped(&fixture, "//anon", 0x100000000);

		name_all(&fixture, &options);
		assert_false(is_named(&fixture, frame));
		assert_non_null(strstr(problem_of(&fixture, frame), "--perf-basic-prof"));
	}
	write_file(map, text, strlen(text));
	{
		CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
		frame_id frame = add_mapped(&fixture, "//anon", 0x100000000);

		name_all(&fixture, &options);
		assert_string_equal(name_of(&fixture, frame, 0), "LazyCompile:*hot app.js:1");
		assert_null(problem_of(&fixture, frame));
	}
}

TEST(a_missing_file_loses_its_names_and_is_reported_once)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	frame_id lost = add_mapped(&fixture, "/nonexistent/libgone.so", 0x200000000);
	frame_id kept = add_frame(&fixture, physical_function(), true);

	name_all(&fixture, &everything);
	assert_false(is_named(&fixture, lost));
	assert_true(is_named(&fixture, kept));
	assert_int_equal(fixture.outcome.problem_count, 1);
	assert_non_null(strstr(problem_of(&fixture, lost), "libgone.so"));
}

/* The file has only code, without sections. */
TEST_IN_FOLDER(a_file_without_symbols_is_a_problem_that_says_what_helps)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		char code[0x2000];
	} file = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_version = EV_CURRENT,
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_filesz = sizeof(file),
			    .p_memsz = sizeof(file)},
	};
	CLEANUP(free_ptr) char *path = path_of("libbare.so");
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	frame_id frame;

	write_file("libbare.so", &file, sizeof(file));
	{
		struct stat st;
		struct mapping mapping = {.start = 0x300000000, .end = 0x300002000, .path = path};

		assert_int_equal(stat(path, &st), 0);
		mapping.inode = st.st_ino;
		mapping.device_major = (uint32_t)(st.st_dev >> 8 & 0xfff);
		mapping.device_minor = (uint32_t)(st.st_dev & 0xff);
		address_spaces_map(fixture.spaces, getpid(), 1, &mapping);
	}
	frame = add_frame(&fixture, 0x300001010, false);
	name_all(&fixture, &everything);
	assert_false(is_named(&fixture, frame));
	assert_non_null(strstr(problem_of(&fixture, frame), "libbare.so has no symbols"));
}

int main(void)
{
	if (!has_seccomp())
		return lacking_all("filters of system calls (seccomp)");
	return unit_tests_run();
}
