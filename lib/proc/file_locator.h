/*
 * Locates the file behind a mapping and opens it.
 *
 * Live, while the process exists, in this order:
 *
 *   /proc/PID/exe                   the program itself, if it is deleted
 *   /proc/PID/map_files/START-END   the mapped file itself, also when it is deleted; needs
 *                                   CAP_CHECKPOINT_RESTORE or more
 *   /proc/PID/root/NAME             its name in the root of the process (process_root.h)
 *   PATH                            its name in prof's own root
 *   /proc/PID/exe                   the program itself, also when no name leads to it any more
 *   /proc/PID/fd/N                  a deleted file, or one of memfd_create(2), that is still open
 *
 * exe, root and fd are those of another thread if the main thread has ended (process_links.h).
 *
 * The file must have the mapping's build-id or, if that is unknown, its inode. The device must
 * agree too; where it does not (btrfs and overlayfs report another device for mappings than
 * stat(2)), the mapping must be part of an executable segment.
 *
 * A mapping that the kernel has not confirmed (mapping.h) is looked for by its two names only, with
 * the rights of whoever claims it.
 *
 * From a recording, in this order; entries in brackets only if the build-id is known: |
 * SYMFS/PATH, [SYMFS/NAME, SYMFS by build-id,] if a symfs directory is given; else | PATH |
 * [DEBUG_DIR by build-id, CACHE by build-id]
 *
 * "by build-id" is .build-id/ab/cdef…, the file itself or a directory with `elf` in it, as in
 * perf's cache. The file must have the mapping's build-id or, if that is unknown, the mapping must
 * be part of an executable segment.
 *
 * Files are opened as foreign_file.h says, and names in the process's root do not lead out of it. A
 * file system that does not answer (timed_call.h) costs its users their files, not the recording.
 */
#ifndef PROF_PROC_FILE_LOCATOR_H
#define PROF_PROC_FILE_LOCATOR_H

#include "base/cleanup.h"
#include "proc/debug_files.h"
#include "proc/jitdump.h"
#include "proc/mapping.h"
#include "proc/perf_map.h"

struct file_locator;

/* proc: as in address_spaces_new(). */
struct file_locator *file_locator_new(const char *proc);
struct file_locator *file_locator_new_recorded(const struct recorded_files *files);
void file_locator_free(struct file_locator *locator);
DEFINE_CLEANUP(file_locator, file_locator_free)

/* Which file was opened. */
struct file_identity {
	uint64_t device, inode; /* inode 0: unknown */
	uint64_t size_bytes, modified_ns;
	uid_t owner;
	bool is_shared;	 /* writable by others than its owner */
	bool is_overlay; /* on overlayfs */
};

/* The result of an attempt to open a file. */
struct located_file {
	struct elf_file *elf; /* NULL: see error */
	struct file_identity identity;
	struct error *error;
	bool no_elf; /* the right file, but not an ELF file */
};

/*
 * ELF files share one budget of decompressed bytes, so the locator must outlive them.
 *
 * path: the mapping's, without " (deleted)"; `deleted` says whether it had that suffix.
 */
struct located_file file_locator_open(const struct file_locator *locator, pid_t pid,
				      const struct mapping *mapping, const char *path,
				      bool deleted);
/* prof's own vdso, if it is the mapped one. */
struct located_file file_locator_open_vdso(const struct file_locator *locator,
					   const struct mapping *mapping);

/*
 * The vdso of a process that has another one than prof (process_vdso.h); NULL if it cannot be read.
 */
struct elf_file *file_locator_read_vdso(const struct file_locator *locator, pid_t pid, uid_t user,
					const struct mapping *mapping);

/* Gives an ELF file that was not opened by the locator the budget of those that were. */
void file_locator_bound(const struct file_locator *locator, struct elf_file *elf);

/* "/usr/lib/debug" unless set. Copied. */
void file_locator_set_debug_dir(struct file_locator *locator, const char *debug_dir);
/* Whether another process that maps the same file may make it accessible. */
bool file_locator_may_find_later(const struct file_locator *locator);

/*
 * Where the debug files of a mapped file are; path: its name in that root; the other arguments are
 * as in struct debug_files.
 * Borrows locator and path.
 */
struct debug_files file_locator_debug_files(const struct file_locator *locator, const char *path,
					    int root, uid_t owner, bool is_foreign);
/*
 * The root of a process, if it is another one than prof's: *ret is a descriptor that stays open,
 * and stays usable when the process has ended; -1: it is prof's. False, with -1: the process has
 * ended, or too many others are open.
 */
bool file_locator_keep_root(struct file_locator *locator, pid_t pid, int *ret);
/* Live only: as process_root_name(). */
char *file_locator_root_name(const struct file_locator *locator, pid_t pid, const char *path);
/* The user of a process that exists; FOREIGN_USER_UNKNOWN for a recording. */
uid_t file_locator_user(const struct file_locator *locator, pid_t pid);
/* As process_own_pid(); pid for a recording. */
pid_t file_locator_own_pid(const struct file_locator *locator, pid_t pid);
/* As jit_map_open_below(). */
int file_locator_open_jit_map_below(const struct file_locator *locator, int root, pid_t own_pid,
				    uid_t user);
/* As jit_map_open(). */
int file_locator_open_jit_map(const struct file_locator *locator, const char *proc, pid_t pid,
			      uid_t last_user);
/* The perf map of a process that exists, or NULL. */
struct perf_map *file_locator_open_perf_map(const struct file_locator *locator, pid_t pid,
					    struct code_budget *budget);
/*
 * The jitdump that a process maps under this path, with the mapping's inode, or of a recording the
 * one below SYMFS: its reader, or NULL.
 */
struct jitdump *file_locator_open_jitdump(const struct file_locator *locator, pid_t pid,
					  const struct mapping *mapping, const char *path,
					  struct code_budget *budget, bool has_other_time);

#endif
