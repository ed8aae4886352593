#include "proc/file_locator.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "folder.h"
#include "lacking.h"
#include "unit_test.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Writes a program with one executable segment of 0x1800 bytes at offset
 * `code`, and the build-id id, 1, 2, 3. */
static void write_program(const char *name, unsigned char id, uint64_t code)
{
	static struct built_elf file;
	const unsigned char bytes[] = {id, 1, 2, 3};
	unsigned char note[80];
	size_t len = built_elf_build_id(note, bytes, sizeof(bytes));
	uint64_t offset;

	built_elf_init(&file);
	offset = built_elf_bytes(&file, note, len);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R,
					      .p_filesz = 0x1000,
					      .p_memsz = 0x1000,
					      .p_align = 0x1000});
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_offset = code,
					      .p_vaddr = code,
					      .p_filesz = 0x1800,
					      .p_memsz = 0x1800,
					      .p_align = 0x1000});
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_NOTE,
					      .p_flags = PF_R,
					      .p_offset = offset,
					      .p_filesz = len,
					      .p_memsz = len,
					      .p_align = 4});
	built_elf_finish(&file);
	write_file(name, file.data, file.len > 0x4000 ? file.len : 0x4000);
}

static struct mapping mapping_of(unsigned char id)
{
	return (struct mapping){.start = 0x401000,
				.end = 0x403000,
				.offset = 0x1000,
				.inode = 4711,
				.build_id = {{id, 1, 2, 3}, id ? 4 : 0},
				.path = "/usr/bin/shop"};
}

static struct located_file find(const struct recorded_files *files, const struct mapping *mapping,
				bool deleted)
{
	struct file_locator *locator = file_locator_new_recorded(files);
	struct located_file finding = file_locator_open(locator, 1, mapping, mapping->path,
							deleted);

	file_locator_free(locator);
	return finding;
}

static void assert_found(const struct recorded_files *files, const struct mapping *mapping,
			 bool deleted)
{
	struct located_file finding = find(files, mapping, deleted);

	if (!finding.elf)
		fail_msg("%s", error_text(finding.error));
	assert_null(finding.error);
	elf_file_free(finding.elf);
}

static void assert_not_found(const struct recorded_files *files, const struct mapping *mapping,
			     bool deleted, const char *why)
{
	struct located_file finding = find(files, mapping, deleted);

	assert_null(finding.elf);
	if (!strstr(error_text(finding.error), why))
		fail_msg("\"%s\" does not say \"%s\"", error_text(finding.error), why);
	error_free(finding.error);
}

TEST_IN_FOLDER(a_file_is_found_below_symfs)
{
	struct mapping mapping = mapping_of(7);

	write_program("/usr/bin/shop", 7, 0x1000);
	assert_found(&(struct recorded_files){.symfs = folder}, &mapping, false);
}

TEST_IN_FOLDER(another_build_in_its_place_is_refused)
{
	struct mapping mapping = mapping_of(7);

	write_program("/usr/bin/shop", 8, 0x1000);
	assert_not_found(&(struct recorded_files){.symfs = folder}, &mapping, false,
			 "is another file than the recorded one");
}

TEST_IN_FOLDER(a_moved_file_is_known_by_its_build_id)
{
	struct mapping mapping = mapping_of(7);

	write_program("/usr/bin/shop", 8, 0x1000);
	write_program("/shop", 7, 0x1000);
	assert_found(&(struct recorded_files){.symfs = folder}, &mapping, false);
}

TEST_IN_FOLDER(a_build_id_directory_holds_files)
{
	struct mapping mapping = mapping_of(7);

	write_program("/.build-id/07/010203", 7, 0x1000);
	assert_found(&(struct recorded_files){.debug_dir = folder}, &mapping, false);
	assert_found(&(struct recorded_files){.symfs = folder}, &mapping, false);
}

TEST_IN_FOLDER(perfs_cache_holds_files)
{
	struct mapping mapping = mapping_of(7);

	write_program("/.build-id/07/010203/elf", 7, 0x1000);
	assert_found(&(struct recorded_files){.cache_dir = folder}, &mapping, false);
}

TEST_IN_FOLDER(a_wrong_file_in_a_build_id_directory_is_refused)
{
	struct mapping mapping = mapping_of(7);

	write_program("/.build-id/07/010203", 8, 0x1000);
	assert_not_found(&(struct recorded_files){.symfs = folder, .debug_dir = folder}, &mapping,
			 false, "/usr/bin/shop");
}

TEST_IN_FOLDER(without_a_build_id_a_file_with_code_at_the_recorded_place_is_accepted)
{
	struct mapping mapping = mapping_of(0);

	write_program("/usr/bin/shop", 9, 0x1000);
	assert_found(&(struct recorded_files){.symfs = folder}, &mapping, false);
	write_program("/usr/bin/shop", 9, 0x8000);
	assert_not_found(&(struct recorded_files){.symfs = folder}, &mapping, false,
			 "is another file");
}

TEST_IN_FOLDER(the_kernel_reserves_a_whole_program_by_its_first_segment)
{
	struct mapping mapping = mapping_of(0);

	write_program("/usr/bin/shop", 9, 0x1000);
	mapping.end = mapping.start + 0x100000;
	assert_not_found(&(struct recorded_files){.symfs = folder}, &mapping, false,
			 "is another file");
	/* The first segment contains the code. */
	static struct built_elf file;
	built_elf_init(&file);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_filesz = 0x1800,
					      .p_memsz = 0x1800,
					      .p_align = 0x1000});
	built_elf_finish(&file);
	write_file("/usr/bin/shop", file.data, 0x2000);
	mapping.offset = 0;
	assert_found(&(struct recorded_files){.symfs = folder}, &mapping, false);
}

TEST_IN_FOLDER(a_deleted_file_is_found_only_by_its_build_id)
{
	struct mapping known = mapping_of(7), unknown = mapping_of(0);

	write_program("/usr/bin/shop", 7, 0x1000);
	assert_found(&(struct recorded_files){.symfs = folder}, &known, true);
	assert_not_found(&(struct recorded_files){.symfs = folder}, &unknown, true, "was deleted");
}

TEST_IN_FOLDER(something_else_in_its_place_does_not_end_the_search)
{
	struct mapping mapping = mapping_of(7);

	write_file("/usr/bin/shop", "#!/bin/sh\n", 10);
	assert_not_found(&(struct recorded_files){.symfs = folder}, &mapping, false,
			 "/usr/bin/shop");
	write_program("/.build-id/07/010203", 7, 0x1000);
	assert_found(&(struct recorded_files){.symfs = folder}, &mapping, false);
}

TEST_IN_FOLDER(the_vdso_is_ours_by_build_id_or_by_the_same_kernel)
{
	struct mapping mapping = {.start = 0x1000, .end = 0x3000, .path = "[vdso]"};
	struct file_locator *elsewhere = file_locator_new_recorded(&(struct recorded_files){0});
	struct file_locator *here =
		file_locator_new_recorded(&(struct recorded_files){.same_kernel = true});
	struct located_file ours = file_locator_open_vdso(here, &mapping), other;

	if (!getauxval(AT_SYSINFO_EHDR))
		RETURN_LACKING("a vdso");
	assert_non_null(ours.elf);
	other = file_locator_open_vdso(elsewhere, &mapping);
	assert_null(other.elf);
	error_free(other.error);
	mapping.build_id = *elf_file_build_id(ours.elf);
	other = file_locator_open_vdso(elsewhere, &mapping);
	assert_non_null(other.elf);
	elf_file_free(other.elf);
	mapping.build_id.bytes[0]++;
	other = file_locator_open_vdso(here, &mapping);
	assert_null(other.elf);
	error_free(other.error);
	elf_file_free(ours.elf);
	file_locator_free(here);
	file_locator_free(elsewhere);
}

/* Looks up the file by the name that a process with libprof-inside.so reports. */
static bool is_found_for(uid_t user, const char *name, bool with_inode)
{
	struct file_locator *locator = file_locator_new("/proc");
	CLEANUP(free_ptr) char *path = path_of(name);
	struct mapping mapping = mapping_of(0);
	struct located_file finding;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	mapping.device_major = major(st.st_dev);
	mapping.device_minor = minor(st.st_dev);
	mapping.inode = with_inode ? st.st_ino : 0;
	mapping.path = path;
	mapping.is_claimed = true;
	mapping.claimant = user;
	finding = file_locator_open(locator, getpid(), &mapping, path, false);
	error_free(finding.error);
	elf_file_free(finding.elf);
	file_locator_free(locator);
	return finding.elf;
}

TEST_IN_FOLDER(a_file_that_a_process_claims_is_opened_as_its_user)
{
	CLEANUP(free_ptr) char *public = path_of("public");
	CLEANUP(free_ptr) char *secret = path_of("secret");
	CLEANUP(free_ptr) char *hidden = path_of("private");

	write_program("/public", 7, 0x1000);
	write_program("/secret", 7, 0x1000);
	write_program("/private/program", 7, 0x1000);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chmod(public, 0755), 0);
	assert_int_equal(chmod(secret, 0700), 0);
	assert_true(is_found_for(geteuid(), "secret", true));
	assert_true(is_found_for(54321, "public", true) || geteuid() != 0 || !has_openat2());
	/* Any file may have this name. */
	assert_false(is_found_for(geteuid(), "secret", false));
	assert_false(is_found_for(54321, "public", false));
	if (geteuid() != 0)
		RETURN_LACKING("root");
	assert_int_equal(chmod(hidden, 0700), 0);
	assert_false(is_found_for(54321, "secret", true));
	assert_false(is_found_for(54321, "private/program", true));
	assert_true(is_found_for(0, "private/program", true));
}
