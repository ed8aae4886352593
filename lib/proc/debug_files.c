#include "proc/debug_files.h"

#include "base/alloc.h"
#include "elf/file_origin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* By debug link: three in the process's root and four elsewhere. */
enum { DEBUG_FILES_CANDIDATES_MAX = 7 };

struct debug_files_candidates {
	const struct debug_files *files;
	const char *symfs; /* "" if there is none */
	char *root;	   /* root of the process, or NULL */
	size_t count;
	struct untrusted_name names[DEBUG_FILES_CANDIDATES_MAX];
	/* The start of each name that precedes the file's own file system. */
	size_t prefix_bytes[DEBUG_FILES_CANDIDATES_MAX];
};

static void deinit(struct debug_files_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free((char *)(uintptr_t)candidates->names[i].path);
	free(candidates->root);
}

static bool debug_files_is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static bool is_own_elf(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !file_origin_of(fd, &st).is_untrusted &&
	       debug_files_is_elf(fd);
}

/* Adds a name in a directory that the caller supplied. */
static struct untrusted_name *add_trusted(struct debug_files_candidates *candidates,
					  const char *prefix, const char *directory,
					  const char *name)
{
	size_t i = candidates->count++;

	candidates->prefix_bytes[i] = strlen(prefix);
	candidates->names[i] = (struct untrusted_name){
		.path = xasprintf("%s%s/%s", prefix, directory, name),
		.user = UNTRUSTED_USER_UNKNOWN,
		.accepts = debug_files_is_elf,
	};
	return &candidates->names[i];
}

static void debug_files_add_named(struct debug_files_candidates *candidates, const char *root,
				  const char *prefix, const char *directory, const char *file)
{
	struct untrusted_name *name = add_trusted(candidates, prefix, directory, file);

	name->root = root;
	name->user = candidates->files->owner;
	name->must_be_owned = true;
	name->accepts = candidates->files->is_untrusted ? debug_files_is_elf : is_own_elf;
}

static void debug_files_add_by_build_id(struct debug_files_candidates *candidates,
					const struct build_id *id)
{
	const char *symfs = candidates->symfs, *debug_dir = candidates->files->places.debug_dir;
	char hex[BUILD_ID_HEX_BYTES], name[sizeof(".build-id/ab/.debug") + sizeof(hex)];

	build_id_hex(id, hex);
	snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug", hex, hex + 2);
	if (debug_dir && candidates->root)
		debug_files_add_named(candidates, candidates->root, "", debug_dir, name);
	if (debug_dir)
		add_trusted(candidates, "", debug_dir, name);
	if (debug_dir && *symfs)
		add_trusted(candidates, symfs, debug_dir, name);
	if (*symfs)
		add_trusted(candidates, symfs, "", name);
}

static void add_by_link(struct debug_files_candidates *candidates, const char *link)
{
	const char *symfs = candidates->symfs, *debug_dir = candidates->files->places.debug_dir;
	const char *path = candidates->files->path, *slash = strrchr(path, '/');
	CLEANUP(free_ptr) char *beside = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	CLEANUP(free_ptr) char *hidden = xasprintf("%s/.debug", beside);
	CLEANUP(free_ptr) char *global = debug_dir ? xasprintf("%s%s", debug_dir, beside) : NULL;

	if (candidates->root) {
		debug_files_add_named(candidates, candidates->root, "", beside, link);
		debug_files_add_named(candidates, candidates->root, "", hidden, link);
	}
	if (candidates->root && global)
		debug_files_add_named(candidates, candidates->root, "", global, link);
	debug_files_add_named(candidates, NULL, symfs, beside, link);
	debug_files_add_named(candidates, NULL, symfs, hidden, link);
	if (global)
		debug_files_add_named(candidates, NULL, "", global, link);
	if (global && *symfs)
		debug_files_add_named(candidates, NULL, symfs, global, link);
}

static void add_by_path(struct debug_files_candidates *candidates, const char *path)
{
	const char *name = path + strspn(path, "/");

	if (candidates->root)
		debug_files_add_named(candidates, candidates->root, "", "", name);
	debug_files_add_named(candidates, NULL, "", "", name);
	if (*candidates->symfs)
		debug_files_add_named(candidates, NULL, candidates->symfs, "", name);
}

static void debug_files_add_all(struct debug_files_candidates *candidates,
				const struct debugfile_question *question)
{
	switch (question->kind) {
	case DEBUGFILE_BY_BUILD_ID:
		debug_files_add_by_build_id(candidates, &question->build_id);
		break;
	case DEBUGFILE_BY_LINK:
		add_by_link(candidates, question->name);
		break;
	case DEBUGFILE_BY_PATH:
		add_by_path(candidates, question->name);
		break;
	}
}

static int debug_files_open_debug_file(void *user, const struct debugfile_question *question,
				       unsigned attempt, char **path)
{
	const struct debug_files *files = user;
	const struct debug_places *places = &files->places;
	CLEANUP(deinit)
	struct debug_files_candidates candidates = {
		.files = files,
		.symfs = places->symfs ? places->symfs : "",
	};
	size_t which;
	int fd;

	if (!debugfile_question_is_valid(question))
		return -1;
	if (files->root >= 0)
		candidates.root = xasprintf("/proc/self/fd/%d", files->root);
	debug_files_add_all(&candidates, question);
	fd = timed_open(places->caller, candidates.names, candidates.count, attempt, &which);
	if (fd >= 0)
		*path = xstrdup(candidates.names[which].path + candidates.prefix_bytes[which]);
	return fd;
}

struct debugfile_opener debug_files_opener(struct debug_files *files)
{
	return (struct debugfile_opener){.open = debug_files_open_debug_file, .user = files};
}

/* The copy owns its strings. */
static const char *debug_files_copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct debug_files *debug_files_copy(const struct debug_files *files, struct timed_caller *caller)
{
	struct debug_files *copy = xmalloc(sizeof(*copy));

	*copy = *files;
	copy->places.symfs = debug_files_copy_of(files->places.symfs);
	copy->places.debug_dir = debug_files_copy_of(files->places.debug_dir);
	copy->places.caller = caller;
	copy->path = debug_files_copy_of(files->path);
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
