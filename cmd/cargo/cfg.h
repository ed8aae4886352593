/*
 * Evaluates configuration predicates, which are keys of target tables in
 * cargo's configuration: cfg(unix), cfg(all(target_os = "linux", not(target_env
 * = "musl"))). Source: The Rust Reference, "Conditional compilation"; RFC 1361.
 */
#ifndef PROF_CMD_CARGO_CFG_H
#define PROF_CMD_CARGO_CFG_H

#include <stdbool.h>

/*
 * options has the lines of `rustc --print cfg`, such as `unix` and
 * `target_os="linux"`. Returns false also for a text that is not a predicate,
 * or that has more than 64 levels.
 */
bool cargo_cfg_matches(const char *text, const char *options);

#endif
