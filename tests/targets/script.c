/*
 * Runs short programs one after the other, like a script, and reports their CPU
 * time: script FILE COUNT PROGRAM ARGUMENT... [+ COUNT PROGRAM ARGUMENT...].
 * Writes a line per program to FILE, "NAME NANOSECONDS", and a line for all of
 * them and itself, "all NANOSECONDS".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static uint64_t used_ns(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * UINT64_C(1000000000) +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * UINT64_C(1000);
}

static uint64_t run(unsigned count, char **words)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	uint64_t ns = 0;
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	for (; count; count--) {
		if (posix_spawnp(&child, words[0], &actions, NULL, words, environ) != 0 ||
		    wait4(child, NULL, 0, &usage) < 0)
			exit(1);
		ns += used_ns(&usage);
	}
	return ns;
}

int main(int argc, char **argv)
{
	FILE *out = fopen(argv[1], "w");
	struct rusage usage;
	uint64_t all = 0;

	for (char **at = argv + 2; *at;) {
		char **words = at + 1, **end = words;
		uint64_t ns;

		while (*end && strcmp(*end, "+") != 0)
			end++;
		argv = *end ? end + 1 : end;
		*end = NULL;
		ns = run(strtoul(*at, NULL, 10), words);
		fprintf(out, "%s %" PRIu64 "\n", words[0], ns);
		all += ns;
		at = argv;
	}
	getrusage(RUSAGE_SELF, &usage);
	fprintf(out, "all %" PRIu64 "\n", all + used_ns(&usage));
	return fclose(out) != 0;
}
