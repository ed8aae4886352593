/*
 * The symbol sources of one module: its ELF file, debug file, symbol tables,
 * Go's function table and DWARF, or the map of JIT code.
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

/* A module to symbolize. All pointers are borrowed. */
struct source_module {
	uint32_t id;	      /* the caller's number of the module */
	struct elf_file *elf; /* NULL if `map` contains the symbols */
	FILE *map;	      /* perf-PID.map or a jitdump */
	uint64_t map_bytes;   /* the map beyond this size describes later code */
	/*
	 * Its open function is NULL if the module has no debug files, like the
	 * vdso.
	 */
	struct debugfile_opener opener;
	/*
	 * Set for a kernel or kernel module, whose addresses are pcs. NULL for
	 * other modules. If it is set and `elf` is NULL, `map` is the
	 * compressed file.
	 */
	const struct kernel_image *kernel;
};

struct source_options {
	bool inlines; /* if false, only symbols are read, not DWARF */
	bool again;   /* more addresses of the same modules follow in later runs */
	enum symbolizer_choice symbolizer;
	/* For large units; NULL if one thread reads them. */
	const struct dwarf_sharing *sharing;
};

/* Problems with a module's debug information or map. */
enum source_problem {
	SOURCE_NO_PROBLEM,
	SOURCE_PACKED_DWARF, /* the DWARF cannot be decompressed */
	SOURCE_SPLIT_DWARF,  /* some DWARF is in .dwo files that were not found */
	SOURCE_LONG_MAP,     /* only the first PERFMAP_BYTES_MAX bytes were read */
	/*
	 * The file or its debug file was truncated or overwritten during the
	 * read.
	 */
	SOURCE_CHANGED_FILE,
	SOURCE_PACKED_FILE, /* the file cannot be decompressed */
	SOURCE_OTHER_BUILD, /* the file has another build-id */
	SOURCE_OTHER_PLACE, /* no symbol reveals where the file was loaded */
};

/* Which functions of a module have symbols. */
enum source_symbols {
	SOURCE_ALL_SYMBOLS, /* or all that a map contains */
	SOURCE_EXPORTED_SYMBOLS,
	SOURCE_NO_SYMBOLS,
};

struct source {
	struct source_module module;  /* of the current request */
	struct elf_file *unpacked;    /* decompressed file, or NULL */
	struct load_address load;     /* only for a kernel or kernel module */
	struct elf_file *debug, *alt; /* NULL if there is none */
	bool debug_is_embedded;	      /* `debug` is .gnu_debugdata */
	struct symtab *symtab;	      /* NULL if the module is not an ELF file */
	struct gopclntab *go;	      /* NULL if it is not a Go program */
	struct dwarf *dwarf;	      /* NULL if there is none or it is not open yet */
	/*
	 * Reads the same file. NULL if there is no DWARF or libdw is not used.
	 */
	struct libdw *libdw;
	bool dwarf_is_open;
	struct function_starts *starts; /* NULL if there are none or not open yet */
	bool starts_are_open;
	atomic_bool is_named_by_libdw;
	/* From a map or jitdump, one per address. NULL for other modules. */
	const char **names;
	struct listed_line *lines;	  /* from a jitdump, one per address, or NULL */
	struct arena arena;		  /* contains `names` */
	struct dwarf_split_counts splits; /* result of the last query */
	enum source_problem problem;
};

/*
 * Fills a zero-initialized source. `addresses` are those that will be looked
 * up, ascending. Different modules may be opened at the same time.
 */
void source_open(struct source *source, const struct source_module *module,
		 const struct source_options *options, const uint64_t *addresses, size_t count);
void source_close(struct source *source);
/* Prepares for another request for the same module. */
void source_set_module(struct source *source, const struct source_module *module);
/*
 * Converts an address of a request to a vaddr. Returns false if the file
 * contains nothing there.
 */
bool source_vaddr(const struct source *source, uint64_t address, uint64_t *ret);

/*
 * Opens the DWARF on first use, because Go code does not need it. Returns NULL
 * if there is none.
 */
struct dwarf *source_dwarf(struct source *source, const struct source_options *options);

/*
 * Returns the distance of vaddr from the start of its function in bytes, for a
 * function without a symbol, or 0 if the start is unknown. The first call opens
 * the call frame information of the module's ELF file. Must not be called by
 * two threads at the same time.
 */
uint64_t source_into_function(struct source *source, uint64_t vaddr, const atomic_bool *cancel);

enum source_symbols source_symbols(const struct source *source);
/*
 * Call after all addresses have been looked up. The result borrows from the
 * source.
 */
struct name_sources source_names(struct source *source);
/*
 * Call after all addresses have been looked up. If a file has changed, any of
 * its symbols can be wrong.
 */
enum source_problem source_problem(struct source *source);

#endif
