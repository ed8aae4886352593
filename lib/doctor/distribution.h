/*
 * The distribution of a machine or a container, according to os-release(5): the
 * names of its packages with debug information, the commands to install them,
 * and its debuginfod server.
 */
#ifndef PROF_DOCTOR_DISTRIBUTION_H
#define PROF_DOCTOR_DISTRIBUTION_H

#include <stdbool.h>
#include <sys/types.h>

enum packaging {
	PACKAGING_UNKNOWN,
	PACKAGING_DEBIAN,
	PACKAGING_UBUNTU,
	PACKAGING_FEDORA, /* also Red Hat and CentOS */
	PACKAGING_SUSE,
	PACKAGING_ARCH,
	PACKAGING_ALPINE,
};

struct distribution {
	enum packaging packaging;
	/* Its server, or one that queries those of all distributions. */
	const char *debuginfod;
	char codename[32]; /* VERSION_CODENAME of letters and digits; "": none */
};

/* Parses the text of /etc/os-release. "" means an unknown distribution. */
void distribution_parse(const char *text, struct distribution *ret);
/* Returns that of this machine. */
void distribution_here(struct distribution *ret);
/*
 * Returns that of a process in a container, whose files are read with the
 * permissions of its user.
 */
void distribution_of_process(pid_t pid, uid_t user, struct distribution *ret);

/*
 * Returns the command that installs a package with debug information, or NULL
 * if the distribution has none. The caller frees it.
 */
char *distribution_install(const struct distribution *distribution, const char *debug_package);
/*
 * Returns the command that installs libdebuginfod, or NULL if it is unknown.
 * The caller frees it.
 */
char *distribution_install_debuginfod(const struct distribution *distribution);
/*
 * Returns the command that adds the archive with most of these packages
 * (Debian, Ubuntu), or NULL if it is not needed or unknown. The caller frees
 * it.
 */
char *distribution_archive(const struct distribution *distribution);

#endif
