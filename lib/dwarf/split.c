#include "dwarf/split.h"

#include "base/alloc.h"
#include "base/strtab.h"
#include "dwarf/package.h"

#include <pthread.h>
#include <stdlib.h>

/* A file with split units, or the part of a package that contains one. */
struct split_file {
	pthread_mutex_t lock; /* held while the file is opened or closed */
	struct elf_file *elf; /* NULL if closed */
	struct dwarf_file file;
	unsigned users;
	bool is_private;    /* has one user, who frees it */
	bool is_of_package; /* the ELF file belongs to the package */
};

struct split_package {
	pthread_mutex_t lock; /* held during the search */
	bool was_asked_for;
	struct elf_file *elf; /* NULL if there is none */
	struct bytes index;
	struct dwarf_sections sections;
};

struct dwarf_splits {
	const struct dwarf_file *skeletons;
	struct dwarf_split_places places;
	bool keeps;
	struct split_package package;
	pthread_mutex_t lock;
	/* Protected by the lock. */
	struct strtab *paths;
	struct split_file **files; /* by path; NULL if not requested yet */
	size_t file_count, file_room;
	bool *is_missing; /* by skeleton */
	bool has_changed;
};

struct dwarf_splits *dwarf_splits_new(const struct dwarf_file *skeletons,
				      const struct dwarf_split_places *places)
{
	struct dwarf_splits *splits = xcalloc(1, sizeof(*splits));

	splits->skeletons = skeletons;
	splits->places = *places;
	splits->paths = strtab_new();
	splits->is_missing = xcalloc(skeletons->unit_count, sizeof(*splits->is_missing));
	pthread_mutex_init(&splits->lock, NULL);
	pthread_mutex_init(&splits->package.lock, NULL);
	return splits;
}

static void shut_file(struct split_file *file)
{
	dwarf_file_deinit(&file->file);
	file->file = (struct dwarf_file){0};
	if (!file->is_of_package)
		elf_file_free(file->elf);
	file->elf = NULL;
}

static void free_file(struct split_file *file)
{
	if (!file)
		return;
	shut_file(file);
	pthread_mutex_destroy(&file->lock);
	free(file);
}

void dwarf_splits_free(struct dwarf_splits *splits)
{
	if (!splits)
		return;
	for (size_t i = 0; i < splits->file_count; i++)
		free_file(splits->files[i]);
	free(splits->files);
	free(splits->is_missing);
	strtab_free(splits->paths);
	elf_file_free(splits->package.elf);
	pthread_mutex_destroy(&splits->package.lock);
	pthread_mutex_destroy(&splits->lock);
	free(splits);
}

void dwarf_splits_keep(struct dwarf_splits *splits)
{
	splits->keeps = true;
}

static struct split_file *split_new_file(void)
{
	struct split_file *file = xcalloc(1, sizeof(*file));

	pthread_mutex_init(&file->lock, NULL);
	return file;
}

/* ---- Units by their ids ---- */

/*
 * Limits the bytes of abbreviations read, because malformed units may all refer
 * to the end of one large table.
 */
static uint64_t split_abbrev_budget(const struct dwarf_file *file)
{
	return 64 * (uint64_t)bytes_left(&file->sections.of[DWARF_ABBREV]) + (1 << 24);
}

static uint64_t root_id(const struct dwarf_file *file, const struct dwarf_unit *unit,
			uint64_t *budget)
{
	struct bytes table = dwarf_section_at(&file->sections, DWARF_ABBREV, unit->abbrevs);
	struct bytes at = dwarf_section_at(&file->sections, DWARF_INFO, unit->first_die);
	struct dwarf_abbrevs abbrevs = {0};
	struct dwarf_view view;

	if (bytes_left(&table) > *budget)
		table.end = table.at + *budget;
	*budget -= dwarf_abbrevs_load_one(&abbrevs, table, unit->encoding, bytes_uleb(&at));
	view = dwarf_view_of(file, NULL, unit, &abbrevs);
	dwarf_abbrevs_deinit(&abbrevs);
	return view.root.dwo_id;
}

void dwarf_split_read_ids(struct dwarf_file *file)
{
	uint64_t budget = split_abbrev_budget(file);

	for (size_t i = 0; i < file->unit_count; i++)
		if (file->units[i].encoding.version < 5)
			file->units[i].dwo_id = root_id(file, &file->units[i], &budget);
}

/* Returns NULL if there is no such unit. */
static const struct dwarf_unit *unit_with_id(const struct dwarf_file *file, uint64_t id)
{
	for (size_t i = 0; i < file->unit_count; i++)
		if (file->units[i].dwo_id == id)
			return &file->units[i];
	return NULL;
}

static void read_units(const struct dwarf_splits *splits, struct dwarf_file *file,
		       struct dwarf_sections sections)
{
	dwarf_split_sections_add(&sections, &splits->skeletons->sections);
	dwarf_file_init(file, &sections);
	dwarf_split_read_ids(file);
}

/* ---- Packages ---- */

static bool is_package(void *user, struct elf_file *candidate)
{
	(void)user;
	return dwarf_package_is_valid(elf_file_section(candidate, ".debug_cu_index").data);
}

static struct elf_file *find_package(const struct dwarf_split_places *places)
{
	const char *path = elf_file_name(places->program), *slash = strrchr(path, '/');
	CLEANUP(free_ptr) char *name = xasprintf("%s.dwp", slash ? slash + 1 : path);
	CLEANUP(free_ptr) char *beside = NULL;
	struct elf_file *found;

	found = debugfile_find_accepted(
		places->program, places->opener,
		&(struct debugfile_question){.kind = DEBUGFILE_BY_LINK, .name = name}, is_package,
		NULL);
	if (found || places->debug == places->program)
		return found;
	beside = xasprintf("%s.dwp", elf_file_name(places->debug));
	return debugfile_find_accepted(
		places->program, places->opener,
		&(struct debugfile_question){.kind = DEBUGFILE_BY_PATH, .name = beside}, is_package,
		NULL);
}

static void ask_for_package(const struct dwarf_splits *splits, struct split_package *package)
{
	package->was_asked_for = true;
	package->elf = find_package(&splits->places);
	if (!package->elf)
		return;
	package->index = elf_file_section(package->elf, ".debug_cu_index").data;
	package->sections = dwarf_split_sections_of(package->elf);
}

static bool open_in_package(struct dwarf_splits *splits, uint64_t id, struct dwarf_split *ret)
{
	struct split_package *package = &splits->package;
	struct dwarf_sections sections;
	struct split_file *file;

	pthread_mutex_lock(&package->lock);
	if (!package->was_asked_for)
		ask_for_package(splits, package);
	pthread_mutex_unlock(&package->lock);
	sections = package->sections;
	if (!package->elf || !dwarf_package_find(package->index, id, &sections))
		return false;
	file = split_new_file();
	file->elf = package->elf;
	file->is_private = file->is_of_package = true;
	read_units(splits, &file->file, sections);
	*ret = (struct dwarf_split){&file->file, unit_with_id(&file->file, id), file->elf, file};
	if (ret->unit)
		return true;
	free_file(file);
	return false;
}

/* ---- .dwo files ---- */

/* The path of a split unit according to its skeleton. */
struct whereabouts {
	char *directory, *name; /* must be freed; `directory` may be NULL */
};

static void whereabouts_deinit(struct whereabouts *where)
{
	free(where->directory);
	free(where->name);
}

static char *split_text_of(const struct dwarf_view *view, const struct dwarf_value *value)
{
	struct bytes text = dwarf_string(view, value);

	if (!bytes_left(&text) || bytes_left(&text) >= PATH_MAX)
		return NULL;
	return xstrndup((const char *)text.at, bytes_left(&text));
}

static struct whereabouts whereabouts_of(const struct dwarf_view *skeleton)
{
	return (struct whereabouts){
		.directory = split_text_of(skeleton, &skeleton->root.directory),
		.name = split_text_of(skeleton, &skeleton->root.dwo_name),
	};
}

static char *program_directory(const struct dwarf_split_places *places)
{
	const char *path = elf_file_name(places->program), *slash = strrchr(path, '/');

	return xstrndup(path, slash ? (size_t)(slash - path) : 0);
}

struct split_search {
	const struct dwarf_splits *splits;
	struct dwarf_file *file; /* filled with the units of the file that is found */
	uint64_t id;
};

/*
 * Limits the work for a malicious file with many sections that contain the same
 * bytes.
 */
static uint64_t info_budget(const struct elf_file *candidate)
{
	const struct bytes contents = elf_file_contents(candidate);

	return 16 * (uint64_t)bytes_left(&contents) + (1 << 24);
}

/*
 * Finds the unit. GCC puts each DWARF 5 type unit into a separate section
 * before that of the unit.
 */
static bool has_unit(void *user, struct elf_file *candidate)
{
	struct split_search *search = user;
	struct dwarf_sections sections = dwarf_split_sections_of(candidate);
	struct elf_section info;
	uint64_t budget = info_budget(candidate);
	size_t index = 0;

	while (elf_file_next_section(candidate, ".debug_info.dwo", &index, &info) &&
	       bytes_left(&info.data) <= budget) {
		budget -= bytes_left(&info.data);
		sections.of[DWARF_INFO] = info.data;
		read_units(search->splits, search->file, sections);
		if (unit_with_id(search->file, search->id))
			return true;
		dwarf_file_deinit(search->file);
		*search->file = (struct dwarf_file){0};
	}
	return false;
}

static struct elf_file *split_ask(struct split_search *search, enum debugfile_kind kind,
				  const char *name)
{
	const struct dwarf_split_places *places = &search->splits->places;

	return debugfile_find_accepted(places->program, places->opener,
				       &(struct debugfile_question){.kind = kind, .name = name},
				       has_unit, search);
}

/* Finds the .dwo file. `path` is its path when it was built. */
static struct elf_file *find_dwo(struct split_search *search, const char *path, const char *name)
{
	CLEANUP(free_ptr) char *beside = program_directory(&search->splits->places);
	CLEANUP(free_ptr) char *moved = debugfile_path_in(beside, name);
	const char *slash = strrchr(name, '/');
	struct elf_file *found = split_ask(search, DEBUGFILE_BY_PATH, path);

	if (!found && strcmp(moved, path) != 0)
		found = split_ask(search, DEBUGFILE_BY_PATH, moved);
	return found ? found : split_ask(search, DEBUGFILE_BY_LINK, slash ? slash + 1 : name);
}

static char *built_path(const struct dwarf_splits *splits, const struct whereabouts *where)
{
	CLEANUP(free_ptr) char *beside = program_directory(&splits->places);
	CLEANUP(free_ptr)
	char *directory = debugfile_path_in(beside, where->directory ? where->directory : "");

	return debugfile_path_in(directory, where->name);
}

char *dwarf_splits_path(const struct dwarf_splits *splits, const struct dwarf_view *skeleton)
{
	CLEANUP(whereabouts_deinit) struct whereabouts where = whereabouts_of(skeleton);

	return where.name ? built_path(splits, &where) : NULL;
}

static struct split_file *split_file_of(struct dwarf_splits *splits, const char *path)
{
	struct split_file *file;
	string_id id;

	pthread_mutex_lock(&splits->lock);
	id = strtab_add(splits->paths, path);
	while (splits->file_count <= id) {
		GROW(splits->files, splits->file_count, splits->file_room);
		splits->files[splits->file_count++] = NULL;
	}
	if (!splits->files[id])
		splits->files[id] = split_new_file();
	file = splits->files[id];
	pthread_mutex_unlock(&splits->lock);
	return file;
}

/* Returns the requested unit of the file, or NULL if the file is not found. */
static const struct dwarf_unit *use_file(struct dwarf_splits *splits, struct split_file *file,
					 const struct whereabouts *where, const char *path,
					 uint64_t id)
{
	const struct dwarf_unit *unit;

	pthread_mutex_lock(&file->lock);
	if (!file->elf) {
		struct split_search search = {.splits = splits, .file = &file->file, .id = id};

		file->elf = find_dwo(&search, path, where->name);
	}
	unit = unit_with_id(&file->file, id);
	file->users += unit != NULL;
	pthread_mutex_unlock(&file->lock);
	return unit;
}

/*
 * Opens the .dwo file. If several skeletons refer to different files with the
 * same path, the later ones get a private file.
 */
static bool open_dwo(struct dwarf_splits *splits, const struct dwarf_view *skeleton,
		     struct dwarf_split *ret)
{
	CLEANUP(whereabouts_deinit) struct whereabouts where = whereabouts_of(skeleton);
	CLEANUP(free_ptr) char *path = where.name ? built_path(splits, &where) : NULL;
	const uint64_t id = skeleton->root.dwo_id;
	struct split_file *file;

	if (!path)
		return false;
	file = split_file_of(splits, path);
	ret->unit = use_file(splits, file, &where, path, id);
	if (!ret->unit) {
		file = split_new_file();
		file->is_private = true;
		ret->unit = use_file(splits, file, &where, path, id);
	}
	ret->file = &file->file;
	ret->elf = file->elf;
	ret->from = file;
	if (!ret->unit)
		free_file(file);
	return ret->unit;
}

/* ---- Units ---- */

static size_t split_number_of(const struct dwarf_splits *splits, const struct dwarf_view *skeleton)
{
	return (size_t)(skeleton->unit - splits->skeletons->units);
}

bool dwarf_splits_open(struct dwarf_splits *splits, const struct dwarf_view *skeleton,
		       struct dwarf_split *ret)
{
	bool *is_missing = &splits->is_missing[split_number_of(splits, skeleton)];

	if (*is_missing)
		return false;
	*is_missing = !skeleton->root.dwo_id ||
		      (!open_in_package(splits, skeleton->root.dwo_id, ret) &&
		       !open_dwo(splits, skeleton, ret));
	return !*is_missing;
}

static void split_note_change(struct dwarf_splits *splits, struct elf_file *elf)
{
	if (!elf || !elf_file_changed(elf))
		return;
	pthread_mutex_lock(&splits->lock);
	splits->has_changed = true;
	pthread_mutex_unlock(&splits->lock);
}

/*
 * Closes a decompressed file after its only unit, because it takes memory.
 * Files of link-time optimization have many units and stay open.
 */
static void close_dwo(struct dwarf_splits *splits, struct split_file *file)
{
	pthread_mutex_lock(&file->lock);
	file->users--;
	if (!file->users && !splits->keeps && file->file.unit_count == 1) {
		split_note_change(splits, file->elf);
		shut_file(file);
	}
	pthread_mutex_unlock(&file->lock);
}

void dwarf_splits_close(struct dwarf_splits *splits, struct dwarf_split *split)
{
	if (!split->from->is_private) {
		close_dwo(splits, split->from);
		return;
	}
	split_note_change(splits, split->from->is_of_package ? NULL : split->from->elf);
	free_file(split->from);
}

uint32_t dwarf_splits_missing(struct dwarf_splits *splits, const struct dwarf_unit **first)
{
	uint32_t count = 0;

	*first = NULL;
	for (size_t i = 0; i < splits->skeletons->unit_count; i++)
		if (splits->is_missing[i] && !count++)
			*first = &splits->skeletons->units[i];
	return count;
}

bool dwarf_splits_changed(struct dwarf_splits *splits)
{
	split_note_change(splits, splits->package.elf);
	for (size_t i = 0; i < splits->file_count; i++)
		if (splits->files[i])
			split_note_change(splits, splits->files[i]->elf);
	return splits->has_changed;
}
