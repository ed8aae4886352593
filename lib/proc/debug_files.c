#include "proc/debug_files.h"

#include "base/alloc.h"
#include "elf/file_origin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* By link, three in the process's root and four elsewhere. */
enum { CANDIDATES_MAX = 7 };

struct candidates {
	const struct debug_files *files;
	const char *symfs; /* "" without one */
	char *root;	   /* of the process; NULL: none */
	size_t count;
	struct foreign_name names[CANDIDATES_MAX];
	size_t prefix_bytes[CANDIDATES_MAX]; /* of names, before the file's own file system */
};

static void deinit(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free((char *)(uintptr_t)candidates->names[i].path);
	free(candidates->root);
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static bool is_own_elf(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !file_origin_of(fd, &st).is_foreign && is_elf(fd);
}

/* In a directory of the caller's. */
static struct foreign_name *add_trusted(struct candidates *candidates, const char *prefix,
					const char *directory, const char *name)
{
	size_t i = candidates->count++;

	candidates->prefix_bytes[i] = strlen(prefix);
	candidates->names[i] = (struct foreign_name){
		.path = xasprintf("%s%s/%s", prefix, directory, name),
		.user = FOREIGN_USER_UNKNOWN,
		.accepts = is_elf,
	};
	return &candidates->names[i];
}

static void add_named(struct candidates *candidates, const char *root, const char *prefix,
		      const char *directory, const char *file)
{
	struct foreign_name *name = add_trusted(candidates, prefix, directory, file);

	name->root = root;
	name->user = candidates->files->owner;
	name->must_be_owned = true;
	name->accepts = candidates->files->is_foreign ? is_elf : is_own_elf;
}

static void add_by_build_id(struct candidates *candidates, const struct build_id *id)
{
	const char *symfs = candidates->symfs, *debug_dir = candidates->files->places.debug_dir;
	char hex[BUILD_ID_HEX_BYTES], name[sizeof(".build-id/ab/.debug") + sizeof(hex)];

	build_id_hex(id, hex);
	snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug", hex, hex + 2);
	if (debug_dir && candidates->root)
		add_named(candidates, candidates->root, "", debug_dir, name);
	if (debug_dir)
		add_trusted(candidates, "", debug_dir, name);
	if (debug_dir && *symfs)
		add_trusted(candidates, symfs, debug_dir, name);
	if (*symfs)
		add_trusted(candidates, symfs, "", name);
}

static void add_by_link(struct candidates *candidates, const char *link)
{
	const char *symfs = candidates->symfs, *debug_dir = candidates->files->places.debug_dir;
	const char *path = candidates->files->path, *slash = strrchr(path, '/');
	CLEANUP(free_ptr) char *beside = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	CLEANUP(free_ptr) char *hidden = xasprintf("%s/.debug", beside);
	CLEANUP(free_ptr) char *global = debug_dir ? xasprintf("%s%s", debug_dir, beside) : NULL;

	if (candidates->root) {
		add_named(candidates, candidates->root, "", beside, link);
		add_named(candidates, candidates->root, "", hidden, link);
	}
	if (candidates->root && global)
		add_named(candidates, candidates->root, "", global, link);
	add_named(candidates, NULL, symfs, beside, link);
	add_named(candidates, NULL, symfs, hidden, link);
	if (global)
		add_named(candidates, NULL, "", global, link);
	if (global && *symfs)
		add_named(candidates, NULL, symfs, global, link);
}

static void add_by_path(struct candidates *candidates, const char *path)
{
	const char *name = path + strspn(path, "/");

	if (candidates->root)
		add_named(candidates, candidates->root, "", "", name);
	add_named(candidates, NULL, "", "", name);
	if (*candidates->symfs)
		add_named(candidates, NULL, candidates->symfs, "", name);
}

static void add_all(struct candidates *candidates, const struct debugfile_question *question)
{
	switch (question->kind) {
	case DEBUGFILE_BY_BUILD_ID:
		add_by_build_id(candidates, &question->build_id);
		break;
	case DEBUGFILE_BY_LINK:
		add_by_link(candidates, question->name);
		break;
	case DEBUGFILE_BY_PATH:
		add_by_path(candidates, question->name);
		break;
	}
}

static int open_debug_file(void *user, const struct debugfile_question *question, unsigned attempt,
			   char **path)
{
	const struct debug_files *files = user;
	const struct debug_places *places = &files->places;
	CLEANUP(deinit)
	struct candidates candidates = {
		.files = files,
		.symfs = places->symfs ? places->symfs : "",
	};
	size_t which;
	int fd;

	if (!debugfile_question_is_valid(question))
		return -1;
	if (files->root >= 0)
		candidates.root = xasprintf("/proc/self/fd/%d", files->root);
	add_all(&candidates, question);
	fd = timed_open(places->caller, candidates.names, candidates.count, attempt, &which);
	if (fd >= 0)
		*path = xstrdup(candidates.names[which].path + candidates.prefix_bytes[which]);
	return fd;
}

struct debugfile_opener debug_files_opener(struct debug_files *files)
{
	return (struct debugfile_opener){.open = open_debug_file, .user = files};
}

/* The strings are the copy's own. */
static const char *copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct debug_files *debug_files_copy(const struct debug_files *files, struct timed_caller *caller)
{
	struct debug_files *copy = xmalloc(sizeof(*copy));

	*copy = *files;
	copy->places.symfs = copy_of(files->places.symfs);
	copy->places.debug_dir = copy_of(files->places.debug_dir);
	copy->places.caller = caller;
	copy->path = copy_of(files->path);
	copy->root = files->root < 0 ? -1 : fcntl(files->root, F_DUPFD_CLOEXEC, 0);
	return copy;
}

void debug_files_free(struct debug_files *files)
{
	if (!files)
		return;
	close_fd(&files->root);
	free((char *)(uintptr_t)files->places.symfs);
	free((char *)(uintptr_t)files->places.debug_dir);
	free((char *)(uintptr_t)files->path);
	free(files);
}
