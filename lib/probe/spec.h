/*
 * What a user writes for a probe of code: "uprobe:bash:readline", "usdt:python3:function__entry",
 * "kretprobe:vfs_read".
 *
 *   uprobe:[TARGET:]PLACE            before the instruction at a place of a program or library
 *   uretprobe:[TARGET:]PLACE         after the return from the function there
 *   latency:[TARGET:]PLACE           calls of a function: entries and returns
 *   usdt:[TARGET:[PROVIDER:]]NAME    a static probe of the file (.note.stapsdt)
 *   kprobe:FUNCTION[+OFFSET]         the same as a uprobe in the kernel, and kretprobe
 *
 * TARGET is a path, a program, a library ("libc") or a process ("1234"); without it, it is the
 * program that is recorded. PLACE is a function or a pattern with * and ?, "FUNCTION+0x12", an
 * address of the file ("0x4011d6") or "FILE:LINE". Names may contain "::", commas in brackets and
 * spaces. Terms of all events may follow between slashes: "uprobe:bash:readline/period=10/".
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
	PROBE_BY_NAME,	  /* function, which may be a pattern; offset: in it */
	PROBE_BY_ADDRESS, /* offset: a vaddr */
	PROBE_BY_LINE,	  /* file and line */
};

struct probe_spec {
	enum probe_kind kind;
	bool is_return;
	bool measures_calls;
	char *target;	/* NULL: the program that is recorded, or pid */
	pid_t pid;	/* 0: none */
	char *provider; /* of a static probe; NULL: any */
	enum probe_place_kind place;
	char *function; /* a static probe's name; NULL: place is not by name */
	uint64_t offset;
	char *file;
	uint32_t line;
	char *name;  /* of the event: the spec without its terms, or their `name` */
	char *terms; /* NULL: none */
};

/* Whether it begins as one of a probe. */
bool probe_is_spec(const char *text);
/* The length of the first spec in a list that is separated by commas, which may be followed by
 * events of other kinds. */
size_t probe_spec_len(const char *list);
MUST_CHECK struct error *probe_spec_parse(const char *text, struct probe_spec *ret);
void probe_spec_deinit(struct probe_spec *spec);

#endif
