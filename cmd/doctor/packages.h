/*
 * The packages that have the debug information of a machine's files, as its package manager says.
 *
 * It is asked about files below /usr, /lib and /opt only, once for all of them, with names as
 * arguments, for two seconds, and for ten what its archives have. Without an answer a package is
 * unknown.
 */
#ifndef PROF_CMD_DOCTOR_PACKAGES_H
#define PROF_CMD_DOCTOR_PACKAGES_H

#include "cmd/doctor/distribution.h"
#include "cmd/doctor/module_list.h"

/* Sets package and archived of the modules that are here and lack names or lines. */
void packages_find(const struct distribution *distribution, struct module_list *list);

/*
 * The package of a file in what `dpkg-query -S` prints ("libc6:amd64: /lib/…/libc.so.6"); "" if it
 * is not there. The same for `rpm -qf` ("NAME PATH", as asked for) and `apk info --who-owns`.
 */
void package_of_file(enum packaging packaging, const char *text, const char *path, char *package,
		     unsigned room);

#endif
