/*
 * Parses the text of a probe: "uprobe:bash:readline",
 * "usdt:python3:function__entry", "kretprobe:vfs_read".
 *
 *   uprobe:[TARGET:]PLACE         before the instruction at a place
 *   uretprobe:[TARGET:]PLACE      after the function returns
 *   latency:[TARGET:]PLACE        calls of a function: entries and returns
 *   usdt:[TARGET:[PROVIDER:]]NAME a static probe (.note.stapsdt)
 *   kprobe:FUNCTION[+OFFSET]      like uprobe, in the kernel
 *   kretprobe:FUNCTION            like uretprobe, in the kernel
 *
 * TARGET is a path, a program, a library ("libc") or a process ("1234"). The
 * default is the program that is recorded. PLACE is a function, a pattern with
 * * and ?, "FUNCTION+0x12", an address of the file ("0x4011d6") or "FILE:LINE".
 * Names may contain "::", commas in brackets, and spaces. Terms may follow
 * between slashes as for other events: "uprobe:bash:readline/period=10/".
 */
#ifndef PROF_PROBE_SPEC_H
#define PROF_PROBE_SPEC_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum probe_kind { PROBE_FUNCTION, PROBE_STATIC, PROBE_KERNEL };

enum probe_place_kind {
	PROBE_BY_NAME,	  /* `function`, which may be a pattern, plus `offset` */
	PROBE_BY_ADDRESS, /* `offset` is a vaddr */
	PROBE_BY_LINE,	  /* `file` and `line` */
};

struct probe_spec {
	enum probe_kind kind;
	bool is_return;
	bool measures_calls;
	char *target;	/* NULL for the recorded program or if pid is set */
	pid_t pid;	/* 0 if the target is not a process */
	char *provider; /* of a static probe; NULL for any */
	enum probe_place_kind place;
	char *function; /* or name of the static probe; NULL if place is not by name */
	uint64_t offset;
	char *file;
	uint32_t line;
	/*
	 * Name of the event: the spec without its terms, or the value of the
	 * `name` term.
	 */
	char *name;
	char *terms; /* NULL if there are none */
};

/* Returns true if the text starts like a probe. */
bool probe_is_spec(const char *text);
/*
 * Returns the length of the first spec in a comma-separated list, which may
 * also contain other events.
 */
size_t probe_spec_len(const char *list);
MUST_CHECK struct error *probe_spec_parse(const char *text, struct probe_spec *ret);
void probe_spec_deinit(struct probe_spec *spec);

#endif
