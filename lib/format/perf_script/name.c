#include "format/perf_script/name.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *escape, *text;
} escapes[] = {
	{"$SP$", "@"},	{"$BP$", "*"},	{"$RF$", "&"},	{"$LT$", "<"},	{"$GT$", ">"},
	{"$LP$", "("},	{"$RP$", ")"},	{"$C$", ","},	{"$u7e$", "~"}, {"$u20$", " "},
	{"$u27$", "'"}, {"$u3d$", "="}, {"$u5b$", "["}, {"$u5d$", "]"}, {"$u7b$", "{"},
	{"$u7d$", "}"}, {"$u3b$", ";"}, {"$u2b$", "+"}, {"$u21$", "!"}, {"$u22$", "\""},
};

/*
 * Removes the hash at the end of a Rust symbol, "::h" and 16 digits. Returns
 * false if there is none.
 */
static bool cut_hash(struct bytes *name)
{
	enum { HASH_BYTES = 17 };
	const unsigned char *hash;

	if (bytes_left(name) < HASH_BYTES)
		return false;
	hash = name->end - HASH_BYTES;
	if (*hash != 'h')
		return false;
	for (const unsigned char *at = hash + 1; at < name->end; at++)
		if (!isxdigit(*at))
			return false;
	name->end = hash;
	if (bytes_left(name) >= 2 && !memcmp(name->end - 2, "::", 2))
		name->end -= 2;
	return true;
}

static bool write_escape(struct bytes *name, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		if (!bytes_begin(*name, escapes[i].escape))
			continue;
		fputs(escapes[i].text, out);
		bytes_skip(name, strlen(escapes[i].escape));
		return true;
	}
	return false;
}

/* Stops replacing at an unknown escape. */
static void write_unescaped(struct bytes name, FILE *out)
{
	if (bytes_begin(name, "_$"))
		bytes_skip(&name, 1);
	while (bytes_left(&name)) {
		if (*name.at == '$') {
			if (write_escape(&name, out))
				continue;
			fwrite(name.at, 1, bytes_left(&name), out);
			return;
		}
		if (bytes_begin(name, "..")) {
			fputs("::", out);
			bytes_skip(&name, 2);
		} else {
			fputc(bytes_u8(&name), out);
		}
	}
}

/* Returns whether '>' is part of an arrow: "operator->", "fn() -> T". */
static bool is_arrow(struct bytes name, const unsigned char *at)
{
	return *at == '>' && at > name.at && at[-1] == '-';
}

/*
 * Parentheses within brackets belong to generic arguments or closures, not to
 * the parameters.
 */
static struct bytes without_arguments(struct bytes name)
{
	const unsigned char *after_dot = NULL;
	int64_t depth = 0;

	for (const unsigned char *at = name.at; at < name.end; at++) {
		struct bytes rest = {.at = at, .end = name.end};

		if (*at == '(' && depth == 0 && at != after_dot &&
		    !bytes_begin(rest, "(anonymous namespace)")) {
			name.end = at;
			break;
		}
		depth += strchr("<{[(", *at) && *at;
		depth -= strchr(">}])", *at) && *at && !is_arrow(name, at);
		if (*at == '.')
			after_dot = at + 1;
	}
	return name;
}

void script_name_write(struct bytes name, bool is_java, FILE *out)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;

	if (cut_hash(&name)) {
		FILE *plain = open_memstream(&text, &len);

		write_unescaped(name, plain);
		fclose(plain);
		name = bytes_of(text, len);
	}
	name = without_arguments(name);
	if (is_java && bytes_begin(name, "L") && bytes_hold(name, "/"))
		bytes_skip(&name, 1);
	if (bytes_left(&name))
		fwrite(name.at, 1, bytes_left(&name), out);
}

static bool perf_script_name_ends_in(struct bytes text, const char *end)
{
	size_t len = strlen(end);

	return bytes_left(&text) >= len && !memcmp(text.end - len, end, len);
}

bool script_module_is_jit(struct bytes module)
{
	return (bytes_begin(module, "/tmp/perf-") && perf_script_name_ends_in(module, ".map")) ||
	       (bytes_hold(module, "/jitted-") && perf_script_name_ends_in(module, ".so"));
}

static bool is_vmlinux(struct bytes module)
{
	static const char name[] = "vmlinux";
	const unsigned char *found = NULL, *at = module.at;

	while (at && (at = memmem(at, (size_t)(module.end - at), name, strlen(name))))
		found = at++;
	if (!found)
		return false;
	for (at = found; at < module.end; at++)
		if (!isalnum(*at) && *at != '-' && *at != '.' && *at != '_')
			return false;
	return true;
}

bool script_module_is_kernel(struct bytes module)
{
	static const char *const others[] = {"[unknown]", "[vdso]", "[vsyscall]", "[heap]",
					     "[stack]",	  "[anon",  "[uprobes]"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (bytes_begin(module, others[i]))
			return false;
	return bytes_begin(module, "[") || perf_script_name_ends_in(module, ".ko") ||
	       is_vmlinux(module);
}
