/* What of this machine decides what prof can record, as the kernel says it. */
#ifndef PROF_CMD_DOCTOR_MACHINE_FACTS_H
#define PROF_CMD_DOCTOR_MACHINE_FACTS_H

#include "cmd/doctor/distribution.h"
#include "perf/permissions.h"
#include "perf/refusal.h"

#include <stdbool.h>
#include <stdint.h>

enum { SETTING_UNKNOWN = -100 }; /* the kernel has no such setting */

struct machine_facts {
	struct permissions may;
	struct circumstances around; /* paranoid: SETTING_UNKNOWN without perf events */
	bool is_root;
	bool may_trace;	       /* CAP_SYS_PTRACE, in the first user namespace */
	bool may_lock;	       /* CAP_IPC_LOCK, likewise */
	bool in_container;     /* pids are of a namespace, or the user ids are */
	bool filters_pids;     /* with BPF */
	const char *no_cycles; /* why cycles are not counted; NULL: they are */
	unsigned cpus;
	int mlock_kib;		       /* kernel.perf_event_mlock_kb */
	uint64_t memlock_bytes, files; /* limits; UINT64_MAX: none; files: the hard one */
	int max_rate_hz, cpu_percent;
	int kptr_restrict;
	bool sees_kernel_symbols;
	uint32_t inside_hz; /* of CPU samples by libprof-inside.so; 0: the library is not found */
	bool has_tracefs, reads_tracefs;
	int ptrace_scope;
	bool enforces_selinux;
	char profile[128];    /* of AppArmor; "": none */
	char lockdown[32];    /* "none", "integrity", "confidentiality"; "": not in this kernel */
	char debuginfod[256]; /* DEBUGINFOD_URLS; "": not set */
	bool has_libdebuginfod;
	bool has_debug_files; /* below /usr/lib/debug */
	struct distribution distribution;
};

void machine_facts_read(struct machine_facts *ret);

#endif
