#include "report/title.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The options of a recorder's command line, up to "--". */
struct title_line {
	const char *pids;    /* the argument of -p; NULL without -p */
	bool is_system;	     /* -a */
	bool has_target;     /* another option that chooses a target */
	const char *command; /* after "--"; NULL without "--" */
};

static void take_word(struct title_line *line, const char *word)
{
	static const char *const pids[] = {"-p", "--pid"};
	static const char *const systems[] = {"-a ", "-ag ", "-ga ", "--all-cpus "};
	static const char *const others[] = {"-t",	 "--tid", "-u",	   "--uid",  "-G",
					     "--cgroup", "-C",	  "--cpu", "--name", "--container"};

	if (TEXT_BEGINS_ANY(word, pids))
		line->pids = word + strcspn(word, "0123456789 ");
	if (line->pids && *line->pids == ' ')
		line->pids++;
	line->is_system |= TEXT_BEGINS_ANY(word, systems);
	line->has_target |= TEXT_BEGINS_ANY(word, others);
}

static struct title_line title_line_of(const char *words)
{
	struct title_line line = {0};

	while (*words && !line.command) {
		if (text_begins(words, "-- "))
			line.command = words + strlen("-- ");
		else
			take_word(&line, words);
		words += strcspn(words, " ");
		words += strspn(words, " ");
	}
	return line;
}

/* Returns what follows "perf record", or NULL for the line of another command. */
static const char *words_of_recorder(const char *command)
{
	const char *words = command + strcspn(command, " ");

	return text_begins(words, " record ") ? words + strlen(" record ") : NULL;
}

/* Returns the name of a process, or NULL if it has no samples. */
static const char *name_of(const struct profile *profile, pid_t pid)
{
	for (thread_id i = 0; i < profile_thread_count(profile); i++) {
		const struct profile_thread *thread = profile_get_thread(profile, i);

		if (pid > 0 && thread->pid == pid)
			return profile_string(profile, thread->process);
	}
	return NULL;
}

/* Returns the length of the first word's directory, such as 5 for "/bin/app a/b". */
static size_t directory_length(const char *command)
{
	const char *slash = memrchr(command, '/', strcspn(command, " "));

	return slash ? (size_t)(slash + 1 - command) : 0;
}

/*
 * Returns NULL if the line does not show it. Without "--", an option can be
 * that of the recorded command.
 */
static char *title_of_line(const struct profile *profile, const struct title_line *line)
{
	const char *name = line->pids ? name_of(profile, atoi(line->pids)) : NULL;

	if (line->has_target)
		return NULL;
	if (name)
		return xasprintf("%s (pid %d)", name, atoi(line->pids));
	if (line->pids || !line->command)
		return NULL;
	if (line->is_system)
		return xstrdup("the whole machine");
	return xstrdup(line->command + directory_length(line->command));
}

char *title_of(const struct profile *profile)
{
	const struct profile_info *info = profile_get_info(profile);
	const char *words = *info->title ? NULL : words_of_recorder(info->command);
	struct title_line line = words ? title_line_of(words) : (struct title_line){0};
	char *title = title_of_line(profile, &line);

	if (title)
		return title;
	return xstrdup(*info->title ? info->title : info->command);
}

char *title_recorded(const struct profile_info *info, bool is_utc)
{
	time_t seconds = (time_t)(info->start_unix_ns / 1000000000);
	char when[32] = "";
	struct tm broken;

	if (info->start_unix_ns &&
	    (is_utc ? gmtime_r(&seconds, &broken) : localtime_r(&seconds, &broken)))
		strftime(when, sizeof(when), is_utc ? "%Y-%m-%d %H:%M:%S UTC" : "%Y-%m-%d %H:%M:%S",
			 &broken);
	if (!*when && !info->duration_ns)
		return xstrdup("");
	return xasprintf("%s%s%s%s%s", when, info->duration_ns ? (*when ? ", for " : "for ") : "",
			 info->duration_ns ? humanize_time(info->duration_ns).text : "",
			 *info->host ? ", on " : "", info->host);
}
