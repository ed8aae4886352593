/*
 * The facts about this machine that decide what prof can record, as reported by
 * the kernel.
 */
#ifndef PROF_DOCTOR_MACHINE_FACTS_H
#define PROF_DOCTOR_MACHINE_FACTS_H

#include "doctor/distribution.h"
#include "perf/permissions.h"
#include "perf/refusal.h"

#include <stdbool.h>
#include <stdint.h>

/* The file that sets DEBUGINFOD_URLS for all users. */
#define DEBUGINFOD_PROFILE "/etc/profile.d/prof-debuginfod.sh"

enum { SETTING_UNKNOWN = -100 }; /* the kernel has no such setting */

struct machine_facts {
	struct permissions may;
	struct circumstances around; /* paranoid: SETTING_UNKNOWN without perf events */
	bool is_root;
	bool may_trace;	       /* CAP_SYS_PTRACE in the initial user namespace */
	bool may_lock;	       /* CAP_IPC_LOCK in the initial user namespace */
	bool in_container;     /* process ids or user ids are in a namespace */
	bool filters_pids;     /* with BPF */
	const char *no_cycles; /* the reason why cycles are not counted; NULL if they are */
	unsigned cpus;
	int mlock_kib;		       /* kernel.perf_event_mlock_kb */
	uint64_t memlock_bytes, files; /* limits; UINT64_MAX: none; files: the hard limit */
	int max_rate_hz, cpu_percent;
	int kptr_restrict;
	bool sees_kernel_symbols;
	/*
	 * Rate of CPU samples by libprof-inside.so; 0 means the library was not
	 * found.
	 */
	uint32_t inside_hz;
	bool has_tracefs, reads_tracefs;
	int ptrace_scope;
	bool enforces_selinux;
	char profile[128]; /* AppArmor profile; "": none */
	/* "none", "integrity", "confidentiality"; "": not in this kernel. */
	char lockdown[32];
	char debuginfod[256]; /* DEBUGINFOD_URLS; "": not set */
	bool has_libdebuginfod;
	bool has_debuginfod_profile; /* DEBUGINFOD_PROFILE exists */
	bool has_debug_files;	     /* below /usr/lib/debug */
	struct distribution distribution;
};

void machine_facts_read(struct machine_facts *ret);

#endif
