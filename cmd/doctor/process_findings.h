/* What recording a process needs, and what it is. */
#ifndef PROF_CMD_DOCTOR_PROCESS_FINDINGS_H
#define PROF_CMD_DOCTOR_PROCESS_FINDINGS_H

#include "cmd/doctor/finding.h"
#include "cmd/doctor/module_list.h"
#include "perf/permissions.h"

#include <sys/types.h>

struct process_facts {
	pid_t pid;
	char name[64];
	uid_t uid;
	char user[64];	       /* its name, or number */
	bool is_root;	       /* prof */
	bool in_container;     /* it sees other files than prof */
	bool is_kernel_thread; /* without an address space */
	bool hides_mappings;   /* /proc/PID/maps cannot be read */
	struct permissions may;
	char *refusal, *refusal_help; /* may.user in words; NULL: allowed */
	char *waiting;		      /* of waiting_refusal(); NULL: it can be looked at */
};

/* False: there is no such process. */
bool process_facts_read(pid_t pid, struct process_facts *ret);
void process_facts_deinit(struct process_facts *facts);

/* Pure. modules: of the process. Initializes *ret. */
void process_findings(const struct process_facts *facts, const struct module_list *modules,
		      struct findings *ret);

#endif
