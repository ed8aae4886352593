/* How much of a profile each of its modules leaves without names and lines. */
#ifndef PROF_CMD_DOCTOR_MODULE_WEIGHTS_H
#define PROF_CMD_DOCTOR_MODULE_WEIGHTS_H

#include "cmd/doctor/module_list.h"

/* Of modules that are code: */
#define NO_ROW UINT32_MAX

/*
 * Lists the modules of the profile's frames. A file that is two modules is one in the list. By
 * module of the profile: its index in the list, or NO_ROW; the caller frees it.
 */
uint32_t *module_weights(const struct profile *profile, struct module_list *ret);

#endif
