/*
 * What cargo says about the project that it is to build: the machine's triple, the profile with
 * which a command builds, and the runners that are configured.
 *
 * `cargo config get` and `--unit-graph` are the only ways to learn this without doing what cargo
 * does with manifests, configuration files and the environment. Both ask for RUSTC_BOOTSTRAP=1 on a
 * stable cargo. Nothing is built, and no cache of cargo gets to know the variable
 * (CARGO_CACHE_RUSTC_INFO=0).
 */
#ifndef PROF_CMD_CARGO_PROJECT_H
#define PROF_CMD_CARGO_PROJECT_H

#include "base/error.h"
#include "cmd/words.h"

/* By convention the name of a project's own build program, which runs cargo. */
#define CARGO_XTASK "xtask"

struct cargo_project {
	char *host;	      /* the triple of the machine; NULL: cargo does not say */
	bool is_bench;	      /* the command is `bench` */
	struct words triples; /* that programs are built for */
	/* Variables that add line tables to a profile that has none, "NAME=VALUE". */
	struct words settings;
	const char *toolchain; /* "+nightly", borrowed; NULL: none */
	char *config;	       /* as JSON; "" : unknown */
	size_t config_len;
};

/*
 * cargo: the program. words: the rest of the command line. Fails if cargo cannot be executed, or if
 * it builds what prof cannot sample; what cargo itself will complain about is no error.
 */
MUST_CHECK struct error *cargo_project_ask(const char *cargo, char *const *words,
					   struct cargo_project *ret);
void cargo_project_deinit(struct cargo_project *project);

/* The variable that names the runner of a triple; to be freed. */
char *cargo_runner_variable(const char *triple);

#endif
