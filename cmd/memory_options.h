/*
 * The options that record memory: a struct for their values and the entries of the option table.
 *
 * --alloc records sampled allocations with libprof-inside.so: alone without a CPU profile, with -e,
 * -F, -c or --wall beside one. --alloc=uprobe is an event: a uprobe on malloc(). --growth samples
 * page faults, weighed in bytes.
 */
#ifndef PROF_CMD_MEMORY_OPTIONS_H
#define PROF_CMD_MEMORY_OPTIONS_H

#include "cmd/ui/options.h"
#include "record/config.h"

/* The event of --alloc=uprobe. */
#define MEMORY_UPROBE "uprobe:libc:malloc/weight=bytes:arg1,name=alloc_space/"

struct alloc_choice {
	uint64_t period_bytes; /* mean number of bytes between two samples; 0: no allocations */
	bool maps;	       /* mappings of memory, too */
	bool by_uprobe;	       /* every call of malloc() instead, as an event */
};

struct memory_options {
	struct alloc_choice alloc;
};

bool memory_is_recorded(const struct memory_options *options);
/* Returns an error if the first word of the command is meant as the bytes of --alloc. */
MUST_CHECK struct error *memory_check_command(const struct memory_options *options,
					      const char *word);
/* Sets what the options say in config. */
void memory_options_apply(const struct memory_options *options, struct record_config *config);

option_take memory_take_alloc;	/* struct alloc_choice */
option_take memory_take_growth; /* struct option_list of events */

/* The entries of a table for struct `type`, which holds the memory_options as `member`, and the
 * list of events as `events`. */
#define MEMORY_ENTRIES(type, member, events)                                                       \
	OPTION_ENTRY(                                                                              \
		0, "alloc", "[BYTES[,maps]|uprobe]",                                               \
		"record who allocates memory and what stays, one sample in BYTES allocated "       \
		"bytes (default 512k), also of mappings; --alloc=BYTES is one word; with "         \
		"-e, -F, -c or --wall beside the CPU; uprobe: every call of malloc, as root, "     \
		"without the library, slow",                                                       \
		memory_take_alloc, offsetof(type, member.alloc)),                                  \
		OPTION_ENTRY(0, "growth", NULL,                                                    \
			     "sample where resident memory grows: page faults, as bytes (-e "      \
			     "growth)",                                                            \
			     memory_take_growth, offsetof(type, events))

#endif
