#include "waiting/reason.h"

#include "base/alloc.h"
#include "base/text.h"
#include "waiting/call_names.h"
#include "waiting/thread_text.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reason_parse_hex(const char **at, uint64_t *ret)
{
	if (**at != ' ')
		return false;
	++*at;
	return text_hex(at, ret);
}

/*
 * Examples:
 *
 *   "running"
 *   "202 0x7f… 0x80 0x2 0x0 0x0 0x0 0x7ff… 0x7f…"
 *   "-1 0x7ff… 0x55…"
 */
bool waiting_call_parse(const char *line, struct waiting_call *ret)
{
	struct waiting_call call = {0};
	char *end;
	const char *at;
	bool is_whole = true;

	call.number = strtoll(line, &end, 10);
	if (end == line || call.number < -1)
		return false;
	at = end;
	for (size_t i = 0; call.number >= 0 && i < ARRAY_SIZE(call.args); i++)
		is_whole = is_whole && reason_parse_hex(&at, &call.args[i]);
	is_whole = is_whole && reason_parse_hex(&at, &call.sp) && reason_parse_hex(&at, &call.pc);
	if (!is_whole || (*at && *at != '\n'))
		return false;
	*ret = call;
	return true;
}

static struct call_name reason_name_of(const struct waiting_call *call)
{
	return call->is_i386 ? call_name_i386(call->number) : call_name(call->number);
}

bool reason_names_descriptor(const struct waiting_call *call)
{
	return reason_name_of(call).kind == CALL_DESCRIPTOR;
}

bool reason_is_futex(const struct waiting_call *call)
{
	return reason_name_of(call).kind == CALL_FUTEX;
}

static bool is_terminal(const char *link)
{
	return text_begins(link, "/dev/pts/") || text_begins(link, "/dev/tty") ||
	       strcmp(link, "/dev/console") == 0;
}

/* Accepts only characters that are harmless in the text of a frame. */
static bool is_plain_path(const char *path)
{
	return path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "/._-")] == '\0';
}

/* Examples of links: "anon_inode:[eventfd]", "anon_inode:inotify". */
static void anonymous_kind(const char *name, char *into, size_t len)
{
	size_t name_len;

	name += *name == '[';
	name_len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	if (!name_len || name_len >= len)
		snprintf(into, len, "file");
	else
		snprintf(into, len, "%.*s", (int)name_len, name);
}

/*
 * Writes the type of a descriptor. The link of a named pipe is only its path,
 * so the kernel function identifies it.
 */
static void descriptor_kind(const char *link, const char *wchan, char *into, size_t len)
{
	static const char anonymous[] = "anon_inode:";
	const char *kind = "file";

	if (text_begins(link, anonymous)) {
		anonymous_kind(link + strlen(anonymous), into, len);
		return;
	}
	if (!*link)
		kind = "";
	else if (text_begins(link, "socket:"))
		kind = "socket";
	else if (text_begins(link, "pipe:") || strstr(wchan, "pipe_"))
		kind = "pipe";
	else if (is_terminal(link))
		kind = "terminal";
	else if (text_begins(link, "/dev/"))
		kind = is_plain_path(link) && strlen(link) < len ? link : "device";
	snprintf(into, len, "%s", kind);
}

/*
 * The number of a restarted call is lost. The kernel function identifies the
 * call.
 */
static const char *restarted_name(const char *wchan)
{
	static const struct {
		const char *function, *name;
	} functions[] = {
		{"hrtimer_nanosleep", "nanosleep"},
		{"do_nanosleep", "nanosleep"},
		{"common_nsleep", "nanosleep"},
		{"futex", "futex"},
		{"__futex", "futex"},
		{"do_poll", "poll"},
		{"do_sys_poll", "poll"},
		{"do_restart_poll", "poll"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (text_begins(wchan, functions[i].function))
			return functions[i].name;
	return "restart_syscall";
}

static const char *reason_plain_name(const struct waiting_call *call, const struct call_name *name,
				     const char *wchan)
{
	switch (name->kind) {
	case CALL_CLONE:
		return call->args[0] & CLONE_VFORK ? "vfork" : name->text;
	case CALL_RESTARTED:
		return restarted_name(wchan);
	case CALL_FCNTL:
		return "fcntl lock";
	default:
		return name->text;
	}
}

static void call_text(const struct waiting_call *call, const char *wchan, const char *descriptor,
		      char *into, size_t len)
{
	struct call_name name = reason_name_of(call);
	char kind[32] = "";

	if (!name.text) {
		snprintf(into, len, "[system call %" PRId64 "]", call->number);
		return;
	}
	if (name.kind == CALL_DESCRIPTOR)
		descriptor_kind(descriptor, wchan, kind, sizeof(kind));
	snprintf(into, len, "[%s%s%s]", reason_plain_name(call, &name, wchan), *kind ? " " : "",
		 kind);
}

/* Returns NULL unless the thread is stopped, traced or frozen. */
static const char *held_up(const char *wchan)
{
	static const struct {
		const char *function, *text;
	} functions[] = {
		{"do_signal_stop", "[stopped]"}, {"do_jobctl_trap", "[stopped]"},
		{"ptrace_stop", "[traced]"},	 {"ptrace_signal", "[traced]"},
		{"ptrace_notify", "[traced]"},	 {"do_freezer_trap", "[frozen]"},
		{"__refrigerator", "[frozen]"},	 {"get_signal", "[stopped]"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcmp(wchan, functions[i].function) == 0)
			return functions[i].text;
	return NULL;
}

void reason_text(const struct waiting_call *call, const char *wchan, const char *descriptor,
		 char *into, size_t len)
{
	const char *held = held_up(wchan);
	size_t symbol_len = thread_text_symbol_len(wchan);

	if (held)
		snprintf(into, len, "%s", held);
	else if (call && call->number >= 0 && call->pc)
		call_text(call, wchan, descriptor, into, len);
	else if (call && call->pc)
		snprintf(into, len, "[page fault]");
	else if (symbol_len && symbol_len + 2 < len)
		snprintf(into, len, "[%.*s]", (int)symbol_len, wchan);
	else
		into[0] = '\0';
}
