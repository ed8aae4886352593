/*
 * Asks cargo about the project that it is to build: the machine's triple, the
 * build profile of a command, and the configured runners.
 *
 * `cargo config get` and `--unit-graph` are the only ways to learn this without
 * repeating cargo's handling of manifests, configuration files and the
 * environment. On a stable cargo both need RUSTC_BOOTSTRAP=1. Nothing is built,
 * and cargo's caches do not record the variable (CARGO_CACHE_RUSTC_INFO=0).
 */
#ifndef PROF_CMD_CARGO_PROJECT_H
#define PROF_CMD_CARGO_PROJECT_H

#include "base/error.h"
#include "cmd/string_list.h"

/* The conventional name of a project's own build program, which runs cargo. */
#define CARGO_XTASK "xtask"

struct cargo_project {
	char *host;    /* the triple of the machine, or NULL if cargo does not report it */
	bool is_bench; /* the command is `bench` */
	struct string_list triples; /* the triples that programs are built for */
	/* "NAME=VALUE" variables that add line tables to a build profile
	 * without them */
	struct string_list settings;
	const char *toolchain; /* "+nightly", borrowed; or NULL */
	char *config;	       /* as JSON; "" if unknown */
	size_t config_len;
};

/*
 * cargo: the program. words: the rest of the command line. Fails if cargo
 * cannot be executed, or if it builds something that prof cannot sample. Errors
 * that cargo itself will report are ignored.
 */
MUST_CHECK struct error *cargo_project_ask(const char *cargo, char *const *words,
					   struct cargo_project *ret);
void cargo_project_deinit(struct cargo_project *project);

/* Returns the name of the variable for the runner of a triple. The caller frees
 * it. */
char *cargo_runner_variable(const char *triple);

#endif
