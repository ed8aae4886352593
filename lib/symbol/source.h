/*
 * All that can name the addresses of one module: its file, its debug file, its symbol tables, Go's
 * table of functions and its DWARF; for the kernel and run-time code their lists of names.
 */
#ifndef PROF_SYMBOL_SOURCE_H
#define PROF_SYMBOL_SOURCE_H

#include "base/arena.h"
#include "proc/space.h"
#include "symbol/dwarf.h"
#include "symbol/gopclntab.h"
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
	struct gopclntab *go;	   /* NULL: not a Go program */
	struct dwarf *dwarf;	   /* NULL: none, or not asked for yet */
	bool dwarf_is_open;
	const char **names; /* no file: one for each address asked for, or NULL */
	struct arena arena; /* of names */
	char *problem;	    /* why it names nothing, or less than it could; NULL: nothing */
};

/*
 * Fills a zeroed source. addresses: ascending, that will be asked for. Different modules may be
 * opened at the same time.
 */
void source_open(struct source *source, const struct module *module,
		 const struct source_options *options, const uint64_t *addresses, size_t count);
void source_close(struct source *source);

/* Opens the DWARF when it is first asked for: what Go names needs none. NULL: there is none. */
struct dwarf *source_dwarf(struct source *source, const struct source_options *options);

/* One sentence on how to get more names when that many addresses found none, or NULL: to be freed.
 * Also what went wrong before. */
char *source_problem(const struct source *source, size_t unnamed);

#endif
