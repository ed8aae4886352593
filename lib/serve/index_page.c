#include "serve/index_page.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/printable.h"
#include "serve/request_target.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>prof serve</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>\n"
	":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;"
	"max-width:56rem;padding:0 1rem}\n"
	"table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.15rem .8rem "
	".15rem 0}\n"
	"tr{border-bottom:1px solid #8884}.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"code{font-size:90%}\n"
	"</style></head><body>\n"
	"<h1>prof serve</h1>\n";

static const char foot[] =
	"<p>Parameters of <code>/debug/pprof/profile</code>: <code>seconds</code> (30), one of "
	"<code>pid</code>, <code>comm</code> and <code>cgroup</code>, <code>hz</code> (99), "
	"<code>event</code> (cpu, off-cpu, alloc) and <code>format</code> (%s). One recording at a "
	"time; it ends if its client goes.</p>\n"
	"<p><a href=\"/metrics\">metrics</a></p>\n"
	"</body></html>\n";

/* Writes untrusted text as HTML. */
static void index_page_put(FILE *out, const char *text)
{
	CLEANUP(free_ptr) char *clean = printable(text);

	for (const char *c = clean; *c; c++) {
		if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '&')
			fputs("&amp;", out);
		else
			putc(*c, out);
	}
}

static void print_links(FILE *out, const char *target, const char *with)
{
	fprintf(out,
		"<td><a href=\"/flame%s%sseconds=5\">flame graph, 5 s</a>"
		"<td><a href=\"/flame%s%sseconds=5&amp;event=off-cpu\">waiting, 5 s</a>"
		"<td><a href=\"/debug/pprof/profile%s%sseconds=30\">pprof, 30 s</a>\n",
		target, with, target, with, target, with);
}

static void print_process(FILE *out, const struct process *process)
{
	char target[32];

	snprintf(target, sizeof(target), "?pid=%d", process->pid);
	fprintf(out, "<tr><td class=\"n\">%d<td class=\"n\">%.0f&nbsp;%%<td>", process->pid,
		process->cpus * 100);
	index_page_put(out, process->comm);
	print_links(out, target, "&amp;");
}

static void index_page_print_table(FILE *out, const struct processes *processes, uid_t user)
{
	size_t shown = 0;

	fprintf(out,
		"<table><tr><th class=\"n\">PID<th class=\"n\">CPU<th>process<th colspan=\"3\">"
		"record\n<tr><td><td><td><b>%s</b>",
		user ? "all processes of this user" : "the whole machine");
	print_links(out, "", "?");
	for (size_t i = 0; i < processes->count && shown < INDEX_PROCESSES_MAX; i++) {
		const struct process *process = &processes->items[i];

		if (user && process->user != user)
			continue;
		print_process(out, process);
		shown++;
	}
	fputs("</table>\n", out);
}

char *index_page(const struct processes *processes, uid_t user)
{
	CLEANUP(free_ptr) char *names = serve_format_names();
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(head, out);
	index_page_print_table(out, processes, user);
	fprintf(out, foot, names);
	fclose(out);
	return text;
}
