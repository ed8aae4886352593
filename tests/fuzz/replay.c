/*
 * Runs a fuzz target over the given files, and all files of the given folders,
 * so that the corpus is an ordinary test. The outcome of each input (replay.h)
 * must be that in the folder's file .outcomes. --update writes this file; the
 * outcome of a single file is printed.
 */
#include "replay.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *input; /* the name of the file */
static FILE *outcomes;
static struct part {
	const char *name;
	uint64_t hash;
} parts[32];

/* An FNV-1a hash of everything with this name. */
void replay_note(const char *name, const void *data, size_t len)
{
	struct part *part = parts;

	while (part->name && strcmp(part->name, name) != 0)
		part++;
	if (!part->name)
		*part = (struct part){name, UINT64_C(0xcbf29ce484222325)};
	for (size_t i = 0; i < len; i++)
		part->hash = (part->hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
}

static bool is_skipped;

void replay_skip(void)
{
	is_skipped = true;
}

static void write_outcome(void)
{
	fprintf(outcomes, "%s%s", input, is_skipped ? " ?\n" : parts->name ? "" : "\n");
	if (is_skipped)
		memset(parts, 0, sizeof(parts));
	is_skipped = false;
	for (struct part *part = parts; part->name; *part++ = (struct part){0})
		fprintf(outcomes, " %s %08" PRIx32 "%s", part->name,
			(uint32_t)(part->hash ^ part->hash >> 32), part[1].name ? "" : "\n");
}

/* Each input with an outcome is damaged this many times, one bit each time. */
enum { DAMAGES = 32 };

/* Adds damaged inputs to the outcome, so that errors are covered. The damaged
 * bits are the same each time. */
static void replay_damaged(uint8_t *data, size_t size)
{
	uint64_t random = size + 2;

	for (unsigned i = 0; size && i < DAMAGES; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint8_t *at = &data[(random >> 33) % size], before = *at;

		*at ^= (uint8_t)(1 << (random >> 30 & 7));
		LLVMFuzzerTestOneInput(data, size);
		*at = before;
	}
}

static bool replay_file(const char *path, bool has_outcome)
{
	CLEANUP(close_file) FILE *file = fopen(path, "rb");
	CLEANUP(free_ptr) uint8_t *data = NULL;
	struct stat st;

	if (!file || fstat(fileno(file), &st) < 0)
		return false;
	/* Exactly as large as the input, so that the address sanitizer detects
	 * reads beyond it. */
	data = malloc((size_t)st.st_size);
	if (fread(data, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		return false;
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	if (has_outcome)
		replay_damaged(data, (size_t)st.st_size);
	input = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	write_outcome();
	return true;
}

static bool is_as_before(const char *folder, char *now, bool update)
{
	char path[4096], before[1 << 16] = "\n";
	bool same = true;

	snprintf(path, sizeof(path), "%s/.outcomes", folder);
	CLEANUP(close_file) FILE *file = fopen(path, update ? "w" : "r");
	if (!file)
		return true;
	if (update)
		return fputs(now, file) >= 0;
	before[1 + fread(before + 1, 1, sizeof(before) - 2, file)] = '\0';
	for (char *line; (line = strsep(&now, "\n")) && *line;) {
		CLEANUP(free_ptr) char *whole = xasprintf("\n%s\n", line);

		if (strstr(before, whole) || strchr(line, '?'))
			continue;
		printf("The outcome has changed: %s\n", line);
		same = false;
	}
	if (!same)
		printf("If it should have: --update %s\n", folder);
	return same;
}

int main(int argc, char **argv)
{
	bool update = argc > 1 && !strcmp(argv[1], "--update"), passed = true;
	unsigned ran = 0;

	for (int i = 1 + update; i < argc; i++) {
		struct dirent **entries = NULL;
		int count = scandir(argv[i], &entries, NULL, alphasort);
		CLEANUP(free_ptr) char *text = NULL;
		size_t len;

		outcomes = count < 0 ? stdout : open_memstream(&text, &len);
		if (count < 0)
			ran += replay_file(argv[i], true);
		char known[4096];
		snprintf(known, sizeof(known), "%s/.outcomes", argv[i]);
		bool has_outcomes = update || access(known, R_OK) == 0;

		for (int entry = 0; entry < count; entry++) {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", argv[i], entries[entry]->d_name);
			if (entries[entry]->d_name[0] != '.')
				ran += replay_file(path, has_outcomes);
			free(entries[entry]);
		}
		free(entries);
		if (count < 0)
			continue;
		fclose(outcomes);
		passed &= is_as_before(argv[i], text, update);
	}
	printf("%u inputs\n", ran);
	return ran && passed ? 0 : 1;
}
