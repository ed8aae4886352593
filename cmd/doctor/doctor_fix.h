/*
 * prof doctor --fix: the lines that change this machine, and with --yes running them.
 */
#ifndef PROF_CMD_DOCTOR_DOCTOR_FIX_H
#define PROF_CMD_DOCTOR_DOCTOR_FIX_H

#include "doctor/machine_facts.h"

#include <stdbool.h>

/*
 * Prints the lines to stdout, so that they can be piped to a shell. runs: also runs them, which
 * needs root. Returns the exit status, 1 if a line failed.
 */
int doctor_fix(const struct machine_facts *facts, bool runs);

#endif
