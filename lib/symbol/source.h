/*
 * The symbol sources of one module: its ELF file, debug file, symbol tables, Go's function table
 * and DWARF; for code compiled at run time its list of symbols.
 */
#ifndef PROF_SYMBOL_SOURCE_H
#define PROF_SYMBOL_SOURCE_H

#include "base/arena.h"
#include "dwarf/dwarf.h"
#include "elf/debugfile.h"
#include "symbol/function_starts.h"
#include "symbol/gopclntab.h"
#include "symbol/jitdump_names.h"
#include "symbol/libdw.h"
#include "symbol/load_address.h"
#include "symbol/name_sources.h"
#include "symbol/symbol_options.h"
#include "symbol/symtab.h"

#include <stdatomic.h>
#include <stdio.h>

/* A module to symbolize. All borrowed. */
struct source_module {
	uint32_t id;			/* the caller's */
	struct elf_file *elf;		/* NULL: map has its symbols */
	FILE *map;			/* perf-PID.map, or a jitdump */
	uint64_t map_bytes;		/* what is later in the map is of later code */
	struct debugfile_opener opener; /* open is NULL: it has no debug files, as the vdso */
	/*
	 * Of a kernel and its modules, whose addresses are pcs; else NULL. If elf is NULL, map is
	 * the compressed file.
	 */
	const struct kernel_image *kernel;
};

struct source_options {
	bool inlines; /* false: symbols only, no DWARF */
	bool again;   /* more addresses of the same modules will be looked up later */
	enum symbolizer_choice symbolizer;
	const struct dwarf_sharing *sharing; /* of large units; NULL: one thread reads them */
};

/* What is wrong with a module's debug information or list. */
enum source_problem {
	SOURCE_NO_PROBLEM,
	SOURCE_PACKED_DWARF, /* it cannot be decompressed */
	SOURCE_SPLIT_DWARF,  /* some of it is in .dwo files that were not found */
	SOURCE_LONG_MAP,     /* only its first PERFMAP_BYTES_MAX were read */
	SOURCE_CHANGED_FILE, /* its file or debug file was cut or overwritten meanwhile */
	SOURCE_PACKED_FILE,  /* the file cannot be decompressed */
	SOURCE_OTHER_BUILD,  /* … or has another build-id */
	SOURCE_OTHER_PLACE,  /* it has no symbol that says where it was loaded */
};

/* Which functions of a module have symbols. */
enum source_symbols {
	SOURCE_ALL_SYMBOLS, /* or those that a list has */
	SOURCE_EXPORTED_SYMBOLS,
	SOURCE_NO_SYMBOLS,
};

struct source {
	struct source_module module;  /* of the present request */
	struct elf_file *unpacked;    /* of a compressed file; else NULL */
	struct load_address load;     /* of a kernel */
	struct elf_file *debug, *alt; /* NULL: none */
	bool debug_is_embedded;	      /* it is .gnu_debugdata */
	struct symtab *symtab;	      /* NULL: not of an ELF file */
	struct gopclntab *go;	      /* NULL: not a Go program */
	struct dwarf *dwarf;	      /* NULL: none, or not asked for yet */
	struct libdw *libdw;	      /* of the same file; NULL: none, or not wanted */
	bool dwarf_is_open;
	struct function_starts *starts; /* NULL: none, or not asked for yet */
	bool starts_are_open;
	atomic_bool is_named_by_libdw;
	const char **names;		  /* of a list: one per address, or NULL */
	struct listed_line *lines;	  /* of a jitdump: one per address; else NULL */
	struct arena arena;		  /* of names */
	struct dwarf_split_counts splits; /* when they were asked for last */
	enum source_problem problem;
};

/*
 * Fills a zero-initialized source. addresses: ascending, those that will be looked up. Different
 * modules may be opened at the same time.
 */
void source_open(struct source *source, const struct source_module *module,
		 const struct source_options *options, const uint64_t *addresses, size_t count);
void source_close(struct source *source);
/* The same module in another request. */
void source_set_module(struct source *source, const struct source_module *module);
/* The vaddr of an address in a request; false if the file has nothing there. */
bool source_vaddr(const struct source *source, uint64_t address, uint64_t *ret);

/* Opens the DWARF at the first use: Go code needs none. NULL if there is none. */
struct dwarf *source_dwarf(struct source *source, const struct source_options *options);

/*
 * The bytes from the start of a function without a symbol to vaddr; 0 if the start is unknown. The
 * first call opens the call frame information of the module's ELF file. Not for two threads at
 * once.
 */
uint64_t source_into_function(struct source *source, uint64_t vaddr, const atomic_bool *cancel);

enum source_symbols source_symbols(const struct source *source);
/* Asked when all addresses were looked up. Borrows from the source. */
struct name_sources source_names(struct source *source);
/* Asked when all addresses were looked up: of files that changed, any symbol can be wrong. */
enum source_problem source_problem(struct source *source);

#endif
