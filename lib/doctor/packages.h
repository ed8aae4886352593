/*
 * Finds the packages with debug information for a machine's files, by querying
 * its package manager.
 *
 * It asks only about files below /usr, /lib and /opt, once for all of them,
 * with names as arguments. The query may take two seconds, and ten for the
 * content of archives. Without an answer a package is unknown.
 */
#ifndef PROF_DOCTOR_PACKAGES_H
#define PROF_DOCTOR_PACKAGES_H

#include "doctor/distribution.h"
#include "doctor/module_list.h"

/*
 * Sets package and archived of the modules that exist here and lack symbols or
 * lines.
 */
void packages_find(const struct distribution *distribution, struct module_list *list);

/*
 * Parses the output of `dpkg-query -S` ("libc6:amd64: /lib/…/libc.so.6"), of
 * `rpm -qf` ("NAME PATH", the requested format) or of `apk info --who-owns`.
 * Stores the package of the file, or "" if it is not there.
 */
void package_of_file(enum packaging packaging, const char *text, const char *path, char *package,
		     unsigned room);

#endif
