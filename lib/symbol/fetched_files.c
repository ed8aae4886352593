#include "symbol/fetched_files.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <string.h>

void fetched_files_add(struct fetched_files *files, const struct build_id *id, int fd, char *path)
{
	GROW(files->items, files->count, files->room);
	files->items[files->count++] =
		(struct fetched_file){.build_id = *id, .fd = fd, .path = path};
}

const struct fetched_file *fetched_files_find(const struct fetched_files *files,
					      const struct build_id *id)
{
	for (size_t i = 0; i < files->count; i++)
		if (build_id_equal(&files->items[i].build_id, id))
			return &files->items[i];
	return NULL;
}

void fetched_files_deinit(struct fetched_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		close_fd(&files->items[i].fd);
		free(files->items[i].path);
	}
	free(files->items);
	*files = (struct fetched_files){0};
}

static int open_local(const struct fetched_opener *opener,
		      const struct debugfile_question *question, unsigned attempt, char **path)
{
	if (!opener->local.open)
		return -1;
	return opener->local.open(opener->local.user, question, attempt, path);
}

/*
 * Records a missing supplementary file. A worker asks for it by build-id first,
 * then by path.
 */
static void note_answer(struct fetched_opener *opener, const struct debugfile_question *question,
			bool found)
{
	const struct build_id *id = &question->build_id;
	bool by_id = question->kind == DEBUGFILE_BY_BUILD_ID;

	if (found && question->kind == DEBUGFILE_BY_PATH)
		opener->missing.len = 0;
	if (!found && by_id && debugfile_question_is_valid(question) &&
	    !build_id_equal(id, &opener->own) && !fetched_files_find(opener->files, id))
		opener->missing = *id;
}

static int fetched_files_open_file(void *user, const struct debugfile_question *question,
				   unsigned attempt, char **path)
{
	struct fetched_opener *opener = user;
	const struct fetched_file *file = NULL;
	int fd;

	if (question->kind == DEBUGFILE_BY_BUILD_ID)
		file = fetched_files_find(opener->files, &question->build_id);
	if (file && file->fd >= 0) {
		if (attempt == 0) {
			*path = xstrdup(file->path);
			return fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
		}
		attempt--;
	}
	fd = open_local(opener, question, attempt, path);
	note_answer(opener, question, fd >= 0);
	return fd;
}

struct debugfile_opener fetched_opener(struct fetched_opener *opener)
{
	return (struct debugfile_opener){.open = fetched_files_open_file, .user = opener};
}
