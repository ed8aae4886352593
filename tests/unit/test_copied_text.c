#include "proc/copied_text.h"

#include "folder.h"
#include "proc/address_spaces.h"
#include "unit_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Where the text of the first program is mapped, and that of the library. */
enum { TEXT = 0x10000000, LIBRARY = 0x30000000 };

struct fixture {
	struct address_spaces *spaces;
	unsigned char *file; /* this program: an ELF file like any other */
	size_t len;
	struct stat st;
	uint64_t offset, vaddr, text_len; /* of the executable segment's pages */
};

static const Elf64_Phdr *executable_segment(const unsigned char *file)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *segments = (const void *)(file + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
			return &segments[i];
	fail();
	return NULL;
}

/* Writes the same file with another build-id. Files with the same build-id are
 * one module. */
static void write_library(const struct fixture *f)
{
	static const char note[] = {NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
	CLEANUP(free_ptr) unsigned char *file = memcpy(xmalloc(f->len), f->file, f->len);
	unsigned char *found = memmem(file, f->len, note, sizeof(note));

	if (found)
		found[sizeof(note)] ^= 1;
	write_file("library", file, f->len);
}

static void read_program(struct fixture *f)
{
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const uint64_t page = (uint64_t)getpagesize();
	const Elf64_Phdr *segment;

	assert_int_equal(fstat(fd, &f->st), 0);
	f->len = (size_t)f->st.st_size;
	f->file = mmap(NULL, f->len, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(f->file, MAP_FAILED);
	segment = executable_segment(f->file);
	f->offset = segment->p_offset / page * page;
	f->vaddr = segment->p_vaddr / page * page;
	f->text_len = (segment->p_offset + segment->p_filesz - f->offset + page - 1) / page * page;
	write_file("program", f->file, f->len);
	write_library(f);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	if (make_folder(state))
		return -1;
	*state = f;
	f->spaces = address_spaces_new(folder);
	address_spaces_set_opening_max(f->spaces, UINT64_MAX);
	read_program(f);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	address_spaces_free(f->spaces);
	munmap(f->file, f->len);
	free(f);
	return remove_folder(state);
}

#define TEST_PREPARED(name) TEST_WITH(setup, teardown, name)

static void map_file(struct fixture *f, uint64_t time_ns, const char *name, uint64_t start)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	address_spaces_map(f->spaces, 7, time_ns,
			   &(struct mapping){
				   .start = start,
				   .end = start + f->text_len,
				   .offset = f->offset,
				   .inode = st.st_ino,
				   .device_major = major(st.st_dev),
				   .device_minor = minor(st.st_dev),
				   .path = path,
			   });
}

static void map_memory(struct fixture *f, uint64_t time_ns, uint64_t start, uint64_t end)
{
	address_spaces_map(f->spaces, 7, time_ns,
			   &(struct mapping){.start = start, .end = end, .path = "//anon"});
}

/* The memory of process 7. */
static void write_memory(uint64_t address, const void *bytes, size_t len)
{
	CLEANUP(free_ptr) char *path = path_of("7/mem");
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(pwrite(fd, bytes, len, (off_t)address), len);
}

static void write_text(const struct fixture *f, uint64_t start)
{
	size_t len = f->text_len;

	if (f->offset + len > f->len)
		len = f->len - f->offset;
	write_memory(start, f->file + f->offset, len);
}

/* Code of a JIT compiler. */
static void write_code(uint64_t start, size_t len)
{
	CLEANUP(free_ptr) unsigned char *code = xmalloc(len);

	for (size_t i = 0; i < len; i++)
		code[i] = (unsigned char)(i * i + 7);
	write_memory(start, code, len);
}

static void assert_text(struct fixture *f, const char *name, uint64_t start, uint64_t pc)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct location location;

	assert_true(address_spaces_locate(f->spaces, 7, 300, pc, &location));
	assert_string_equal(address_spaces_module(f->spaces, location.module)->path, path);
	assert_int_equal(location.offset, f->offset + (pc - start));
}

static void assert_code(struct fixture *f, uint64_t pc)
{
	struct location location;

	assert_true(address_spaces_locate(f->spaces, 7, 300, pc, &location));
	assert_string_equal(address_spaces_module(f->spaces, location.module)->path, "[jit]");
	assert_int_equal(location.offset, pc);
}

TEST_PREPARED(text_that_was_copied_keeps_its_file)
{
	struct fixture *f = *state;

	map_file(f, 100, "program", TEXT);
	map_file(f, 100, "library", LIBRARY);
	map_memory(f, 200, TEXT, TEXT + f->text_len);
	map_memory(f, 200, LIBRARY + 0x1000, LIBRARY + f->text_len);
	write_text(f, TEXT);
	write_text(f, LIBRARY);
	assert_text(f, "program", TEXT, TEXT + 0x1234);
	assert_text(f, "library", LIBRARY, LIBRARY + 0x1234);
	/* mprotect(2) reports the mapping again. */
	map_memory(f, 250, LIBRARY + 0x1000, LIBRARY + f->text_len);
	assert_text(f, "library", LIBRARY, LIBRARY + 0x1234);
}

TEST_PREPARED(code_where_a_library_was_is_not_of_its_file)
{
	struct fixture *f = *state;

	map_file(f, 100, "program", TEXT);
	map_file(f, 100, "library", LIBRARY);
	map_memory(f, 200, LIBRARY, LIBRARY + 0x2000);
	write_code(LIBRARY, 0x2000);
	assert_code(f, LIBRARY + 0x123);
	map_memory(f, 250, LIBRARY, LIBRARY + 0x2000);
	assert_code(f, LIBRARY + 0x123);
	assert_text(f, "library", LIBRARY, LIBRARY + 0x2000);
}

TEST_PREPARED(what_cannot_be_compared_is_text_of_the_program_only)
{
	struct fixture *f = *state;

	map_file(f, 100, "program", TEXT);
	map_file(f, 100, "library", LIBRARY);
	map_memory(f, 200, TEXT, TEXT + 0x2000);
	map_memory(f, 200, LIBRARY, LIBRARY + 0x2000);
	assert_text(f, "program", TEXT, TEXT + 0x123);
	assert_code(f, LIBRARY + 0x123);
}

TEST_PREPARED(memory_around_text_is_memory)
{
	struct fixture *f = *state;

	map_file(f, 100, "program", TEXT);
	write_text(f, TEXT);
	map_memory(f, 200, TEXT - 0x4000, TEXT + f->text_len + 0x4000);
	assert_code(f, TEXT - 1);
	assert_text(f, "program", TEXT, TEXT);
	assert_text(f, "program", TEXT, TEXT + f->text_len - 1);
	assert_code(f, TEXT + f->text_len);
}

TEST_PREPARED(a_few_places_may_differ)
{
	struct fixture *f = *state;

	map_file(f, 100, "program", TEXT);
	map_file(f, 100, "library", LIBRARY);
	map_memory(f, 200, LIBRARY, LIBRARY + f->text_len);
	write_text(f, LIBRARY);
	write_code(LIBRARY + 0x1234, 1); /* a breakpoint at the pc */
	assert_text(f, "library", LIBRARY, LIBRARY + 0x1234);
}

/* The first changes of the child are in a table above that of its parent. */
TEST_PREPARED(text_of_a_child_with_many_mappings_keeps_its_file)
{
	struct fixture *f = *state;
	struct location location;

	map_file(f, 100, "program", TEXT);
	map_file(f, 100, "library", LIBRARY);
	for (uint64_t i = 0; i < 5000; i++)
		map_memory(f, 100, 0x40000000 + 0x2000 * i, 0x40000000 + 0x2000 * i + 0x1000);
	address_spaces_fork(f->spaces, 7, 8, 150);
	for (pid_t pid = 8; pid > 6; pid--) {
		address_spaces_map(f->spaces, pid, 200,
				   &(struct mapping){.start = TEXT + 0x1000,
						     .end = TEXT + 0x3000,
						     .path = "//anon"});
		address_spaces_map(f->spaces, pid, 210,
				   &(struct mapping){.start = TEXT + 0x2000,
						     .end = TEXT + 0x4000,
						     .path = "//anon"});
		for (uint64_t pc = TEXT; pc < TEXT + 0x5000; pc += 0xfff) {
			assert_true(address_spaces_locate(f->spaces, pid, 300, pc, &location));
			assert_int_equal(location.offset, f->offset + (pc - TEXT));
		}
	}
}

/* Returns a line of /proc/PID/maps. name is NULL for anonymous memory. */
static char *line_of(const char *name, uint64_t start, uint64_t end, const char *permissions,
		     uint64_t offset)
{
	CLEANUP(free_ptr) char *path = name ? path_of(name) : xstrdup("");
	struct stat st = {0};

	if (name)
		assert_int_equal(stat(path, &st), 0);
	return xasprintf("%jx-%jx %s %08jx %02x:%02x %ju %s\n", (uintmax_t)start, (uintmax_t)end,
			 permissions, (uintmax_t)offset, major(st.st_dev), minor(st.st_dev),
			 (uintmax_t)st.st_ino, path);
}

static void add_lines(struct fixture *f, char *lines[], size_t count)
{
	CLEANUP(free_ptr) char *text = xstrdup("");

	for (size_t i = 0; i < count; i++) {
		CLEANUP(free_ptr) char *line = lines[i];
		char *longer = xasprintf("%s%s", text, line);

		free(text);
		text = longer;
	}
	address_spaces_add_maps(f->spaces, 7, 100, bytes_of(text, strlen(text)));
}

/* Returns the part of the file before its text. */
static char *headers_of(const struct fixture *f, uint64_t text)
{
	return line_of("library", text - f->vaddr, text, "r--p", 0);
}

TEST_PREPARED(neighbours_show_whose_text_memory_is)
{
	struct fixture *f = *state;
	char *lines[] = {
		line_of("program", TEXT, TEXT + f->text_len, "r-xp", f->offset),
		headers_of(f, LIBRARY),
		line_of(NULL, LIBRARY, LIBRARY + f->text_len - 0x1000, "r-xp", 0),
		line_of("library", LIBRARY + f->text_len - 0x1000, LIBRARY + f->text_len, "r-xp",
			f->offset + f->text_len - 0x1000),
	};

	add_lines(f, lines, ARRAY_SIZE(lines));
	/* Both sources agree, so the text need not be compared. */
	assert_text(f, "library", LIBRARY, LIBRARY + 0x123);
}

TEST_PREPARED(one_neighbour_is_believed_if_the_text_is_the_same)
{
	struct fixture *f = *state;
	char *lines[] = {
		headers_of(f, LIBRARY),
		line_of(NULL, LIBRARY, LIBRARY + f->text_len, "r-xp", 0),
		line_of("program", TEXT + LIBRARY, TEXT + LIBRARY + f->text_len, "r-xp", f->offset),
	};

	write_text(f, LIBRARY);
	add_lines(f, lines, ARRAY_SIZE(lines));
	assert_text(f, "library", LIBRARY, LIBRARY + 0x123);
}

TEST_PREPARED(code_beside_a_file_is_not_its_text)
{
	struct fixture *f = *state;
	uint64_t start = LIBRARY - f->vaddr;
	char *lines[] = {
		line_of(NULL, start - 0x4000, start, "rwxp", 0),
		headers_of(f, LIBRARY),
		line_of("library", LIBRARY, LIBRARY + f->text_len, "r-xp", f->offset),
		line_of(NULL, LIBRARY + f->text_len, LIBRARY + f->text_len + 0x4000, "r-xp", 0),
	};

	write_code(start - 0x4000, 0x4000);
	write_code(LIBRARY + f->text_len, 0x4000);
	add_lines(f, lines, ARRAY_SIZE(lines));
	assert_code(f, start - 0x123);
	assert_text(f, "library", LIBRARY, LIBRARY + 0x123);
	assert_code(f, LIBRARY + f->text_len + 0x123);
}

/* Writes the bytes of prof's own vdso, or of any other file, to the memory of
 * process 7. */
static const struct module *vdso_at(struct fixture *f, pid_t pid, uint64_t start)
{
	struct location location;

	address_spaces_map(
		f->spaces, pid, 100,
		&(struct mapping){.start = start, .end = start + 0x2000, .path = "[vdso]"});
	assert_true(address_spaces_locate(f->spaces, pid, 100, start + 0x123, &location));
	assert_int_equal(location.offset, 0x123);
	return address_spaces_module(f->spaces, location.module);
}

TEST_PREPARED(the_vdso_of_a_32_bit_process_is_read_from_its_memory)
{
	struct fixture *f = *state;
	CLEANUP(free_ptr) char *of_7 = path_of("7/mem");
	CLEANUP(free_ptr) char *of_8 = path_of("8/mem");
	const struct module *vdso, *own = vdso_at(f, 7, 0x7fff00000000);
	struct bytes image;

	if (sizeof(void *) != 8)
		skip();
	write_memory(0xf7fc0000, f->file, 0x2000);
	assert_int_equal(link(of_7, of_8), 0);
	vdso = vdso_at(f, 7, 0xf7fc0000);
	assert_int_equal(vdso->kind, MODULE_VDSO);
	assert_ptr_not_equal(vdso, own);
	assert_non_null(vdso->elf);
	image = elf_file_contents(vdso->elf);
	assert_int_equal(bytes_left(&image), 0x2000);
	assert_memory_equal(image.at, f->file, 0x2000);
	assert_ptr_equal(vdso_at(f, 8, 0xf7fc0000), vdso);
	/* The first one cannot be read, and the second one is not an ELF file. */
	assert_null(vdso_at(f, 9, 0xf7fc0000)->elf);
	assert_non_null(vdso_at(f, 9, 0xf7fc0000)->problem);
	write_code(0xf7f00000, 0x2000);
	assert_null(vdso_at(f, 7, 0xf7f00000)->elf);
}
