/*
 * Configuration predicates, as the keys of target tables in cargo's configuration are: cfg(unix),
 * cfg(all(target_os = "linux", not(target_env = "musl"))). Source: The Rust Reference, "Conditional
 * compilation"; RFC 1361.
 */
#ifndef PROF_CMD_CARGO_CFG_H
#define PROF_CMD_CARGO_CFG_H

#include <stdbool.h>

/*
 * options: the lines of `rustc --print cfg`, such as `unix` and `target_os="linux"`. False also for
 * a text that is not a predicate, or is deeper than 64 levels.
 */
bool cargo_cfg_matches(const char *text, const char *options);

#endif
