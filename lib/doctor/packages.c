#include "doctor/packages.h"

#include "base/alloc.h"
#include "base/text.h"
#include "doctor/limited_program.h"
#include "elf/elf_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ASKED_MAX = 16, /* maximum number of modules */
	FILES_SECONDS = 2,
	ARCHIVE_SECONDS = 10, /* apt-cache(8) may have to build its cache first */
	NAME_BYTES = 128,
	CANDIDATES = 4,
};

/*
 * Returns whether the text is a valid package name. Nothing else may become
 * part of a command that the user is to run.
 */
static bool is_package_name(const char *name, size_t len)
{
	return len && len < NAME_BYTES && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_") >=
		       len;
}

static void packages_take_name(const char *name, size_t len, char *package, unsigned room)
{
	package[0] = '\0';
	if (is_package_name(name, len) && len < room) {
		memcpy(package, name, len);
		package[len] = '\0';
	}
}

/* Parses "a:amd64, b: PATH". Lines of diversions name other packages. */
static void package_of_dpkg(const char *text, const char *path, char *package, unsigned room)
{
	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		size_t len = strlen(path);

		end = strchrnul(line, '\n');
		if ((size_t)(end - line) < len + 2 || memcmp(end - len, path, len) != 0 ||
		    memcmp(end - len - 2, ": ", 2) != 0 || text_begins(line, "diversion by "))
			continue;
		packages_take_name(line, strcspn(line, ":, "), package, room);
		return;
	}
}

/* Parses "PATH is owned by musl-1.2.4-r2": a name, a version and a release. */
static void package_of_apk(const char *text, char *package, unsigned room)
{
	static const char owned[] = " is owned by ";
	const char *name = strstr(text, owned), *end;

	if (!name)
		return;
	name += strlen(owned);
	end = name + strcspn(name, "\n");
	for (int dashes = 0; dashes < 2; dashes++) {
		end = memrchr(name, '-', (size_t)(end - name));
		if (!end)
			return;
	}
	packages_take_name(name, (size_t)(end - name), package, room);
}

void package_of_file(enum packaging packaging, const char *text, const char *path, char *package,
		     unsigned room)
{
	package[0] = '\0';
	switch (packaging) {
	case PACKAGING_DEBIAN:
	case PACKAGING_UBUNTU:
		package_of_dpkg(text, path, package, room);
		break;
	case PACKAGING_FEDORA:
	case PACKAGING_SUSE:
		/*
		 * For a file without a package, the output is a sentence
		 * instead.
		 */
		packages_take_name(text, strcspn(text, "\n"), package, room);
		break;
	case PACKAGING_ALPINE:
		package_of_apk(text, package, room);
		break;
	case PACKAGING_ARCH:
	case PACKAGING_UNKNOWN:
		break;
	}
}

static bool is_of_system(const char *path)
{
	static const char *const directories[] = {"/usr/",   "/opt/", "/lib/", "/lib64/",
						  "/lib32/", "/bin/", "/sbin/"};

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (text_begins(path, directories[i]))
			return !strstr(path, "/../");
	return false;
}

/*
 * dpkg-query(1) expects patterns, so the path must not contain special
 * characters.
 */
static bool is_plain(const char *path)
{
	return !strpbrk(path, "*?[]\\\n ");
}

/*
 * Returns whether the file at the path is the module: it belongs to root and
 * has the build-id.
 */
static bool is_here(const struct listed_module *module)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	char hex[BUILD_ID_HEX_BYTES];
	struct error *err;
	struct stat st;
	int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != 0) {
		close(fd);
		return false;
	}
	err = elf_file_open(fd, module->path, &elf);
	error_free(err);
	if (err)
		return false;
	build_id_hex(elf_file_build_id(elf), hex);
	return !strcmp(hex, module->build_id);
}

static bool packages_lacks_something(const struct listed_module *module)
{
	return !(module->sources.present & (NAMES_DWARF | NAMES_GO));
}

/* The modules to query. */
struct inquiry {
	const struct distribution *distribution;
	struct listed_module *modules[ASKED_MAX];
	char packages[ASKED_MAX][NAME_BYTES]; /* of the files; "" if unknown */
	char sources[ASKED_MAX][NAME_BYTES];  /* the source packages of `packages` */
	size_t count;
};

static void choose_modules(struct module_list *list, struct inquiry *inquiry)
{
	for (size_t i = 0; i < list->count && inquiry->count < ASKED_MAX; i++) {
		struct listed_module *module = &list->items[i];

		if (module->kind != PROFILE_MODULE_FILE || !is_of_system(module->path) ||
		    !is_plain(module->path) || !is_here(module))
			continue;
		module->is_here = true;
		if (packages_lacks_something(module))
			inquiry->modules[inquiry->count++] = module;
	}
}

/*
 * Returns the other name under which a package may know the file, because /lib
 * and others used to be separate directories.
 */
static const char *other_name(const char *path)
{
	return text_begins(path, "/usr/lib") || text_begins(path, "/usr/bin/") ||
			       text_begins(path, "/usr/sbin/")
		       ? path + strlen("/usr")
		       : path;
}

static void ask_dpkg(struct inquiry *inquiry)
{
	static char program[] = "/usr/bin/dpkg-query", search[] = "-S";
	char *argv[2 + 2 * ASKED_MAX + 1] = {program, search};
	CLEANUP(free_ptr) char *text = NULL;
	size_t count = 2;

	for (size_t i = 0; i < inquiry->count; i++) {
		char *path = inquiry->modules[i]->path;

		argv[count++] = path;
		if (other_name(path) != path)
			argv[count++] = path + strlen("/usr");
	}
	text = limited_program_run(argv, FILES_SECONDS);
	for (size_t i = 0; text && i < inquiry->count; i++) {
		const char *path = inquiry->modules[i]->path;

		package_of_file(PACKAGING_DEBIAN, text, path, inquiry->packages[i], NAME_BYTES);
		if (!inquiry->packages[i][0])
			package_of_file(PACKAGING_DEBIAN, text, other_name(path),
					inquiry->packages[i], NAME_BYTES);
	}
}

/* Parses lines with "PACKAGE SOURCE". */
static void ask_for_sources(struct inquiry *inquiry)
{
	static char program[] = "/usr/bin/dpkg-query", show[] = "-W",
		    form[] = "-f=${Package} ${source:Package}\n";
	char *argv[3 + ASKED_MAX + 1] = {program, show, form};
	CLEANUP(free_ptr) char *text = NULL;
	size_t count = 3;

	for (size_t i = 0; i < inquiry->count; i++)
		if (inquiry->packages[i][0])
			argv[count++] = inquiry->packages[i];
	text = count > 3 ? limited_program_run(argv, FILES_SECONDS) : NULL;
	for (size_t i = 0; text && i < inquiry->count; i++) {
		size_t len = strlen(inquiry->packages[i]);

		for (const char *line = text; len && *line; line = strchrnul(line, '\n')) {
			line += *line == '\n';
			if (text_begins(line, inquiry->packages[i]) && line[len] == ' ')
				packages_take_name(line + len + 1, strcspn(line + len + 1, "\n"),
						   inquiry->sources[i], NAME_BYTES);
		}
	}
}

/*
 * The packages that may contain the debug information of one package, in order
 * of preference.
 */
struct packages_candidates {
	char names[CANDIDATES][NAME_BYTES + 8];
};

static void make_candidates(const char *package, const char *source,
			    struct packages_candidates *ret)
{
	const char *of[] = {package, package, source, source};
	const char *ends[] = {"-dbgsym", "-dbg", "-dbg", "-dbgsym"};

	for (size_t i = 0; i < CANDIDATES; i++)
		snprintf(ret->names[i], sizeof(ret->names[i]), "%s%s", *of[i] ? of[i] : package,
			 ends[i]);
}

/*
 * Returns whether the output of `apt-cache policy` contains a version of it:
 * "NAME:\n Installed: …\n Candidate: …".
 */
static bool packages_is_known(const char *policy, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = policy; *line; line = strchrnul(line, '\n')) {
		const char *candidate;

		line += *line == '\n';
		if (!text_begins(line, name) || line[len] != ':')
			continue;
		candidate = strstr(line, "Candidate: ");
		return candidate && !text_begins(candidate, "Candidate: (none)");
	}
	return false;
}

static void choose_package(struct listed_module *module, const char *policy,
			   const struct packages_candidates *candidates)
{
	size_t i = 0;

	while (i < CANDIDATES && !packages_is_known(policy, candidates->names[i]))
		i++;
	module->archived = i == CANDIDATES;
	module->package = xstrdup(candidates->names[module->archived ? 0 : i]);
}

static void ask_apt(struct inquiry *inquiry)
{
	static char program[] = "/usr/bin/apt-cache", verb[] = "policy";
	char *argv[2 + ASKED_MAX * CANDIDATES + 1] = {program, verb};
	CLEANUP(free_ptr)
	struct packages_candidates *candidates = xcalloc(ASKED_MAX, sizeof(*candidates));
	CLEANUP(free_ptr) char *policy = NULL;
	size_t count = 2;

	for (size_t i = 0; i < inquiry->count; i++) {
		if (!inquiry->packages[i][0])
			continue;
		make_candidates(inquiry->packages[i], inquiry->sources[i], &candidates[i]);
		for (size_t name = 0; name < CANDIDATES; name++)
			argv[count++] = candidates[i].names[name];
	}
	policy = count > 2 ? limited_program_run(argv, ARCHIVE_SECONDS) : NULL;
	for (size_t i = 0; policy && i < inquiry->count; i++)
		if (inquiry->packages[i][0])
			choose_package(inquiry->modules[i], policy, &candidates[i]);
}

static void ask_of_debian(struct inquiry *inquiry)
{
	if (!inquiry->count)
		return;
	ask_dpkg(inquiry);
	ask_for_sources(inquiry);
	ask_apt(inquiry);
}

/* These package managers are queried for one file at a time. */
static void ask_others(struct inquiry *inquiry)
{
	static char rpm[] = "/usr/bin/rpm", of_file[] = "-qf", form[] = "--qf=%{NAME}\\n",
		    apk[] = "/sbin/apk", info[] = "info", owner[] = "--who-owns";
	enum packaging packaging = inquiry->distribution->packaging;
	const char *end = packaging == PACKAGING_ALPINE ? "-dbg"
			  : packaging == PACKAGING_SUSE ? "-debuginfo"
							: "";

	for (size_t i = 0; i < inquiry->count; i++) {
		char *path = inquiry->modules[i]->path;
		char *rpm_argv[] = {rpm, of_file, form, path, NULL};
		char *apk_argv[] = {apk, info, owner, path, NULL};
		CLEANUP(free_ptr)
		char *text = limited_program_run(
			packaging == PACKAGING_ALPINE ? apk_argv : rpm_argv, FILES_SECONDS);

		if (!text)
			return;
		package_of_file(packaging, text, path, inquiry->packages[i], NAME_BYTES);
		if (inquiry->packages[i][0])
			inquiry->modules[i]->package = xasprintf("%s%s", inquiry->packages[i], end);
	}
}

void packages_find(const struct distribution *distribution, struct module_list *list)
{
	CLEANUP(free_ptr) struct inquiry *inquiry = xcalloc(1, sizeof(*inquiry));

	inquiry->distribution = distribution;
	choose_modules(list, inquiry);
	switch (distribution->packaging) {
	case PACKAGING_DEBIAN:
	case PACKAGING_UBUNTU:
		ask_of_debian(inquiry);
		break;
	case PACKAGING_FEDORA:
	case PACKAGING_SUSE:
	case PACKAGING_ALPINE:
		ask_others(inquiry);
		break;
	case PACKAGING_ARCH:
	case PACKAGING_UNKNOWN:
		break;
	}
}
