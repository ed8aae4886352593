#include "perf/pmu.h"

#include "base/alloc.h"
#include "base/text.h"
#include "perf/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum number of names in a message. */
enum { NAMES_MAX = 16 };

static void pmu_deinit(struct pmu *pmu)
{
	free(pmu->name);
	free(pmu->dir);
	free(pmu->cpus);
}

void pmus_deinit(struct pmus *pmus)
{
	for (size_t i = 0; i < pmus->count; i++)
		pmu_deinit(&pmus->items[i]);
	free(pmus->items);
	free(pmus->ignored_name);
	*pmus = (struct pmus){0};
}

/* Validates the name of a PMU, an event or a term, which becomes part of a path
 * and of messages. */
static bool pmu_is_name(const char *text)
{
	size_t len = 0;

	for (; text[len]; len++)
		if (!isalnum((unsigned char)text[len]) && !strchr("_-.:@", text[len]))
			return false;
	return len && text[0] != '.';
}

/* Reads a file of a PMU without its last newline. Returns 0 or an errno: ENOENT
 * if the file does not exist. */
static int pmu_read_text(const char *dir, const char *name, char text[PMU_TEXT_MAX + 1])
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, name);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t len = 0, got = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EINVAL;
	while (len <= PMU_TEXT_MAX &&
	       (got = read(fd, text + len, (size_t)(PMU_TEXT_MAX + 1 - len))) > 0)
		len += got;
	if (got < 0)
		return errno;
	if (len > PMU_TEXT_MAX || memchr(text, '\0', (size_t)len))
		return EINVAL;
	len -= len && text[len - 1] == '\n';
	text[len] = '\0';
	return 0;
}

static bool parse_type(const char *text, uint32_t *ret)
{
	char *end = NULL;
	unsigned long long value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;

	*ret = (uint32_t)value;
	return end && *end == '\0' && value <= INT32_MAX;
}

/* Reads a list of CPUs from a file of the PMU, if it exists. Returns 0 or an
 * errno. */
static int take_cpus(struct pmu *pmu, const char *file, enum pmu_kind kind)
{
	char text[PMU_TEXT_MAX + 1];
	int number = pmu_read_text(pmu->dir, file, text);

	if (number)
		return number == ENOENT ? 0 : number;
	if (!cpus_parse(text, &pmu->cpus, &pmu->cpu_count))
		return EINVAL;
	pmu->kind = kind;
	return 0;
}

static bool read_pmu(struct pmu *pmu)
{
	char text[PMU_TEXT_MAX + 1];

	if (pmu_read_text(pmu->dir, "type", text) || !parse_type(text, &pmu->type))
		return false;
	pmu->kind = strcmp(pmu->name, "cpu") == 0 ? PMU_CORE : PMU_OTHER;
	if (take_cpus(pmu, "cpus", PMU_CORE))
		return false;
	return pmu->cpus || take_cpus(pmu, "cpumask", PMU_PACKAGE) == 0;
}

static void add_pmu(struct pmus *pmus, const char *root, const char *name)
{
	struct pmu pmu = {.name = xstrdup(name), .dir = xasprintf("%s/%s", root, name)};

	if (pmus->count < PMUS_MAX && pmu_is_name(name) && read_pmu(&pmu)) {
		GROW(pmus->items, pmus->count, pmus->room);
		pmus->items[pmus->count++] = pmu;
		return;
	}
	pmus->ignored++;
	if (!pmus->ignored_name)
		pmus->ignored_name = STEAL(pmu.name);
	pmu_deinit(&pmu);
}

static int pmu_by_name(const void *a, const void *b)
{
	return strcmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

void pmus_read(const char *root, struct pmus *ret)
{
	const char *dir = root ? root : "/sys/bus/event_source/devices";
	CLEANUP(close_dir) DIR *list = opendir(dir);

	*ret = (struct pmus){0};
	for (const struct dirent *entry; list && (entry = readdir(list));)
		if (entry->d_name[0] != '.')
			add_pmu(ret, dir, entry->d_name);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), pmu_by_name);
}

const struct pmu *pmus_find(const struct pmus *pmus, const char *name)
{
	for (size_t i = 0; i < pmus->count; i++)
		if (strcmp(pmus->items[i].name, name) == 0)
			return &pmus->items[i];
	return NULL;
}

bool pmus_are_hybrid(const struct pmus *pmus)
{
	size_t kinds = 0;

	for (size_t i = 0; i < pmus->count; i++)
		kinds += pmus->items[i].kind == PMU_CORE && pmus->items[i].cpus;
	return kinds > 1;
}

/* Returns the first NAMES_MAX names as "a, b, …", or "none". The caller frees
 * it. */
static char *list_names(const char *const *names, size_t count)
{
	char *list = xstrdup(count ? names[0] : "none");

	for (size_t i = 1; i < count && i <= NAMES_MAX; i++) {
		char *longer = xasprintf("%s, %s", list, i < NAMES_MAX ? names[i] : "…");

		free(list);
		list = longer;
	}
	return list;
}

char *pmus_names(const struct pmus *pmus)
{
	const char *names[PMUS_MAX];

	for (size_t i = 0; i < pmus->count; i++)
		names[i] = pmus->items[i].name;
	return list_names(names, pmus->count);
}

static bool parse_bit(const char **at, unsigned *ret)
{
	char *end = NULL;
	unsigned long bit = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : 64;

	if (bit > 63)
		return false;
	*at = end;
	*ret = (unsigned)bit;
	return true;
}

static bool parse_bits(const char **at, uint64_t *bits)
{
	unsigned first = 0, last = 0;

	if (!parse_bit(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!parse_bit(at, &last) || last < first)
			return false;
	}
	*bits |= UINT64_MAX >> (63 - last) & UINT64_MAX << first;
	return true;
}

bool pmu_format_parse(const char *text, struct pmu_format *ret)
{
	struct pmu_format format = {0};

	if (!text_begins(text, "config"))
		return false;
	text += 6;
	if (*text >= '1' && *text <= '3')
		format.field = (unsigned)(*text++ - '0');
	if (*text++ != ':')
		return false;
	do {
		if (!parse_bits(&text, &format.bits))
			return false;
	} while (*text++ == ',');
	if (text[-1] != '\0')
		return false;
	*ret = format;
	return true;
}

/* Reads "DIRECTORY/NAME" of the PMU. Returns 0 or an errno: ENOENT if the file
 * does not exist. */
static int read_named(const struct pmu *pmu, const char *directory, const char *name,
		      char text[PMU_TEXT_MAX + 1])
{
	CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", pmu->dir, directory);

	return pmu_is_name(name) ? pmu_read_text(dir, name, text) : ENOENT;
}

struct error *pmu_find_format(const struct pmu *pmu, const char *term, struct pmu_format *ret)
{
	char text[PMU_TEXT_MAX + 1];
	int number = read_named(pmu, "format", term, text);

	*ret = (struct pmu_format){0};
	if (number == ENOENT)
		return NULL;
	if (number || !pmu_format_parse(text, ret))
		return error_new("%s/format/%s does not list bits", pmu->dir, term);
	return NULL;
}

struct error *pmu_find_event(const struct pmu *pmu, const char *name, char **ret)
{
	char text[PMU_TEXT_MAX + 1];
	/* Files such as mem-loads.scale are attributes of an event. */
	int number = strchr(name, '.') ? ENOENT : read_named(pmu, "events", name, text);

	*ret = NULL;
	if (number == ENOENT)
		return NULL;
	if (number)
		return error_errno(number, "read %s/events/%s", pmu->dir, name);
	*ret = xstrdup(text);
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the names in a directory of the PMU, sorted. */
static char **read_names(const struct pmu *pmu, const char *directory, size_t *count)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", pmu->dir, directory);
	CLEANUP(close_dir) DIR *dir = opendir(path);
	char **names = NULL;
	size_t room = 0;

	*count = 0;
	for (const struct dirent *entry; dir && *count < PMUS_MAX && (entry = readdir(dir));) {
		if (!pmu_is_name(entry->d_name) || strchr(entry->d_name, '.'))
			continue;
		GROW(names, *count, room);
		names[(*count)++] = xstrdup(entry->d_name);
	}
	if (*count)
		qsort(names, *count, sizeof(*names), by_text);
	return names;
}

static char *list_directory(const struct pmu *pmu, const char *directory)
{
	size_t count;
	CLEANUP(free_ptr) char **names = read_names(pmu, directory, &count);
	char *list = list_names((const char *const *)names, count);

	for (size_t i = 0; i < count; i++)
		free(names[i]);
	return list;
}

char **pmu_events(const struct pmu *pmu, size_t *count)
{
	return read_names(pmu, "events", count);
}

char *pmu_event_names(const struct pmu *pmu)
{
	return list_directory(pmu, "events");
}

char *pmu_term_names(const struct pmu *pmu)
{
	return list_directory(pmu, "format");
}
