/*
 * Runs a fuzz target over every file of the folders (or files) it is given: the corpus as an
 * ordinary test.
 */
#include "base/cleanup.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool replay_file(const char *path)
{
	CLEANUP(close_file) FILE *file = fopen(path, "rb");
	CLEANUP(free_ptr) uint8_t *data = NULL;
	struct stat st;

	if (!file || fstat(fileno(file), &st) < 0)
		return false;
	/* Exactly as large as the input, so that the address sanitizer sees a read past it. */
	data = malloc((size_t)st.st_size);
	if (fread(data, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		return false;
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	return true;
}

int main(int argc, char **argv)
{
	unsigned ran = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		struct dirent *entry;

		if (!dir) {
			ran += replay_file(argv[i]);
			continue;
		}
		while ((entry = readdir(dir))) {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			if (entry->d_name[0] != '.')
				ran += replay_file(path);
		}
		closedir(dir);
	}
	printf("%u inputs\n", ran);
	return ran ? 0 : 1;
}
