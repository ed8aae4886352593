/*
 * Finds and opens the file of a mapping.
 *
 * While the process exists (live mode), candidates are tried in this order:
 *
 *   /proc/PID/exe                  the program itself, if it is deleted
 *   /proc/PID/map_files/START-END  the mapped file itself, even if deleted;
 *                                  needs CAP_CHECKPOINT_RESTORE or more
 *   /proc/PID/root/NAME            its name in the process's root
 *                                  (process_root.h)
 *   PATH                           its name in prof's own root
 *   /proc/PID/exe                  the program itself, even if it has no name
 *   /proc/PID/fd/N                 a deleted file or memfd that is still open
 *
 * If the main thread has ended, exe, root and fd are those of another thread
 * (process_links.h).
 *
 * The file must have the mapping's build-id or, if that is unknown, its inode.
 * The device must match as well. If it does not, the mapping must be part of an
 * executable segment, because btrfs and overlayfs report different devices for
 * mappings and stat(2).
 *
 * A mapping that the kernel has not confirmed (mapping.h) is searched only by
 * its two names, with the privileges of the user who claims it.
 *
 * For a recording, candidates are tried in this order. Those in brackets need a
 * build-id:
 *
 *   SYMFS/PATH, [SYMFS/NAME, SYMFS by build-id], if there is a symfs directory;
 *   otherwise PATH
 *   [DEBUG_DIR by build-id, CACHE by build-id]
 *
 * "by build-id" means .build-id/ab/cdef…: the file itself, or a directory that
 * contains `elf`, as in perf's cache. The file must have the mapping's build-id
 * or, if that is unknown, the mapping must be part of an executable segment.
 *
 * untrusted_file.h describes how files are opened. Names in the process's root
 * cannot escape from it. If a file system does not answer (timed_call.h), only
 * its users lose their files.
 */
#ifndef PROF_PROC_FILE_LOCATOR_H
#define PROF_PROC_FILE_LOCATOR_H

#include "base/cleanup.h"
#include "proc/debug_files.h"
#include "proc/jitdump.h"
#include "proc/mapping.h"
#include "proc/perf_map.h"

struct file_locator;

/* `proc` is as in address_spaces_new(). */
struct file_locator *file_locator_new(const char *proc);
struct file_locator *file_locator_new_recorded(const struct recorded_files *files);
void file_locator_free(struct file_locator *locator);
DEFINE_CLEANUP(file_locator, file_locator_free)

/* Identifies the opened file. */
struct file_identity {
	uint64_t device, inode; /* inode is 0 if unknown */
	uint64_t size_bytes, modified_ns;
	uid_t owner;
	bool is_shared;	 /* writable by users other than its owner */
	bool is_overlay; /* on overlayfs */
};

/* The result of an attempt to open a file. */
struct located_file {
	struct elf_file *elf; /* NULL on failure: see error */
	struct file_identity identity;
	struct error *error;
	bool no_elf; /* the right file, but not an ELF file */
};

/*
 * Opens the file of a mapping. The locator must outlive all ELF files, because
 * they share its budget of decompressed bytes.
 *
 * `path` is the mapping's path without " (deleted)". `deleted` is set if it had
 * that suffix.
 */
struct located_file file_locator_open(const struct file_locator *locator, pid_t pid,
				      const struct mapping *mapping, const char *path,
				      bool deleted);
/* Opens prof's own vdso, if the process maps the same one. */
struct located_file file_locator_open_vdso(const struct file_locator *locator,
					   const struct mapping *mapping);

/*
 * Returns the vdso of a process that has a different one than prof
 * (process_vdso.h), or NULL if it cannot be read.
 */
struct elf_file *file_locator_read_vdso(const struct file_locator *locator, pid_t pid, uid_t user,
					const struct mapping *mapping);

/*
 * Adds an ELF file that the locator did not open to the budget of those that it
 * did.
 */
void file_locator_bound(const struct file_locator *locator, struct elf_file *elf);

/*
 * Sets the directory of debug files, by default "/usr/lib/debug". Copies the
 * string.
 */
void file_locator_set_debug_dir(struct file_locator *locator, const char *debug_dir);
/*
 * Returns whether the file may become accessible through another process that
 * maps it.
 */
bool file_locator_may_find_later(const struct file_locator *locator);

/*
 * Returns where to search for the debug files of a mapped file. `path` is its
 * name in `root`. The other arguments are as in struct debug_files. Borrows the
 * locator and `path`.
 */
struct debug_files file_locator_debug_files(const struct file_locator *locator, const char *path,
					    int root, uid_t owner, bool is_untrusted);
/*
 * Opens the root of a process if it differs from prof's. *ret is a descriptor
 * that stays open and valid after the process has ended, or -1 if the root is
 * prof's. Returns false, with -1, if the process has ended or too many other
 * roots are open.
 */
bool file_locator_keep_root(struct file_locator *locator, pid_t pid, int *ret);
/* Does process_root_name(), in live mode only. */
char *file_locator_root_name(const struct file_locator *locator, pid_t pid, const char *path);
/*
 * Returns the user of a running process. Returns UNTRUSTED_USER_UNKNOWN for a
 * recording.
 */
uid_t file_locator_user(const struct file_locator *locator, pid_t pid);
/* Does process_own_pid(). Returns `pid` for a recording. */
pid_t file_locator_own_pid(const struct file_locator *locator, pid_t pid);
/* Does jit_map_open_below(). */
int file_locator_open_jit_map_below(const struct file_locator *locator, int root, pid_t own_pid,
				    uid_t user);
/* Does jit_map_open(). */
int file_locator_open_jit_map(const struct file_locator *locator, const char *proc, pid_t pid,
			      uid_t last_user);
/* Opens the perf map of a running process. Returns NULL if there is none. */
struct perf_map *file_locator_open_perf_map(const struct file_locator *locator, pid_t pid,
					    struct code_budget *budget);
/*
 * Opens the jitdump that a process maps under this path and with the mapping's
 * inode. For a recording, opens the file below SYMFS. Returns NULL on failure.
 */
struct jitdump *file_locator_open_jitdump(const struct file_locator *locator, pid_t pid,
					  const struct mapping *mapping, const char *path,
					  struct code_budget *budget, bool has_other_time);

#endif
