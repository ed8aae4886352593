/*
 * Symbolizes addresses of modules on all CPUs. It knows files, not profiles or processes, so that
 * it can run in a process that has nothing else.
 *
 * The order of sources for an address in an ELF file: Go's function table, DWARF inline chain (by
 * libdw where our own reader does not understand the unit), .symtab, .dynsym and .gnu_debugdata.
 * The outermost line takes the ELF symbol's name if there is one; where the linker has folded
 * several functions into one, the name that the lines belong to. An address without a symbol has no
 * lines, but the start of its function, if call frame information has it.
 *
 * The result is the same with any number of threads.
 */
#ifndef PROF_SYMBOL_ENGINE_H
#define PROF_SYMBOL_ENGINE_H

#include "base/cleanup.h"
#include "symbol/line_builder.h"
#include "symbol/name_sources.h"
#include "symbol/source.h"
#include "symbol/thread_pool.h"

/* The addresses of one module. */
struct engine_request {
	struct source_module module;
	const uint64_t *addresses; /* vaddrs, or pcs of a list; ascending, each once */
	size_t count;
	bool without_libdw; /* it has cost a worker already */
};

struct engine_result {
	const struct symbolized *lines; /* by address */
	enum source_problem problem;
	enum source_symbols symbols;
	struct name_sources sources;
};

struct engine_options {
	struct source_options source;
	struct thread_pool pool;
	/*
	 * Called when a request is done, by any thread, for several requests at the same time. The
	 * result is valid until it returns.
	 */
	void (*finished)(void *user, size_t request, const struct engine_result *result);
	/*
	 * Called by a thread that begins to work on a request, or with NONE ends to, and when it
	 * calls libdw for it; may be NULL.
	 */
	void (*at_work)(void *user, unsigned thread, size_t request, bool in_libdw);
	void *user;
};

#define ENGINE_NO_REQUEST SIZE_MAX

struct engine;

struct engine *engine_new(const struct engine_options *options);
void engine_free(struct engine *engine);
DEFINE_CLEANUP(engine, engine_free)

/*
 * Files stay open for the next run if the options say so: a module's id and file are the same in
 * all runs. Requests are of different modules. Unless cancelled, each is finished once.
 */
void engine_run(struct engine *engine, const struct engine_request *requests, size_t count);

#endif
