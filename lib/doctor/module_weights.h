/*
 * Counts for each module of a profile how many samples lack symbols and lines.
 */
#ifndef PROF_DOCTOR_MODULE_WEIGHTS_H
#define PROF_DOCTOR_MODULE_WEIGHTS_H

#include "doctor/module_list.h"

/* Marks modules that are not code. */
#define NO_ROW UINT32_MAX

/*
 * Lists the modules of the profile's frames. A file that is two modules is one
 * in the list. Returns for each module of the profile its index in the list, or
 * NO_ROW. The caller frees the result.
 */
uint32_t *module_weights(const struct profile *profile, struct module_list *ret);

#endif
