#include "proc/kernel.h"

#include "base/alloc.h"

#include <elf.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cmocka.h>

static const char symbols[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000040 t early_stop\n"
			      "ffffffff82000000 T _etext\n"
			      "ffffffff83000000 D jiffies\n";
static const char hidden[] = "0000000000000000 T _text\n"
			     "0000000000000000 T _etext\n";
static const unsigned char build_id[20] = {1, 2, 3, 4};

/* A folder with a kernel in it. */
struct root {
	char path[32];
};

static void write_file(const struct root *root, const char *name, const void *data, size_t len)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s%s", root->path, name);
	CLEANUP(close_file) FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
}

static void make_folder(const struct root *root, const char *name)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s%s", root->path, name);

	assert_int_equal(mkdir(path, 0700), 0);
}

static void write_notes(const struct root *root)
{
	static const Elf64_Nhdr other = {.n_namesz = 6, .n_descsz = 4, .n_type = 1};
	static const Elf64_Nhdr id = {.n_namesz = sizeof(ELF_NOTE_GNU),
				      .n_descsz = sizeof(build_id),
				      .n_type = NT_GNU_BUILD_ID};
	unsigned char notes[128];
	size_t len = 0;

	memset(notes, 0, sizeof(notes));
	memcpy(notes, &other, sizeof(other));
	len += sizeof(other) + 8 + 4;
	memcpy(notes + len, &id, sizeof(id));
	len += sizeof(id);
	memcpy(notes + len, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	len += sizeof(ELF_NOTE_GNU);
	memcpy(notes + len, build_id, sizeof(build_id));
	write_file(root, "/sys/kernel/notes", notes, len + sizeof(build_id));
}

static struct root make_root(const char *kallsyms)
{
	struct root root = {"/tmp/prof-test-XXXXXX"};

	assert_non_null(mkdtemp(root.path));
	make_folder(&root, "/proc");
	make_folder(&root, "/sys");
	make_folder(&root, "/sys/kernel");
	write_file(&root, "/proc/kallsyms", kallsyms, strlen(kallsyms));
	write_notes(&root);
	return root;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_root(struct root *root)
{
	nftw(root->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* What a recording of this kernel tells. */
static struct kernel_mark mark_of(const struct utsname *system)
{
	struct kernel_mark mark = {
		.host = system->nodename,
		.release = system->release,
		.build_id.len = sizeof(build_id),
		.start = 0xffffffff81000000,
		.end = 0xffffffff82000000,
	};

	memcpy(mark.build_id.bytes, build_id, sizeof(build_id));
	return mark;
}

static void the_code_reaches_from_text_to_etext(void **state)
{
	CLEANUP(remove_root) struct root root = make_root(symbols);
	struct kernel_code code = kernel_code_here(root.path);

	(void)state;
	assert_int_equal(code.start, 0xffffffff81000000);
	assert_int_equal(code.end, 0xffffffff82000000);
}

static void a_kernel_is_ours_when_all_that_is_told_agrees(void **state)
{
	CLEANUP(remove_root) struct root root = make_root(symbols);
	struct utsname system;
	struct kernel_mark mark;

	(void)state;
	uname(&system);
	mark = mark_of(&system);
	assert_true(kernel_is_ours(&mark, root.path));
	mark.build_id.len = 0;
	assert_true(kernel_is_ours(&mark, root.path));
}

static void another_name_release_build_or_place_is_another_kernel(void **state)
{
	CLEANUP(remove_root) struct root root = make_root(symbols);
	struct utsname system;
	struct kernel_mark mark;

	(void)state;
	uname(&system);
	mark = mark_of(&system);
	mark.host = "elsewhere";
	assert_false(kernel_is_ours(&mark, root.path));
	mark = mark_of(&system);
	mark.release = "2.6.32";
	assert_false(kernel_is_ours(&mark, root.path));
	mark = mark_of(&system);
	mark.build_id.bytes[0]++;
	assert_false(kernel_is_ours(&mark, root.path));
	/* Booted since, where the kernel chooses its place anew. */
	mark = mark_of(&system);
	mark.start += 0x1000000;
	assert_false(kernel_is_ours(&mark, root.path));
}

static void without_names_the_whole_place_must_agree(void **state)
{
	CLEANUP(remove_root) struct root root = make_root(symbols);
	struct kernel_mark mark = {.start = 0xffffffff81000000, .end = 0xffffffff82000000};

	(void)state;
	assert_true(kernel_is_ours(&mark, root.path));
	mark.end += 0x1000;
	assert_false(kernel_is_ours(&mark, root.path));
}

static void hidden_addresses_leave_it_to_the_names(void **state)
{
	CLEANUP(remove_root) struct root root = make_root(hidden);
	struct utsname system;
	struct kernel_mark mark;

	(void)state;
	uname(&system);
	mark = mark_of(&system);
	assert_true(kernel_is_ours(&mark, root.path));
	mark.host = NULL;
	assert_false(kernel_is_ours(&mark, root.path));
}

static void who_tells_nothing_is_not_believed(void **state)
{
	CLEANUP(remove_root) struct root root = make_root(symbols);

	(void)state;
	assert_false(kernel_is_ours(&(struct kernel_mark){0}, root.path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_reaches_from_text_to_etext),
		cmocka_unit_test(a_kernel_is_ours_when_all_that_is_told_agrees),
		cmocka_unit_test(another_name_release_build_or_place_is_another_kernel),
		cmocka_unit_test(without_names_the_whole_place_must_agree),
		cmocka_unit_test(hidden_addresses_leave_it_to_the_names),
		cmocka_unit_test(who_tells_nothing_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
