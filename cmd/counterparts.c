#include "cmd/counterparts.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "cmd/command.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * names: globs with | between them. {COMMAND} and {FILE} stand for the user's words after the
 * name, {PROGRAM} for all words. The first row that matches counts.
 */
static const struct {
	const char *names, *line;
} counterpart_commands[] = {
	{"stat", "prof record --stat {COMMAND}   # counts events while it samples"},
	{"flamegraph", "prof record -o flamegraph.svg {COMMAND}   # of a Rust project: "
		       "prof cargo -o flamegraph.svg run|test|bench"},
	{"cargo flamegraph", "prof cargo -o flamegraph.svg run|test|bench"},
	{"script report|script record|script flamegraph|script gecko",
	 "prof record -o flamegraph.svg COMMAND   # or firefox.json.gz; of a recording: prof "
	 "convert FILE -o flamegraph.svg"},
	{"load|import|open|view|heaptrack_print|heaptrack_gui",
	 "prof report {FILE}   # as a page: prof convert {FILE} -o page.html"},
	{"heaptrack|memray|kmem",
	 "prof record --alloc {COMMAND}   # or -p PID, if prof inside started it"},
	{"mem", "prof record -e cpu/mem-loads/P COMMAND   # samples memory accesses; allocations: "
		"prof record --alloc COMMAND"},
	{"c2c", "prof record -e cpu/mem-loads/P COMMAND   # false sharing: prof report --label "
		"snoop=HitM"},
	{"dump", "prof record --wall -p PID --duration 1   # then prof report shows all threads"},
	{"offcputime*|offwaketime*|lock|sched|timechart",
	 "prof record --off-cpu COMMAND   # or -p PID: where threads wait, and how long"},
	{"wakeuptime*", "prof record --off-cpu --wakers -p PID   # which thread ended each wait"},
	{"profile*", "prof record -a --duration 10   # or -p PID"},
	{"trace|strace",
	 "prof record -e 'syscalls:sys_enter_*' {COMMAND}   # samples each system call"},
	{"ftrace|funclatency*|probe|funccount*",
	 "prof record --calls FUNCTION COMMAND   # measures calls; -e kprobe:FUNCTION and -e "
	 "uprobe:FILE:FUNCTION sample them"},
	{"bench", "prof cargo bench   # benchmarks of a Rust project; others: prof record COMMAND"},
	{"inject", "prof report FILE   # names code of JIT compilers without this step"},
	{"archive", "prof report FILE   # profiles contain their symbols: copy the file"},
	{"buildid-list|buildid-cache|kallsyms",
	 "prof doctor {FILE}   # lists modules without symbols"},
	{"evlist", "prof report --json {FILE}   # contains the events"},
	{"data", "prof convert FILE -o page.html   # or another format"},
	{"kvm", "prof record -e cycles:G -a   # samples guests"},
	{"daemon", "prof record -a --every 1m -o DIR   # records continuously"},
	{"run|attach|start", "prof record {COMMAND}   # a running process: prof record -p PID"},
	{"test|check|config|setup", "prof doctor   # shows what this machine can record"},
	{"version|-V|-v", "prof --version"},
	{"-[!-]*", "prof record -p PID --duration 5   # options follow a command; with --off-cpu: "
		   "off-CPU time"},
	{"[0-9]*", "prof record -a --duration SECONDS   # or -p PID; with --off-cpu: off-CPU time"},
	{"*/*", "prof record {PROGRAM}   # with --alloc: allocations"},
};

/* commands: those of prof that lack the options; both are globs with | between them. */
static const struct {
	const char *commands, *names, *line;
} counterpart_options[] = {
	{"record|cargo", "--subprocesses",
	 "-p PID --children also samples child processes that already run"},
	{"record|cargo", "--idle|--cswitch-markers", "--wall also records threads that wait"},
	{"record|cargo", "--gil", "--wall shows where threads wait, also for the GIL"},
	{"record|cargo", "--main-thread-only", "prof report --tid TID shows one thread"},
	{"record|cargo", "--iteration-count",
	 "record several times into different files; prof diff compares them"},
	{"record|cargo|top", "-K|--hide_kernel_symbols", "--all-user samples user space only"},
	{"record|cargo|top", "-U|--hide_user_symbols", "--all-kernel samples the kernel only"},
	{"cargo|top", "--latency", "--elapsed also records the event elapsed"},
	{"top", "-s", "--by function|module|process|thread chooses what a row is"},
	{"top", "--stdio", "--batch prints tables as text"},
	{"top", "--rate", "-F N samples N times per second"},
	{"report", "--tui|--gtk", "prof convert FILE -o page.html makes an interactive report"},
	{"report", "--hierarchy|-F|--fields|-T|--threads|--tasks",
	 "--by module|process|thread|file|line chooses what a row is"},
	{"report", "-S|--symbols|--symbol-filter",
	 "--focus REGEX keeps stacks with a matching function"},
	{"report", "-p|--parent", "--callers FUNCTION shows the callers of a function"},
	{"report", "-b|--branch-stack|--branch-history", "--branches shows taken branches"},
	{"report", "--mem-mode", "--by label:mem shows where the data was"},
	{"script", "-a|-g|-p|-o", "prof record records; prof script prints a recording"},
	{"script", "--tid|--pid|--comm|-S|-C",
	 "prof report --tid TID, --pid PID and --comm NAME show a part of a recording"},
	{"annotate", "-d|--dsos", "--module NAME keeps samples of a module"},
	{"annotate", "--tui|--gtk", "prof annotate prints text, in a pager"},
	{"report|annotate|convert", "--time",
	 "--since and --until select a time of a directory of prof record --every"},
	{"report|script", "--header-only|--stats|-D|--dump-raw-trace|-t|--field-separator|-x",
	 "prof report --json prints everything for scripts"},
};

/* Returns whether one of the names matches. */
static bool counterparts_match(const char *names, const char *word)
{
	CLEANUP(free_ptr) char *pattern = xasprintf("@(%s)", names);

	return fnmatch(pattern, word, FNM_EXTMATCH) == 0;
}

/* Prints the words, or their name if the first one is an option. */
static void counterparts_put_words(char *const *words, const char *name, size_t len, FILE *out)
{
	if (!*words || (**words == '-' && strcmp(*words, "--") != 0)) {
		fprintf(out, "%.*s", (int)len, name);
		return;
	}
	for (char *const *word = words; *word; word++) {
		CLEANUP(free_ptr) char *quoted = shell_word(*word);

		fprintf(out, "%s%s", word == words ? "" : " ", quoted);
	}
}

/* Returns a line with the user's words in the place of {NAME}. */
static char *counterparts_fill(const char *line, char *const *words)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (const char *end; (end = strchr(line, '{')); line = strchr(end, '}') + 1) {
		bool has_name = text_begins(end, "{PROGRAM}");

		fprintf(out, "%.*s", (int)(end - line), line);
		counterparts_put_words(has_name ? words : words + 1, end + 1, strcspn(end + 1, "}"),
				       out);
	}
	fputs(line, out);
	fclose(out);
	return text;
}

char *counterpart_of_command(char *const *words)
{
	CLEANUP(free_ptr)
	char *two = xasprintf("%s %s", words[0], words[1] ? words[1] : "");

	for (size_t i = 0; i < ARRAY_SIZE(counterpart_commands); i++) {
		const char *names = counterpart_commands[i].names;

		if (counterparts_match(names, strchr(names, ' ') ? two : words[0]))
			return counterparts_fill(counterpart_commands[i].line, words);
	}
	return NULL;
}

static const char *counterparts_command_with(const struct option_entry *entries)
{
	for (const struct command *const *command = commands; *command; command++)
		if ((*command)->options == entries)
			return (*command)->name;
	return "";
}

const char *counterpart_of_option(const struct option_entry *entries, const char *option)
{
	const char *command = counterparts_command_with(entries);
	CLEANUP(free_ptr) char *name = xstrndup(option, strcspn(option, "="));

	for (size_t i = 0; i < ARRAY_SIZE(counterpart_options); i++)
		if (counterparts_match(counterpart_options[i].commands, command) &&
		    counterparts_match(counterpart_options[i].names, name))
			return counterpart_options[i].line;
	return NULL;
}
