#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

enum {
	/* Because of repeated substitutions a short name can expand exponentially. */
	LONGEST_RESULT = 1024 * 1024,
	/*
	 * libiberty refuses C++ names longer than half its recursion limit, which templates often
	 * are. For longer ones its limit is switched off, and LONGEST_CPP bounds the recursion:
	 * the worst name of this length takes 3 MiB of stack.
	 */
	LONGEST_LIMITED_CPP = DEMANGLE_RECURSION_LIMIT / 2,
	LONGEST_CPP = 8 * 1024,
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
 * longjmp() is the only way to stop libiberty. It leaks nothing: the C++ demangler keeps its state
 * on the stack; the Rust demangler allocates only a decoded Punycode name, which is never ASCII
 * and which it frees after this call.
 */
static void output_callback(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (!len)
		return; /* text may be NULL then */
	output_add(out, text, len);
	if (out->len > LONGEST_RESULT && is_ascii(text, len))
		longjmp(out->too_long, 1);
}

static bool is_rust_v0(const char *name)
{
	return !strncmp(name, "_R", 2);
}

/*
 * The length of a legacy Rust name, "_ZN…17h<16 hexadecimal digits>E"; 0 if it is not one.
 * Suffixes cannot be recognized by their dot, which also occurs in these names ("core..fmt").
 */
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

typedef int demangler_fn(const char *name, int options, demangle_callbackref callback,
			 void *opaque);

static bool run(demangler_fn *demangler, const char *name, int options, struct output *out)
{
	if (setjmp(out->too_long))
		return false;
	return demangler(name, options, output_callback, out);
}

/*
 * "for<'a, 'b>" is a count in the name, up to which libiberty counts, in some places without
 * printing, where nothing can stop it. So it must not see a binder (F or D, then G and the count
 * in base 62) of more than two digits. The same characters can also be part of a crate's hash or
 * of a name ("3CFG11push_assign"): the G is replaced by a letter that has no meaning there.
 */
static bool mask_binders(char *name, char mask)
{
	bool any = false;

	for (char *at = name + 1; (at = strchr(at, 'G')); at++) {
		if ((at[-1] != 'F' && at[-1] != 'D') || !isalnum((unsigned char)at[1]) ||
		    !isalnum((unsigned char)at[2]) || !isalnum((unsigned char)at[3]))
			continue;
		*at = mask;
		any = true;
	}
	return any;
}

/* If two replacement letters give different characters, a printed G is restored there. */
static bool unmask(const char *name, struct output *out)
{
	CLEANUP(free_ptr) char *masked = xstrdup(name);
	struct output other = {0};
	bool ok;

	mask_binders(masked, 'J');
	ok = run(rust_demangle_callback, masked, DMGL_NO_OPTS, &other) && other.len == out->len;
	for (size_t i = 0; ok && i < out->len; i++)
		if (out->text[i] != other.text[i])
			out->text[i] = 'G';
	free(other.text);
	return ok;
}

static bool demangle_rust_v0(const char *name, struct output *out)
{
	CLEANUP(free_ptr) char *masked = xstrdup(name);
	bool any = mask_binders(masked, 'H');

	return run(rust_demangle_callback, masked, DMGL_NO_OPTS, out) &&
	       (!any || unmask(name, out));
}

static bool demangle_cpp(const char *name, size_t len, struct output *out)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (len > LONGEST_CPP)
		return false;
	if (len > LONGEST_LIMITED_CPP)
		options |= DMGL_NO_RECURSE_LIMIT;
	return run(cplus_demangle_v3_callback, name, options, out);
}

/* name has no suffixes. */
static bool demangle_core(const char *name, size_t len, bool is_rust, struct output *out)
{
	if (is_rust_v0(name))
		return demangle_rust_v0(name, out);
	if (is_rust && run(rust_demangle_callback, name, DMGL_NO_OPTS, out))
		return true;
	/* A C++ name can look like a legacy Rust name. */
	out->len = 0;
	return demangle_cpp(name, len, out);
}

/* ".part.0.isra.1" is two clones; ".llvm.N" is not a clone. */
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

/* What is dropped: LLVM's suffix ".llvm.N", that of Go for functions in assembly,
 * "runtime.goexit.abi0", and glibc's prefix of internal aliases, "__GI_". */
static char *plain_name(const char *name)
{
	static const char alias[] = "__GI_";
	static const char abi0[] = ".abi0";
	const char *at = strstr(name, ".llvm.");
	size_t len = strlen(name), abi0_len = strlen(abi0);

	if (at)
		return xasprintf("%.*s%s", (int)(at - name), name,
				 at + 6 + strspn(at + 6, "0123456789ABCDEF"));
	if (len > abi0_len && !strcmp(name + len - abi0_len, abi0))
		return xstrndup(name, len - abi0_len);
	if (!strncmp(name, alias, strlen(alias)))
		return xstrdup(name + strlen(alias));
	return NULL;
}

char *demangle(const char *name)
{
	size_t len = rust_legacy_length(name);
	bool is_rust = len || is_rust_v0(name);
	CLEANUP(free_ptr) char *core = NULL;
	struct output out = {0};

	if (!is_rust && strncmp(name, "_Z", 2) != 0)
		return plain_name(name);
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
