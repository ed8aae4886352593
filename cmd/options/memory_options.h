/*
 * The options that record memory: a struct for their values and the entries of
 * the option table.
 *
 * --alloc records sampled allocations with libprof-inside.so, without a CPU
 * profile; together with -e, -F, -c or --wall, there is a CPU profile as well.
 * --alloc=uprobe is an event: a uprobe on malloc(). --growth samples page
 * faults, weighted in bytes.
 */
#ifndef PROF_CMD_OPTIONS_MEMORY_OPTIONS_H
#define PROF_CMD_OPTIONS_MEMORY_OPTIONS_H

#include "cmd/ui/options.h"
#include "record/config.h"

/* The event of --alloc=uprobe. */
#define MEMORY_UPROBE "uprobe:libc:malloc/weight=bytes:arg1,name=alloc_space/"

struct alloc_choice {
	/* mean number of bytes between two samples; 0 if allocations are not
	 * recorded */
	uint64_t period_bytes;
	bool maps;	/* record mappings of memory, too */
	bool by_uprobe; /* record every call of malloc() as an event instead */
};

struct memory_options {
	struct alloc_choice alloc;
};

bool memory_is_recorded(const struct memory_options *options);
/* Returns an error if the first word of the command looks like the bytes of
 * --alloc. */
MUST_CHECK struct error *memory_check_command(const struct memory_options *options,
					      const char *word);
/* Stores the options in config. */
void memory_options_apply(const struct memory_options *options, struct record_config *config);

option_take memory_take_alloc;	/* struct alloc_choice */
option_take memory_take_growth; /* struct option_list of events */

/* The entries of a table for struct `type`, which holds the memory_options as `member`, and the
 * list of events as `events`. */
#define MEMORY_ENTRIES(type, member, events)                                                       \
	OPTION_COMMON(                                                                             \
		MEMORY, 0, "alloc", "[BYTES[,maps]|uprobe]",                                       \
		"record allocations and memory in use; one sample per BYTES allocated bytes "      \
		"(default 512k). maps adds mmap(). uprobe records each call of malloc(), slowly, " \
		"as root and without a library. The CPU is sampled only with -e, -F, -c or "       \
		"--wall",                                                                          \
		memory_take_alloc, offsetof(type, member.alloc)),                                  \
		OPTION_ENTRY(MEMORY, 0, "growth", NULL,                                            \
			     "sample where resident memory grows; page faults, weighed in bytes "  \
			     "(-e growth)",                                                        \
			     memory_take_growth, offsetof(type, events))

#endif
