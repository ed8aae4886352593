/*
 * The tables that all threads of a Firefox Profiler file share: stacks, frames, functions,
 * libraries, sources and strings. Tables are stored by column and refer to each other by row
 * number.
 *
 * A profile frame with inlined functions has several lines; each line has its own row in the frame
 * and stack tables. Source: github.com/firefox-devtools/profiler, src/types/profile.ts at version
 * 66 and docs-developer/CHANGELOG-formats.md.
 */
#ifndef PROF_FORMAT_FIREFOX_TABLES_H
#define PROF_FORMAT_FIREFOX_TABLES_H

#include "base/json.h"
#include "report/display_labels.h"

/* Rows of meta.categories. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_INTERPRETED, /* this and the next: only in profiles that have such frames */
	FIREFOX_WAITING,     /* reasons of waits */
	FIREFOX_WANTED_CPU,
};

struct firefox_tables {
	const struct profile *profile;
	struct display_labels labels;
	struct strtab *strings;
	uint32_t *stack_rows; /* by stack: the row of its innermost line */
	uint32_t *libs;	      /* the modules that have a row in "libs" */
	uint32_t lib_count, lib_room;
	struct idmap lib_of_module;
	string_id *sources; /* source files, as strings of the profile */
	uint32_t source_count, source_room;
	struct idmap source_of_file;
	unsigned char *reasons; /* by label: the category of a reason; 0: it is none */
};

void firefox_tables_init(struct firefox_tables *tables, const struct profile *profile,
			 enum name_style names);
void firefox_tables_deinit(struct firefox_tables *tables);

/* The index of a string in the shared string array. */
uint32_t firefox_string(struct firefox_tables *tables, const char *text);

/* Writes "libs" and its value. */
void firefox_put_libs(const struct firefox_tables *tables, struct json *json);
/* Writes "shared" and its value. No string may be added after it. */
void firefox_put_shared(struct firefox_tables *tables, struct json *json);

#endif
