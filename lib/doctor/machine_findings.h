/*
 * Derives findings about this machine from facts. Pure functions.
 */
#ifndef PROF_DOCTOR_MACHINE_FINDINGS_H
#define PROF_DOCTOR_MACHINE_FINDINGS_H

#include "doctor/finding.h"
#include "doctor/machine_facts.h"

/* Initializes *ret with one finding per subject, the most important first. */
void machine_findings(const struct machine_facts *facts, struct findings *ret);

/*
 * Returns the command that sets DEBUGINFOD_URLS to a server. The caller frees
 * it.
 */
char *debuginfod_command(const struct distribution *distribution);

#endif
