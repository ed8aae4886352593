/*
 * Findings about a process: its properties, and what recording it requires.
 */
#ifndef PROF_DOCTOR_PROCESS_FINDINGS_H
#define PROF_DOCTOR_PROCESS_FINDINGS_H

#include "doctor/finding.h"
#include "doctor/module_list.h"
#include "perf/permissions.h"

#include <sys/types.h>

struct process_facts {
	pid_t pid;
	char name[64];
	uid_t uid;
	char user[64];	       /* its name, or number */
	bool is_root;	       /* prof runs as root */
	bool in_container;     /* it sees other files than prof */
	bool is_kernel_thread; /* has no address space */
	bool hides_mappings;   /* /proc/PID/maps cannot be read */
	struct permissions may;
	char *refusal, *refusal_help; /* texts for may.user; NULL means allowed */
	char *waiting;		      /* of waiting_refusal(); NULL means its stacks can be read */
};

/* Returns false if there is no such process. */
bool process_facts_read(pid_t pid, struct process_facts *ret);
void process_facts_deinit(struct process_facts *facts);

/* A pure function. modules: of the process. Initializes *ret. */
void process_findings(const struct process_facts *facts, const struct module_list *modules,
		      struct findings *ret);

#endif
