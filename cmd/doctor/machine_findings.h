/* What stands in the way of good profiles on this machine. Pure. */
#ifndef PROF_CMD_DOCTOR_MACHINE_FINDINGS_H
#define PROF_CMD_DOCTOR_MACHINE_FINDINGS_H

#include "cmd/doctor/finding.h"
#include "cmd/doctor/machine_facts.h"

/* One finding per subject, the most important first. *ret is initialized. */
void machine_findings(const struct machine_facts *facts, struct findings *ret);

/* The command that sets DEBUGINFOD_URLS to a server; the caller frees it. */
char *debuginfod_command(const struct distribution *distribution);

#endif
