/*
 * Finds separate debug files: by build-id (/usr/lib/debug/.build-id/ab/cdef….debug), then by
 * .gnu_debuglink beside the file, in .debug/ and under /usr/lib/debug, verified by CRC-32 or
 * build-id; and dwz's supplementary file (.gnu_debugaltlink), verified by build-id. Source: GDB
 * manual, "Separate Debug Files"; dwz(1).
 *
 * What the ELF file says becomes a question; where such files are, and whether they may be opened,
 * is known to who answers it (proc/file_locator.h, or a process with more rights than this one).
 */
#ifndef PROF_ELF_DEBUGFILE_H
#define PROF_ELF_DEBUGFILE_H

#include "elf/elf_file.h"

#include <limits.h>

enum debugfile_kind {
	DEBUGFILE_BY_BUILD_ID,
	DEBUGFILE_BY_LINK, /* name: a file name, looked for in several directories */
	DEBUGFILE_BY_PATH, /* name: an absolute path without ".." */
};

/*
 * Plain data, so that it can be sent to another process. An opener treats all of it as hostile and
 * asks debugfile_question_is_valid() first.
 */
struct debugfile_question {
	enum debugfile_kind kind;
	struct build_id build_id; /* DEBUGFILE_BY_BUILD_ID */
	const char *name;	  /* else; shorter than PATH_MAX */
};

/* Whether the build-id and the name are what their kind says. */
bool debugfile_question_is_valid(const struct debugfile_question *question);

/* Opens the candidates for the debug file of one ELF file. */
struct debugfile_opener {
	/*
	 * Opens candidate number `attempt` (0, 1, …) of those that exist; -1 if there are no more.
	 * Candidates are regular files that begin with the ELF magic; nothing else about them is
	 * verified. *path: where the file is in the file system of the ELF file; the caller frees
	 * it. It is unchanged if the result is -1.
	 */
	int (*open)(void *user, const struct debugfile_question *question, unsigned attempt,
		    char **path);
	void *user;
};

/*
 * The first candidate that `accepts` accepts; NULL if there is none. It shares the budget of elf,
 * the file that it is for.
 */
typedef bool debugfile_accepts(void *user, struct elf_file *candidate);
struct elf_file *debugfile_find_accepted(struct elf_file *elf,
					 const struct debugfile_opener *opener,
					 const struct debugfile_question *question,
					 debugfile_accepts *accepts, void *user);

/* NULL if none is found. */
struct elf_file *debugfile_find(struct elf_file *elf, const struct debugfile_opener *opener);
/*
 * The supplementary file of a file with .debug_info; NULL if it names none or none is found. A
 * relative link is relative to the directory of elf_file_name(debug).
 */
struct elf_file *debugfile_find_alt(struct elf_file *debug, const struct debugfile_opener *opener);

/*
 * The ELF file that some distributions embed, compressed with xz, in a stripped file
 * (.gnu_debugdata); it has the function symbols that .dynsym lacks. NULL if there is none. Source:
 * GDB manual, "MiniDebugInfo".
 */
struct elf_file *debugfile_inside(struct elf_file *elf);

/*
 * An absolute path without "." and ".."; the caller frees it. A relative name is relative to the
 * directory.
 */
char *debugfile_path_in(const char *directory, const char *name);

#endif
