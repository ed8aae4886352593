/*
 * The distribution of a machine or a container, by os-release(5): how its packages with debug
 * information are called and installed, and which debuginfod server has them.
 */
#ifndef PROF_CMD_DOCTOR_DISTRIBUTION_H
#define PROF_CMD_DOCTOR_DISTRIBUTION_H

#include <stdbool.h>
#include <sys/types.h>

enum packaging {
	PACKAGING_UNKNOWN,
	PACKAGING_DEBIAN,
	PACKAGING_UBUNTU,
	PACKAGING_FEDORA, /* and Red Hat, CentOS */
	PACKAGING_SUSE,
	PACKAGING_ARCH,
	PACKAGING_ALPINE,
};

struct distribution {
	enum packaging packaging;
	const char *debuginfod; /* its server, or one that asks those of all distributions */
	char codename[32];	/* VERSION_CODENAME of letters and digits; "": none */
};

/* From the text of /etc/os-release; "": unknown. */
void distribution_parse(const char *text, struct distribution *ret);
/* Of this machine. */
void distribution_here(struct distribution *ret);
/* Of a process in a container, whose files are read with the rights of its user. */
void distribution_of_process(pid_t pid, uid_t user, struct distribution *ret);

/*
 * The command that installs a package with debug information; NULL: the distribution has none. The
 * caller frees it.
 */
char *distribution_install(const struct distribution *distribution, const char *debug_package);
/* The command that installs libdebuginfod; NULL: unknown. The caller frees it. */
char *distribution_install_debuginfod(const struct distribution *distribution);
/*
 * The command that makes the archive known that has most of these packages (Debian, Ubuntu); NULL:
 * it is not needed, or unknown. The caller frees it.
 */
char *distribution_archive(const struct distribution *distribution);

#endif
