#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

enum {
	/* Repeated substitutions let a short name stand for an exponentially long one. */
	LONGEST_RESULT = 1024 * 1024,
	/* libiberty refuses C++ names above half its recursion limit, which templates reach every
	 * day. Above it the limit is off and the length itself bounds the recursion: the worst name
	 * of this length takes 3 MiB of stack. */
	LONGEST_LIMITED_CPP = DEMANGLE_RECURSION_LIMIT / 2,
	LONGEST_CPP = 8 * 1024,
	/* Of 64 bits in base 62. */
	BASE_62_DIGITS = 11,
	/* No digit is looked at more than this often. */
	LONGEST_NUMBER = 64,
};

struct output {
	char *text;
	size_t len, room;
	jmp_buf too_long;
};

static void output_add(struct output *out, const char *text, size_t len)
{
	if (out->room - out->len <= len) {
		out->room = 2 * out->room + len + 64;
		out->text = xreallocarray(out->text, out->room, 1);
	}
	memcpy(out->text + out->len, text, len);
	out->len += len;
	out->text[out->len] = '\0';
}

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] & 0x80)
			return false;
	return true;
}

/*
 * The only way to stop libiberty is to jump out of it, which leaks nothing: its C++ demangler keeps
 * all its state on the stack, its Rust demangler all but a decoded Punycode name, which it frees
 * after this call and which is never ASCII.
 */
static void output_callback(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (!len)
		return; /* then text may be NULL */
	output_add(out, text, len);
	if (out->len > LONGEST_RESULT && is_ascii(text, len))
		longjmp(out->too_long, 1);
}

static bool is_rust_v0(const char *name)
{
	return !strncmp(name, "_R", 2);
}

/* The length of a legacy Rust name, "_ZN…17h<16 hexadecimal digits>E"; 0: it is none. Suffixes
 * cannot be told by their dot, which is part of these names ("core..fmt"). */
static size_t rust_legacy_length(const char *name)
{
	const char *at = name;

	if (strncmp(name, "_ZN", 3) != 0)
		return 0;
	while ((at = strstr(at, "17h"))) {
		at += strlen("17h");
		if (strspn(at, "0123456789abcdef") == 16 && at[16] == 'E' &&
		    strchr(".@ ", at[17])) /* or the end */
			return (size_t)(at + 17 - name);
	}
	return 0;
}

/* A crate's hash, "Cs<base 62>_<length of its name>", of which `at` is a digit. */
static bool is_in_crate_hash(const char *name, const char *at, const char *end)
{
	if (end[0] != '_' || end[1] < '1' || end[1] > '9')
		return false;
	for (const char *start = at; start >= name + 2 && end - start <= BASE_62_DIGITS; start--)
		if (start[-2] == 'C' && start[-1] == 's')
			return true;
	return false;
}

/*
 * "for<'a, 'b>" is a count in the name, and libiberty counts up to it, in some places without
 * printing, where nothing can stop it. So a binder (F or D, then G, the count in base 62 and "_")
 * of a thousand lifetimes makes a name unreadable. A crate's hash may look the same; it is not
 * printed, so its G can be overwritten. False: give the name up.
 */
static bool disarm_binders(char *name)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (char *at = name + 1; (at = strchr(at, 'G')); at++) {
		const char *end = at + 1;

		if (at[-1] != 'F' && at[-1] != 'D')
			continue;
		while (end <= at + LONGEST_NUMBER && *end && strchr(digits, *end))
			end++;
		if (end - at <= 3 || (*end != '_' && end <= at + LONGEST_NUMBER))
			continue;
		if (!is_in_crate_hash(name, at, end))
			return false;
		*at = '0';
	}
	return true;
}

/* May change name. */
static bool demangle_rust(char *name, struct output *out)
{
	return (!is_rust_v0(name) || disarm_binders(name)) &&
	       rust_demangle_callback(name, DMGL_NO_OPTS, output_callback, out);
}

static bool demangle_cpp(const char *name, size_t len, struct output *out)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (len > LONGEST_CPP)
		return false;
	if (len > LONGEST_LIMITED_CPP)
		options |= DMGL_NO_RECURSE_LIMIT;
	return cplus_demangle_v3_callback(name, options, output_callback, out);
}

/* name is without suffixes and may be changed. */
static bool demangle_core(char *name, size_t len, bool is_rust, struct output *out)
{
	if (setjmp(out->too_long))
		return false;
	if (is_rust && demangle_rust(name, out))
		return true;
	/* A C++ name may look like a legacy Rust one. */
	out->len = 0;
	return !is_rust_v0(name) && demangle_cpp(name, len, out);
}

/* ".part.0.isra.1" are two clones; ".llvm.N" is none. */
static void add_suffixes(struct output *out, const char *at)
{
	while (*at == '.') {
		size_t len = 1 + strcspn(at + 1, ".@ ");

		if (!strncmp(at, ".llvm.", 6)) {
			at += 6 + strspn(at + 6, "0123456789ABCDEF");
			continue;
		}
		while (at[len] == '.' && strchr("0123456789", at[len + 1]) && at[len + 1])
			len += 1 + strspn(at + len + 1, "0123456789");
		output_add(out, " [clone ", strlen(" [clone "));
		output_add(out, at, len);
		output_add(out, "]", 1);
		at += len;
	}
	output_add(out, at, strlen(at));
}

static char *without_llvm(const char *name)
{
	const char *at = strstr(name, ".llvm.");

	if (!at)
		return NULL;
	return xasprintf("%.*s%s", (int)(at - name), name,
			 at + 6 + strspn(at + 6, "0123456789ABCDEF"));
}

char *demangle(const char *name)
{
	size_t len = rust_legacy_length(name);
	bool is_rust = len || is_rust_v0(name);
	CLEANUP(free_ptr) char *core = NULL;
	struct output out = {0};

	if (!is_rust && strncmp(name, "_Z", 2) != 0)
		return without_llvm(name);
	if (!len)
		len = strcspn(name, is_rust ? ".$@ " : ".@ ");
	core = xstrndup(name, len);
	if (!demangle_core(core, len, is_rust, &out)) {
		free(out.text);
		return NULL;
	}
	add_suffixes(&out, name + len);
	return out.text;
}
