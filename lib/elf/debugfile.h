/*
 * Finds separate debug files: by build-id
 * (/usr/lib/debug/.build-id/ab/cdef….debug), then by .gnu_debuglink next to the
 * file, in .debug/ and under /usr/lib/debug, verified by CRC-32 or build-id.
 * dwz's supplementary file (.gnu_debugaltlink) is found, too, and verified by
 * build-id. Source: GDB manual, "Separate Debug Files"; dwz(1).
 *
 * This module only turns the contents of the ELF file into questions. An opener
 * answers them. It knows where such files are and whether they may be opened
 * (proc/file_locator.h, or a process with more privileges than this one).
 */
#ifndef PROF_ELF_DEBUGFILE_H
#define PROF_ELF_DEBUGFILE_H

#include "elf/elf_file.h"

#include <limits.h>

enum debugfile_kind {
	DEBUGFILE_BY_BUILD_ID,
	/* `name` is a file name that is searched in several directories */
	DEBUGFILE_BY_LINK,
	DEBUGFILE_BY_PATH, /* `name` is an absolute path without ".." */
};

/*
 * Plain data, so that it can be sent to another process. An opener must not
 * trust it and has to call debugfile_question_is_valid() first.
 */
struct debugfile_question {
	enum debugfile_kind kind;
	struct build_id build_id; /* for DEBUGFILE_BY_BUILD_ID */
	const char *name;	  /* for the other kinds; shorter than PATH_MAX */
};

/* Returns true if the build-id and the name are valid for the kind. */
bool debugfile_question_is_valid(const struct debugfile_question *question);

/* Opens the candidates for the debug file of one ELF file. */
struct debugfile_opener {
	/*
	 * Opens the existing candidate with number `attempt` (0, 1, …). Returns
	 * -1 if there are no more. Candidates are regular files that start with
	 * the ELF magic; nothing else is verified. *path is the path of the
	 * file in the file system of the ELF file; the caller frees it. It is
	 * unchanged if the result is -1.
	 */
	int (*open)(void *user, const struct debugfile_question *question, unsigned attempt,
		    char **path);
	void *user;
};

/*
 * Returns the first candidate that `accepts` accepts, or NULL. The candidate
 * shares the budget of `elf`, the file that it belongs to.
 */
typedef bool debugfile_accepts(void *user, struct elf_file *candidate);
struct elf_file *debugfile_find_accepted(struct elf_file *elf,
					 const struct debugfile_opener *opener,
					 const struct debugfile_question *question,
					 debugfile_accepts *accepts, void *user);

/* Returns NULL if no debug file is found. */
struct elf_file *debugfile_find(struct elf_file *elf, const struct debugfile_opener *opener);
/*
 * Returns the supplementary file of a file with .debug_info, or NULL if it does
 * not refer to one or none is found. A relative link is relative to the
 * directory of elf_file_name(debug).
 */
struct elf_file *debugfile_find_alt(struct elf_file *debug, const struct debugfile_opener *opener);

/*
 * Returns the ELF file that some distributions embed in a stripped file,
 * compressed with xz (.gnu_debugdata), or NULL if there is none. It has the
 * function symbols that .dynsym lacks. Source: GDB manual, "MiniDebugInfo".
 */
struct elf_file *debugfile_inside(struct elf_file *elf);

/*
 * Returns an absolute path without "." and "..", which the caller frees. A
 * relative `name` is relative to the directory.
 */
char *debugfile_path_in(const char *directory, const char *name);

#endif
