/*
 * Symbolizes addresses of modules on all CPUs. It knows only files, neither
 * profiles nor processes, so that it can run in a confined process.
 *
 * For an address in an ELF file the sources are, in this order: Go's function
 * table, the DWARF inline chain, .symtab, .dynsym and .gnu_debugdata. libdw
 * reads the DWARF units that prof's own reader does not support. The outermost
 * line takes the name of the ELF symbol if there is one. If the linker has
 * folded several functions into one, it takes the name of the function that the
 * lines belong to. An address without a symbol has no lines; if call frame
 * information covers it, the start of its function is known.
 *
 * The result does not depend on the number of threads.
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
	/*
	 * Vaddrs, or pcs for a map of JIT code. Ascending, without duplicates.
	 */
	const uint64_t *addresses;
	size_t count;
	bool without_libdw; /* libdw has already crashed a worker */
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
	 * Called when a request is done, by any thread and for several requests
	 * at the same time. The result is valid until the callback returns.
	 */
	void (*finished)(void *user, size_t request, const struct engine_result *result);
	/*
	 * Called when a thread starts to work on a request, when it stops
	 * (request is ENGINE_NO_REQUEST), and when it calls libdw for the
	 * request. May be NULL.
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
 * Runs the requests. They must be for different modules. Each is finished
 * exactly once unless the run is cancelled. Files stay open for the next run if
 * the options request it; then a module's id must refer to the same file in all
 * runs.
 */
void engine_run(struct engine *engine, const struct engine_request *requests, size_t count);

#endif
