#include "proc/kernel.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

struct code {
	uint64_t start, end; /* 0: hidden from us */
};

/* "ffffffff81000000 T _text" */
static void take_line(const char *line, struct code *code)
{
	uint64_t address;

	if (!text_hex(&line, &address))
		return;
	if (!strcmp(line, " T _text\n") || !strcmp(line, " T _stext\n"))
		code->start = address;
	else if (!strcmp(line, " T _etext\n"))
		code->end = address;
}

static struct code code_here(const char *proc)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/kallsyms", proc);
	CLEANUP(close_file) FILE *kallsyms = fopen(path, "re");
	CLEANUP(free_ptr) char *line = NULL;
	struct code code = {0};
	size_t room = 0;

	while (kallsyms && !(code.start && code.end) && getline(&line, &room, kallsyms) >= 0)
		take_line(line, &code);
	return code;
}

static bool differs(const char *told, const char *here)
{
	return told && strcmp(told, here) != 0;
}

bool kernel_is_ours(const struct kernel_mark *mark, const char *proc)
{
	struct utsname here;
	struct code code = {0};

	if (uname(&here) < 0 || differs(mark->host, here.nodename) ||
	    differs(mark->release, here.release))
		return false;
	if (mark->start)
		code = code_here(proc);
	/* Where one of the two keeps its addresses to itself, the names must do. */
	if (!code.start)
		return mark->host && mark->release;
	return code.start == mark->start && code.end == mark->end;
}
