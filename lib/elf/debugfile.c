#include "elf/debugfile.h"

#include "base/alloc.h"
#include "base/gzip.h"
#include "base/text.h"

/*
 * Larger files are not read for their CRC, because that takes too long. They
 * usually have a build-id.
 */
#define CRC_BYTES_MAX (UINT64_C(1) << 30)

static bool has_parent_component(const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += strspn(at, "/");
		if (text_begins(at, "..") && (!at[2] || at[2] == '/'))
			return true;
	}
	return false;
}

bool debugfile_question_is_valid(const struct debugfile_question *question)
{
	const struct build_id *id = &question->build_id;
	const char *name = question->name;

	if (question->kind == DEBUGFILE_BY_BUILD_ID)
		return id->len >= 2 && id->len <= BUILD_ID_MAX;
	if (!name || !*name || strlen(name) >= PATH_MAX || has_parent_component(name))
		return false;
	if (question->kind == DEBUGFILE_BY_LINK)
		return !strchr(name, '/');
	return question->kind == DEBUGFILE_BY_PATH && *name == '/';
}

/*
 * Returns NULL if there is no such candidate. *more: there can be another one.
 * The candidate shares the budget of `elf`.
 */
static struct elf_file *open_candidate(struct elf_file *elf, const struct debugfile_opener *opener,
				       const struct debugfile_question *question, unsigned attempt,
				       bool *more)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct elf_file *candidate = NULL;
	int fd = -1;

	if (debugfile_question_is_valid(question))
		fd = opener->open(opener->user, question, attempt, &path);
	*more = fd >= 0;
	if (fd >= 0)
		error_free(elf_file_open(fd, path, &candidate));
	if (candidate)
		elf_file_share_budget(candidate, elf);
	return candidate;
}

static bool has_build_id(const struct elf_file *elf, const struct build_id *id)
{
	return id->len && build_id_equal(elf_file_build_id(elf), id);
}

struct elf_file *debugfile_find_accepted(struct elf_file *elf,
					 const struct debugfile_opener *opener,
					 const struct debugfile_question *question,
					 debugfile_accepts *accepts, void *user)
{
	bool more = true;

	for (unsigned attempt = 0; more; attempt++) {
		CLEANUP(elf_file_cleanup)
		struct elf_file *found = open_candidate(elf, opener, question, attempt, &more);

		if (found && accepts(user, found))
			return STEAL(found);
	}
	return NULL;
}

static bool has_wanted_build_id(void *user, struct elf_file *candidate)
{
	return has_build_id(candidate, user);
}

static struct elf_file *find_with_id(struct elf_file *elf, const struct debugfile_opener *opener,
				     const struct debugfile_question *question,
				     const struct build_id *id)
{
	struct build_id wanted = *id;

	return debugfile_find_accepted(elf, opener, question, has_wanted_build_id, &wanted);
}

static struct elf_file *debugfile_find_by_build_id(struct elf_file *elf,
						   const struct debugfile_opener *opener,
						   const struct build_id *id)
{
	return find_with_id(elf, opener,
			    &(struct debugfile_question){
				    .kind = DEBUGFILE_BY_BUILD_ID,
				    .build_id = *id,
			    },
			    id);
}

/*
 * Compares build-ids or, if one of the files has none, the CRC, which requires
 * reading the whole file. A link can lead back to the stripped file itself, so
 * the debug file must contain more debug information or symbols.
 */
static bool is_debug_file_of(struct elf_file *candidate, struct elf_file *elf, uint32_t crc)
{
	const struct build_id *id = elf_file_build_id(elf);
	struct bytes info = elf_file_section(candidate, ".debug_info").data;
	struct bytes own_info = elf_file_section(elf, ".debug_info").data;
	struct bytes symbols = elf_file_section(candidate, ".symtab").data;
	struct bytes own_symbols = elf_file_section(elf, ".symtab").data;
	struct bytes contents = elf_file_contents(candidate);

	if (bytes_left(&info) <= bytes_left(&own_info) &&
	    bytes_left(&symbols) <= bytes_left(&own_symbols))
		return false;
	if (id->len && elf_file_build_id(candidate)->len)
		return has_build_id(candidate, id);
	return bytes_left(&contents) <= CRC_BYTES_MAX && crc32_of(contents) == crc;
}

/*
 * Returns a copy, or NULL if the text is empty or too long for a path. The
 * caller frees it. The text is copied before it is checked, because the file
 * can change.
 */
static char *debugfile_copy_of(struct bytes text)
{
	if (bytes_left(&text) == 0 || bytes_left(&text) >= PATH_MAX)
		return NULL;
	return xstrndup((const char *)text.at, bytes_left(&text));
}

/*
 * Returns the file name in .gnu_debuglink, which the caller frees, or NULL if
 * there is none.
 */
static char *debug_link(struct elf_file *elf, uint32_t *crc)
{
	struct bytes link = elf_file_section(elf, ".gnu_debuglink").data;
	const unsigned char *start = link.at;
	CLEANUP(free_ptr) char *file = debugfile_copy_of(bytes_text(&link));

	bytes_skip(&link, -(size_t)(link.at - start) % 4);
	*crc = bytes_u32(&link);
	return bytes_ok(&link) ? STEAL(file) : NULL;
}

static struct elf_file *find_by_link(struct elf_file *elf, const struct debugfile_opener *opener)
{
	uint32_t crc;
	CLEANUP(free_ptr) char *name = debug_link(elf, &crc);
	const struct debugfile_question question = {.kind = DEBUGFILE_BY_LINK, .name = name};
	bool more = name;

	for (unsigned attempt = 0; more; attempt++) {
		CLEANUP(elf_file_cleanup)
		struct elf_file *candidate = open_candidate(elf, opener, &question, attempt, &more);

		if (candidate && is_debug_file_of(candidate, elf, crc))
			return STEAL(candidate);
	}
	return NULL;
}

struct elf_file *debugfile_find(struct elf_file *elf, const struct debugfile_opener *opener)
{
	struct elf_file *found = debugfile_find_by_build_id(elf, opener, elf_file_build_id(elf));

	return found ? found : find_by_link(elf, opener);
}

/* Removes the last component. */
static void go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

char *debugfile_path_in(const char *directory, const char *name)
{
	const char *start = *name == '/' ? "" : directory;
	CLEANUP(free_ptr) char *rest = xasprintf("%s/%s", start, name);
	char *path = xcalloc(strlen(rest) + 2, 1); /* room for a slash before it */
	char *state = NULL;

	for (char *part = strtok_r(rest, "/", &state); part; part = strtok_r(NULL, "/", &state)) {
		if (strcmp(part, "..") == 0)
			go_up(path);
		else if (strcmp(part, ".") != 0)
			strcat(strcat(path, "/"), part);
	}
	return path;
}

struct elf_file *debugfile_find_alt(struct elf_file *debug, const struct debugfile_opener *opener)
{
	struct bytes link = elf_file_section(debug, ".gnu_debugaltlink").data;
	CLEANUP(free_ptr) char *name = debugfile_copy_of(bytes_text(&link));
	CLEANUP(free_ptr) char *directory = xstrdup(elf_file_name(debug));
	CLEANUP(free_ptr) char *path = NULL;
	struct build_id id = {.len = (unsigned)bytes_left(&link)};
	struct elf_file *found;

	if (!name || bytes_left(&link) == 0 || bytes_left(&link) > BUILD_ID_MAX)
		return NULL;
	memcpy(id.bytes, link.at, id.len);
	found = debugfile_find_by_build_id(debug, opener, &id);
	if (found)
		return found;
	go_up(directory);
	path = debugfile_path_in(directory, name);
	return find_with_id(debug, opener,
			    &(struct debugfile_question){.kind = DEBUGFILE_BY_PATH, .name = path},
			    &id);
}

struct elf_file *debugfile_inside(struct elf_file *elf)
{
	return elf_file_inside(elf, ".gnu_debugdata");
}
