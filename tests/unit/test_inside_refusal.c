#include "inside/refusal.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64, OTHER_MACHINE = EM_X86_64 };
#else
enum { OWN_MACHINE = EM_X86_64, OTHER_MACHINE = EM_AARCH64 };
#endif

struct program {
	const char *loader;  /* NULL if static */
	const char *section; /* NULL if there is none */
	const char *text;    /* contents of the section */
	const char *symbol;  /* a symbol that it defines, or NULL */
	unsigned machine;
	unsigned mode;
};

static void add_symbol(struct built_elf *file, const char *name)
{
	char names[64] = "";
	Elf64_Sym symbols[2] = {[1] = {.st_name = 1,
				       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				       .st_shndx = 1}};

	strcpy(names + 1, name);
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_SYMTAB}, ".symtab", symbols,
			  sizeof(symbols));
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_STRTAB}, ".strtab", names,
			  sizeof(names));
}

static char *put_file(const char *name, const void *data, size_t len, unsigned mode)
{
	char *path = path_of(name);
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	return path;
}

static char *make_program(const struct program *program)
{
	struct built_elf file;

	built_elf_init(&file);
	file.header.e_machine = (Elf64_Half)(program->machine ? program->machine : OWN_MACHINE);
	if (program->loader) {
		size_t len = strlen(program->loader) + 1;

		built_elf_segment(&file,
				  (Elf64_Phdr){
					  .p_type = PT_INTERP,
					  .p_offset = built_elf_bytes(&file, program->loader, len),
					  .p_filesz = len,
				  });
	}
	if (program->section)
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, program->section,
				  program->text ? program->text : "x",
				  program->text ? strlen(program->text) + 1 : 1);
	if (program->symbol)
		add_symbol(&file, program->symbol);
	built_elf_finish(&file);
	return put_file("app", file.data, file.len, program->mode ? program->mode : 0700);
}

#if defined(__x86_64__)
#define OWN_LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define OWN_LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static const char glibc[] = "/lib64/ld-linux-x86-64.so.2";

static void assert_text(struct error *err, const char *part)
{
	assert_non_null(err);
	assert_non_null(strstr(error_text(err), part));
	assert_non_null(error_hint_text(err));
	error_free(err);
}

static struct inside_program *open_program(const char *command)
{
	const char *argv[] = {command, NULL};

	return inside_program_of_command((char *const *)argv);
}

static struct error *check(const char *command)
{
	CLEANUP(inside_program_cleanup) struct inside_program *program = open_program(command);

	return inside_check_program(program, INSIDE_FOR_MEMORY);
}

static struct error *own_allocator(const char *command)
{
	CLEANUP(inside_program_cleanup) struct inside_program *program = open_program(command);

	return inside_find_own_allocator(program);
}

static void assert_refused(const struct program *program, const char *why)
{
	CLEANUP(free_ptr) char *path = make_program(program);

	assert_text(check(path), why);
}

TEST_IN_FOLDER(what_cannot_load_a_library_is_refused)
{
	CLEANUP(free_ptr) char *path = make_program(&(struct program){.loader = glibc});

	assert_null(check(path));
	assert_null(own_allocator(path));
	assert_refused(&(struct program){.loader = NULL}, "statically linked");
	assert_refused(&(struct program){.section = ".note.go.buildid"}, "static Go program");
	assert_refused(&(struct program){.loader = "/lib/ld-musl-x86_64.so.1"}, "musl");
	assert_refused(&(struct program){.loader = glibc, .machine = OTHER_MACHINE},
		       "another architecture");
}

TEST_IN_FOLDER(a_program_that_gains_rights_is_refused)
{
	CLEANUP(free_ptr)
	char *path = make_program(&(struct program){.loader = glibc, .mode = 04700});

	/* A set-user-ID program of prof's own user gains no privileges. */
	assert_null(check(path));
	if (getuid() != 0 || chown(path, 1, (gid_t)-1) < 0)
		return;
	assert_int_equal(chmod(path, 04755), 0);
	assert_text(check(path), "gains privileges");
}

TEST_IN_FOLDER(a_script_is_followed_to_its_interpreter)
{
	CLEANUP(free_ptr) char *path = make_program(&(struct program){.loader = NULL});
	CLEANUP(free_ptr) char *line = xasprintf("#! %s -x\n", path);
	CLEANUP(free_ptr) char *script = put_file("script", line, strlen(line), 0700);
	CLEANUP(free_ptr) char *own = xasprintf("#!%s/loop\n", folder);
	CLEANUP(free_ptr) char *loop = put_file("loop", own, strlen(own), 0700);
	CLEANUP(free_ptr) char *text = put_file("text", "exit 3\n", 7, 0700);

	assert_text(check(script), "statically linked");
	assert_null(check(loop));
	assert_null(check(text));
}

static struct error *check_words(const char *const *words)
{
	CLEANUP(inside_program_cleanup)
	struct inside_program *program = inside_program_of_command((char *const *)words);

	return inside_check_program(program, INSIDE_FOR_MEMORY);
}

/* The loader of the test program itself. */
TEST_IN_FOLDER(the_dynamic_loader_is_followed_to_the_program_that_it_is_given)
{
	CLEANUP(free_ptr) char *path = make_program(&(struct program){.loader = NULL});
	const char *ld = OWN_LOADER;
	const char *lines[][8] = {
		{ld, path, NULL},
		{"env", "A=1", ld, path, "--argument", NULL},
		{ld, "--library-path", "/lib", "--inhibit-cache", "--argv0", "x", path, NULL},
	};
	const char *others[][5] = {
		{ld, NULL},
		{ld, "--version", NULL},
		{ld, "--preload", path, NULL},
		{ld, "app", path, NULL},
	};

	if (access(ld, X_OK) < 0)
		RETURN_LACKING("glibc's dynamic loader");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_text(check_words(lines[i]), path);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_null(check_words(others[i]));
	free(make_program(&(struct program){.loader = glibc})); /* of the same path */
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_null(check_words(lines[i]));
}

TEST_IN_FOLDER(env_is_followed_to_its_command)
{
	CLEANUP(free_ptr) char *path = make_program(&(struct program){.loader = NULL});
	CLEANUP(free_ptr) char *line = xasprintf("#!/usr/bin/env -S A=1 %s -x\n", path);
	CLEANUP(free_ptr) char *script = put_file("script", line, strlen(line), 0700);
	const char *lines[][6] = {
		{"env", path, NULL},
		{"/usr/bin/env", "A=1", "B=2", "--", path, NULL},
		{"env", "A=1", "env", "B=2", path, NULL},
		{"env", script, NULL},
	};
	const char *others[][4] = {{"env", NULL}, {"env", "-i", path, NULL}, {"env", "A=1", NULL}};

	assert_text(check(script), "statically linked");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(inside_program_cleanup)
		struct inside_program *program = inside_program_of_command((char *const *)lines[i]);

		assert_non_null(program);
		assert_string_equal(program->path, path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		CLEANUP(inside_program_cleanup)
		struct inside_program *program =
			inside_program_of_command((char *const *)others[i]);

		assert_true(!program || !strcmp(basename(program->path), "env"));
	}
}

TEST_IN_FOLDER(a_command_is_looked_up_in_path)
{
	CLEANUP(free_ptr) char *path = make_program(&(struct program){.loader = NULL});
	CLEANUP(free_ptr) char *before = xstrdup(getenv("PATH"));
	CLEANUP(free_ptr) char *list = xasprintf("/nowhere::%s", folder);

	assert_non_null(path);
	setenv("PATH", list, 1);
	assert_text(check("app"), "statically linked");
	assert_null(check("missing"));
	setenv("PATH", before, 1);
	assert_null(check("/nowhere/app"));
	assert_null(check(folder));
}

TEST_IN_FOLDER(an_allocator_that_is_linked_in_is_named_with_its_own_profile)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{"_rjem_malloc", "jemalloc"}, {"mallocx", "jemalloc"}, {"tc_malloc", "tcmalloc"},
		{"mi_free", "mimalloc"},      {"malloc", "malloc()"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr)
		char *path =
			make_program(&(struct program){.loader = glibc, .symbol = cases[i].symbol});

		assert_null(check(path));
		assert_text(own_allocator(path), cases[i].name);
	}
	CLEANUP(free_ptr)
	char *other = make_program(&(struct program){.loader = glibc, .symbol = "my_malloc"});
	assert_null(own_allocator(other));
	CLEANUP(free_ptr)
	char *go = make_program(&(struct program){.loader = glibc, .section = ".go.buildinfo"});
	assert_text(own_allocator(go), "Go");
}

TEST_IN_FOLDER(a_stripped_program_is_known_by_its_allocator_s_messages)
{
	struct program jemalloc = {.loader = glibc, .section = ".rodata", .text = "<jemalloc>: %s"};
	CLEANUP(free_ptr) char *path = make_program(&jemalloc);

	assert_text(own_allocator(path), "jemalloc");
	/* If the program has symbols, they are used instead of the text. */
	jemalloc.symbol = "main";
	free(path);
	path = make_program(&jemalloc);
	assert_null(own_allocator(path));
}

TEST_IN_FOLDER(a_sanitizer_that_ends_the_program_is_refused)
{
	struct program program = {.loader = glibc, .section = ".dynstr", .text = "libasan.so.8"};

	unsetenv("ASAN_OPTIONS");
	assert_refused(&program, "AddressSanitizer");
	setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
	CLEANUP(free_ptr) char *path = make_program(&program);
	assert_null(check(path));
	unsetenv("ASAN_OPTIONS");
}

TEST_IN_FOLDER(a_hint_is_of_what_was_to_be_recorded)
{
	CLEANUP(free_ptr) char *path = make_program(&(struct program){.loader = NULL});
	CLEANUP(inside_program_cleanup) struct inside_program *program = open_program(path);
	CLEANUP(error_cleanup)
	struct error *memory = inside_check_program(program, INSIDE_FOR_MEMORY);
	CLEANUP(error_cleanup) struct error *cpu = inside_check_program(program, INSIDE_FOR_CPU);

	assert_non_null(strstr(error_hint_text(memory), "prof record --growth"));
	assert_non_null(strstr(error_hint_text(cpu), "--via perf"));
}

TEST_IN_FOLDER(a_process_without_the_library_is_explained)
{
	if (HAS_ADDRESS_SANITIZER || HAS_THREAD_SANITIZER)
		RETURN_LACKING("a program without a sanitizer's malloc()");
	assert_text(inside_explain_process(getpid()), "does not run under prof's library");
}

TEST_IN_FOLDER(a_damaged_file_has_no_problem_here)
{
	struct built_elf file;

	built_elf_init(&file);
	file.header.e_machine = OWN_MACHINE;
	built_elf_segment(
		&file,
		(Elf64_Phdr){.p_type = PT_INTERP, .p_offset = UINT64_MAX, .p_filesz = UINT64_MAX});
	built_elf_finish(&file);
	for (size_t len = 0; len < 512; len++) {
		CLEANUP(free_ptr) char *path = put_file("app", file.data, len, 0700);

		error_free(check(path));
		error_free(own_allocator(path));
	}
}
