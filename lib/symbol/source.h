/*
 * All that can name the addresses of one module: its file, its debug file, its symbol tables and
 * its DWARF; for the kernel and run-time code their lists of names.
 */
#ifndef PROF_SYMBOL_SOURCE_H
#define PROF_SYMBOL_SOURCE_H

#include "base/arena.h"
#include "proc/space.h"
#include "symbol/dwarf.h"
#include "symbol/symtab.h"

struct source_options {
	const char *debug_dir;
	const char *proc;
	bool inlines; /* false: symbols only, no DWARF */
	bool again;   /* more addresses of the same modules will be asked for */
};

struct source {
	const struct module *module;
	struct image *debug, *alt; /* NULL: none */
	struct symtab *symtab;	   /* NULL: no file, or none that can be read */
	struct dwarf *dwarf;	   /* NULL: none */
	const char **names;	   /* no file: one for each address asked for, or NULL */
	struct arena arena;	   /* of names */
	char *problem;		   /* why it names nothing, or less than it could; NULL: nothing */
};

/*
 * Fills a zeroed source. addresses: ascending, that will be asked for. Different modules may be
 * opened at the same time.
 */
void source_open(struct source *source, const struct module *module,
		 const struct source_options *options, const uint64_t *addresses, size_t count);
void source_close(struct source *source);

/* One sentence on how to get more names when that many addresses found none, or NULL: to be freed.
 * Also what went wrong before. */
char *source_problem(const struct source *source, size_t unnamed);

#endif
