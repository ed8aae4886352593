/*
 * What all threads of a Firefox Profiler file share: stacks, frames, functions, libraries, sources
 * and strings, as columns of tables that name each other's rows by number.
 *
 * A frame of the profile has a row for each of its lines, and so has a stack.
 * Source: github.com/firefox-devtools/profiler, src/types/profile.ts at version 66 and
 * docs-developer/CHANGELOG-formats.md.
 */
#ifndef PROF_FORMAT_FIREFOX_TABLES_H
#define PROF_FORMAT_FIREFOX_TABLES_H

#include "base/json.h"
#include "report/labels.h"

/* Rows of meta.categories. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
};

struct firefox_tables {
	const struct profile *profile;
	struct labels labels;
	struct strtab *strings;
	uint32_t *stack_rows; /* by stack: the row of its innermost line */
	uint32_t *libs;	      /* modules, of which each is a library */
	uint32_t lib_count, lib_room;
	struct idmap lib_of_module;
	string_id *sources; /* files, as strings of the profile */
	uint32_t source_count, source_room;
	struct idmap source_of_file;
};

void firefox_tables_init(struct firefox_tables *tables, const struct profile *profile);
void firefox_tables_deinit(struct firefox_tables *tables);

/* The number of a string in the shared array. */
uint32_t firefox_string(struct firefox_tables *tables, const char *text);

/* "libs" and its value. */
void firefox_put_libs(const struct firefox_tables *tables, struct json *json);
/* "shared" and its value; no string may come after it. */
void firefox_put_shared(struct firefox_tables *tables, struct json *json);

#endif
