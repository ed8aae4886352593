#include "proc/kernel.h"

#include "folder.h"
#include "unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char symbols[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000040 t early_stop\n"
			      "ffffffff82000000 T _etext\n"
			      "ffffffff83000000 D jiffies\n";
static const char hidden[] = "0000000000000000 T _text\n"
			     "0000000000000000 T _etext\n";
static const unsigned char build_id[20] = {1, 2, 3, 4};

static void write_notes(void)
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
	write_file("sys/kernel/notes", notes, len + sizeof(build_id));
}

/* Writes a kernel into the folder. */
static void write_kernel(const char *kallsyms)
{
	write_file("proc/kallsyms", kallsyms, strlen(kallsyms));
	write_notes();
}

/* Returns the mark of a recording on this kernel. */
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

TEST_IN_FOLDER(the_code_reaches_from_text_to_etext)
{
	struct kernel_code code;

	write_kernel(symbols);
	code = kernel_code_here(folder);
	assert_int_equal(code.start, 0xffffffff81000000);
	assert_int_equal(code.end, 0xffffffff82000000);
}

TEST_IN_FOLDER(a_kernel_is_the_running_one_if_everything_reported_agrees)
{
	struct utsname system;
	struct kernel_mark mark;

	write_kernel(symbols);
	uname(&system);
	mark = mark_of(&system);
	assert_true(kernel_is_ours(&mark, folder));
	mark.build_id.len = 0;
	assert_true(kernel_is_ours(&mark, folder));
}

TEST_IN_FOLDER(another_name_release_build_or_place_is_another_kernel)
{
	struct utsname system;
	struct kernel_mark mark;

	write_kernel(symbols);
	uname(&system);
	mark = mark_of(&system);
	mark.host = "elsewhere";
	assert_false(kernel_is_ours(&mark, folder));
	mark = mark_of(&system);
	mark.release = "2.6.32";
	assert_false(kernel_is_ours(&mark, folder));
	mark = mark_of(&system);
	mark.build_id.bytes[0]++;
	assert_false(kernel_is_ours(&mark, folder));
	/* After a reboot, the kernel has another random address. */
	mark = mark_of(&system);
	mark.start += 0x1000000;
	assert_false(kernel_is_ours(&mark, folder));
}

TEST_IN_FOLDER(without_names_the_whole_place_must_agree)
{
	struct kernel_mark mark = {.start = 0xffffffff81000000, .end = 0xffffffff82000000};

	write_kernel(symbols);
	assert_true(kernel_is_ours(&mark, folder));
	mark.end += 0x1000;
	assert_false(kernel_is_ours(&mark, folder));
}

TEST_IN_FOLDER(hidden_addresses_leave_it_to_the_names)
{
	struct utsname system;
	struct kernel_mark mark;

	write_kernel(hidden);
	uname(&system);
	mark = mark_of(&system);
	assert_true(kernel_is_ours(&mark, folder));
	mark.host = NULL;
	assert_false(kernel_is_ours(&mark, folder));
}

TEST_IN_FOLDER(a_recording_without_kernel_information_does_not_match)
{
	write_kernel(symbols);
	assert_false(kernel_is_ours(&(struct kernel_mark){0}, folder));
}
