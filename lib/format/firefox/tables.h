/*
 * The tables that all threads of a Firefox Profiler file share: stacks, frames,
 * functions, libraries, sources and strings. Tables are stored by column and
 * refer to each other by row number.
 *
 * A profile frame with inlined functions has several lines. Each line has its
 * own row in the frame and stack tables. Source:
 * github.com/firefox-devtools/profiler, src/types/profile.ts at version 66 and
 * docs-developer/CHANGELOG-formats.md.
 */
#ifndef PROF_FORMAT_FIREFOX_TABLES_H
#define PROF_FORMAT_FIREFOX_TABLES_H

#include "base/json.h"
#include "report/display_labels.h"

/* Rows of meta.categories: those of the HTML report. */
enum firefox_category {
	FIREFOX_OTHER, /* of markers; the viewer needs one that is grey */
	FIREFOX_USER,
	FIREFOX_INLINED,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_INTERPRETED,
	FIREFOX_UNSYMBOLIZED,
	FIREFOX_NOTE,
	FIREFOX_WAITING, /* like the next one, a reason of a wait */
	FIREFOX_RUNNABLE,
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
	/*
	 * The category of the reason, by label, or 0 if the label is not a
	 * reason.
	 */
	unsigned char *reasons;
};

void firefox_tables_init(struct firefox_tables *tables, const struct profile *profile,
			 enum name_style names);
void firefox_tables_deinit(struct firefox_tables *tables);

/* Returns the index of a string in the shared string array. */
uint32_t firefox_string(struct firefox_tables *tables, const char *text);

/* Writes "libs" and its value. */
void firefox_put_libs(const struct firefox_tables *tables, struct json *json);
/* Writes "shared" and its value. No string may be added after it. */
void firefox_put_shared(struct firefox_tables *tables, struct json *json);

#endif
