/*
 * The settings of a machine that root can change so that its ordinary users can
 * record more.
 */
#ifndef PROF_DOCTOR_MACHINE_FIXES_H
#define PROF_DOCTOR_MACHINE_FIXES_H

#include "doctor/finding.h"
#include "doctor/machine_facts.h"

/*
 * Finds what limits an ordinary user, also if the facts are those of root. Each
 * finding has a fix. The fixes do not depend on each other's order. The caller
 * frees *ret with findings_deinit().
 */
void machine_fixes(const struct machine_facts *facts, struct findings *ret);

#endif
