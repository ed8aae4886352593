#include "doctor/distribution.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/timed_open.h"
#include "proc/process_links.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { RELEASE_BYTES_MAX = 8192 };

/* This server queries the servers of the distributions. */
#define EVERYBODYS_SERVER "https://debuginfod.elfutils.org"

static const struct {
	const char *id;
	enum packaging packaging;
	const char *debuginfod;
} known[] = {
	{"debian", PACKAGING_DEBIAN, "https://debuginfod.debian.net"},
	{"ubuntu", PACKAGING_UBUNTU, "https://debuginfod.ubuntu.com"},
	{"fedora", PACKAGING_FEDORA, "https://debuginfod.fedoraproject.org"},
	{"centos", PACKAGING_FEDORA, "https://debuginfod.centos.org"},
	{"rhel", PACKAGING_FEDORA, EVERYBODYS_SERVER},
	{"opensuse", PACKAGING_SUSE, "https://debuginfod.opensuse.org"},
	{"suse", PACKAGING_SUSE, EVERYBODYS_SERVER},
	{"arch", PACKAGING_ARCH, "https://debuginfod.archlinux.org"},
	{"alpine", PACKAGING_ALPINE, EVERYBODYS_SERVER},
};

/*
 * Finds the value of a variable of os-release, without quotes. Returns false if
 * it is missing.
 */
static bool distribution_find_value(const char *text, const char *name, char *value, size_t room)
{
	size_t len;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (!text_begins(text, name) || text[strlen(name)] != '=')
			continue;
		text += strlen(name) + 1;
		text += *text == '"' || *text == '\'';
		len = strcspn(text, "\"'\n");
		if (len >= room)
			return false;
		memcpy(value, text, len);
		value[len] = '\0';
		return true;
	}
	return false;
}

static bool distribution_choose(const char *id, struct distribution *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		/* "opensuse-leap" matches by its prefix. */
		if (!text_begins(id, known[i].id) ||
		    isalnum((unsigned char)id[strlen(known[i].id)]))
			continue;
		ret->packaging = known[i].packaging;
		ret->debuginfod = known[i].debuginfod;
		return true;
	}
	return false;
}

void distribution_parse(const char *text, struct distribution *ret)
{
	char ids[256], *rest, *id;

	*ret = (struct distribution){.debuginfod = EVERYBODYS_SERVER};
	if (!distribution_find_value(text, "UBUNTU_CODENAME", ret->codename,
				     sizeof(ret->codename)) &&
	    !distribution_find_value(text, "VERSION_CODENAME", ret->codename,
				     sizeof(ret->codename)))
		ret->codename[0] = '\0';
	for (const char *at = ret->codename; *at; at++)
		if (!isalnum((unsigned char)*at))
			ret->codename[0] = '\0';
	if (distribution_find_value(text, "ID", ids, sizeof(ids)) && distribution_choose(ids, ret))
		return;
	if (!distribution_find_value(text, "ID_LIKE", ids, sizeof(ids)))
		return;
	for (id = strtok_r(ids, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
		if (distribution_choose(id, ret))
			return;
}

static const char *const release_paths[] = {"/etc/os-release", "/usr/lib/os-release"};

void distribution_here(struct distribution *ret)
{
	char text[RELEASE_BYTES_MAX] = "";

	for (size_t i = 0; i < ARRAY_SIZE(release_paths) && !*text; i++) {
		CLEANUP(close_file) FILE *file = fopen(release_paths[i], "re");
		size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

		text[len] = '\0';
	}
	distribution_parse(text, ret);
}

void distribution_of_process(pid_t pid, uid_t user, struct distribution *ret)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *root = xasprintf("%s/root", links);
	char text[RELEASE_BYTES_MAX] = "";

	for (size_t i = 0; i < ARRAY_SIZE(release_paths) && !*text; i++) {
		const struct untrusted_name name = {
			.root = root, .path = release_paths[i], .user = user};
		struct timed_text found = {0};

		if (!timed_read(caller, &name, sizeof(text) - 1, &found))
			continue;
		memcpy(text, found.bytes, found.len);
		text[found.len] = '\0';
		free(found.bytes);
	}
	distribution_parse(text, ret);
}

char *distribution_archive(const struct distribution *distribution)
{
	const char *codename = distribution->codename;

	if (!*codename)
		return NULL;
	if (distribution->packaging == PACKAGING_UBUNTU)
		return xasprintf("sudo apt install ubuntu-dbgsym-keyring && echo 'deb "
				 "http://ddebs.ubuntu.com %s main universe' | sudo tee "
				 "/etc/apt/sources.list.d/debug.list && sudo apt update",
				 codename);
	if (distribution->packaging == PACKAGING_DEBIAN)
		return xasprintf("echo 'deb http://deb.debian.org/debian-debug %s-debug main' | "
				 "sudo tee /etc/apt/sources.list.d/debug.list && sudo apt update",
				 codename);
	return NULL;
}

char *distribution_install(const struct distribution *distribution, const char *debug_package)
{
	const char *verb = NULL;

	switch (distribution->packaging) {
	case PACKAGING_DEBIAN:
	case PACKAGING_UBUNTU:
		verb = "apt install";
		break;
	case PACKAGING_FEDORA:
		verb = "dnf debuginfo-install";
		break;
	case PACKAGING_SUSE:
		verb = "zypper install";
		break;
	case PACKAGING_ALPINE:
		verb = "apk add";
		break;
	case PACKAGING_ARCH:
	case PACKAGING_UNKNOWN:
		break;
	}
	return verb ? xasprintf("sudo %s %s", verb, debug_package) : NULL;
}

char *distribution_install_debuginfod(const struct distribution *distribution)
{
	switch (distribution->packaging) {
	case PACKAGING_DEBIAN:
	case PACKAGING_UBUNTU:
		return xstrdup("sudo apt install libdebuginfod1");
	case PACKAGING_FEDORA:
		return xstrdup("sudo dnf install elfutils-debuginfod-client");
	case PACKAGING_SUSE:
		return xstrdup("sudo zypper install libdebuginfod1");
	case PACKAGING_ALPINE:
	case PACKAGING_ARCH:
	case PACKAGING_UNKNOWN:
		break;
	}
	return NULL;
}
