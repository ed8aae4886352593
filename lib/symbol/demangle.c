#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	/*
	 * A short name can expand exponentially through repeated substitutions.
	 */
	LONGEST_RESULT = 1024 * 1024,
	/*
	 * libiberty refuses C++ names longer than half its recursion limit, but
	 * template names are often longer. The limit is switched off for them.
	 * LONGEST_CPP bounds the recursion instead: the worst name of this
	 * length takes 3 MiB of stack.
	 */
	LONGEST_LIMITED_CPP = DEMANGLE_RECURSION_LIMIT / 2,
	LONGEST_CPP = 8 * 1024,
	/*
	 * With this limit, references can expand a D name to a few MB at most.
	 */
	LONGEST_D = 1024,
	MOST_D_REFERENCES = 30,
};

struct output {
	char *text;
	size_t len, room, longest;
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
 * longjmp() is the only way to stop libiberty. It leaks nothing: the C++
 * demangler keeps its state on the stack. The Rust demangler allocates only a
 * decoded Punycode name, which is never ASCII and which it frees after this
 * call.
 */
static void output_callback(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (!len)
		return; /* `text` may be NULL then */
	output_add(out, text, len);
	if (out->len > out->longest && is_ascii(text, len))
		longjmp(out->too_long, 1);
}

static bool is_rust_v0(const char *name)
{
	return text_begins(name, "_R");
}

/*
 * Returns the length of a legacy Rust name, "_ZN…17h<16 hexadecimal digits>E",
 * or 0 if it is not one. Suffixes cannot be recognized by their dot, which also
 * occurs in these names ("core..fmt").
 */
static size_t rust_legacy_length(const char *name)
{
	const char *at = name;

	if (!text_begins(name, "_ZN"))
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

static bool demangle_run(demangler_fn *demangler, const char *name, int options, struct output *out)
{
	if (setjmp(out->too_long))
		return false;
	return demangler(name, options, output_callback, out);
}

/*
 * Masks binders with large counts. "for<'a, 'b>" is encoded as a count.
 * libiberty counts up to it, in some places without output, so that it cannot
 * be stopped. It must therefore not see a binder (F or D, then G and the count
 * in base 62) of more than two digits. The same characters can also be part of
 * a crate's hash or of a name ("3CFG11push_assign"). The G is replaced by a
 * letter without a meaning there.
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

/*
 * Restores printed Gs: where two replacement letters lead to different
 * characters, the original was a G.
 */
static bool unmask(const char *name, struct output *out)
{
	CLEANUP(free_ptr) char *masked = xstrdup(name);
	struct output other = {.longest = out->longest};
	bool ok;

	mask_binders(masked, 'J');
	ok = demangle_run(rust_demangle_callback, masked, DMGL_NO_OPTS, &other) &&
	     other.len == out->len;
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

	return demangle_run(rust_demangle_callback, masked, DMGL_NO_OPTS, out) &&
	       (!any || unmask(name, out));
}

static bool demangle_cpp(const char *name, size_t len, struct output *out)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (len > LONGEST_CPP)
		return false;
	if (len > LONGEST_LIMITED_CPP)
		options |= DMGL_NO_RECURSE_LIMIT;
	return demangle_run(cplus_demangle_v3_callback, name, options, out);
}

/* The name must not have suffixes. */
static bool demangle_core(const char *name, size_t len, bool is_rust, struct output *out)
{
	if (is_rust_v0(name))
		return demangle_rust_v0(name, out);
	if (is_rust && demangle_run(rust_demangle_callback, name, DMGL_NO_OPTS, out))
		return true;
	/* A C++ name can look like a legacy Rust name. */
	out->len = 0;
	return demangle_cpp(name, len, out);
}

/*
 * Appends clone suffixes. ".part.0.isra.1" is two clones; ".llvm.N" is not a
 * clone.
 */
static void add_suffixes(struct output *out, const char *at)
{
	while (*at == '.') {
		size_t len = 1 + strcspn(at + 1, ".@ ");

		if (text_begins(at, ".llvm.")) {
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

/*
 * Removes LLVM's suffix ".llvm.N", Go's suffix of assembly functions,
 * "runtime.goexit.abi0", and glibc's prefix of internal aliases, "__GI_".
 */
static char *demangle_plain_name(const char *name)
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
	if (text_begins(name, alias))
		return xstrdup(name + strlen(alias));
	return NULL;
}

static size_t without_stamp(const char *name, size_t len)
{
	size_t end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return end > 1 && end < len && name[end - 1] == '_' ? end - 1 : len;
}

/*
 * Returns the length without the suffixes of OCaml's compilers: "_267",
 * "_0_3_code".
 */
static size_t without_stamps(const char *name, size_t len)
{
	static const char code[] = "_code";
	size_t code_len = strlen(code);

	if (len <= code_len || strcmp(name + len - code_len, code) != 0)
		return without_stamp(name, len);
	return without_stamp(name, without_stamp(name, len - code_len));
}

/*
 * Returns true for a function without a name, "fun_267". It keeps the number,
 * because nothing else distinguishes it.
 */
static bool demangle_is_anonymous(const char *name, size_t len)
{
	return len >= 4 && text_begins(name + len - 4, ".fun");
}

/*
 * Decodes the character at `at`. Returns the number of characters that encode
 * it.
 */
static size_t ocaml_character(const char *at, char *ret)
{
	unsigned code;

	*ret = *at;
	if (at[0] == '_' && at[1] == '_') {
		*ret = '.';
		return 2;
	}
	if (at[0] != '$' || !isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]) ||
	    sscanf(at + 1, "%2x", &code) != 1 || code <= ' ' || code >= 0x7f)
		return 1;
	*ret = (char)code;
	return 3;
}

/*
 * Demangles "camlModule__fn_267", or since OCaml 5.1 "camlModule.fn_267", to
 * "Module.fn". "$27" is a character in hexadecimal. Source: OCaml,
 * asmcomp/compilenv.ml; Linux, tools/perf/util/demangle-ocaml.c.
 */
static char *demangle_ocaml(const char *name)
{
	size_t len = 0, stem;
	char *text;

	if (!text_begins(name, "caml") || !isupper((unsigned char)name[4]))
		return NULL;
	text = xmalloc(strlen(name) + 1);
	for (const char *at = name + 4; *at; len++)
		at += ocaml_character(at, &text[len]);
	text[len] = '\0';
	if (!strchr(text, '.')) {
		free(text);
		return NULL;
	}
	stem = without_stamps(text, len);
	text[demangle_is_anonymous(text, stem) ? len : stem] = '\0';
	return text;
}

/* Demangles gfortran's "__module_MOD_proc" to "module::proc", like gdb. */
static char *demangle_gfortran(const char *name)
{
	const char *middle = strstr(name, "_MOD_");

	if (!text_begins(name, "__") || !middle || middle < name + 3 || !middle[5])
		return NULL;
	return xasprintf("%.*s::%s", (int)(middle - name - 2), name + 2, middle + 5);
}

/*
 * Demangles flang's "_QMmodulePproc" to "module::proc". A submodule and an
 * internal procedure are encoded as "_QMmoduleSsubFhostPproc". Names do not
 * contain upper-case letters. Source: LLVM,
 * flang/docs/BijectiveInternalNameUniquing.md.
 */
static char *demangle_flang(const char *name)
{
	struct output out = {0};
	char kind = '\0';

	if (!text_begins(name, "_Q") || !name[2] || !strchr("MSFP", name[2]))
		return NULL;
	for (name += 2; *name;) {
		size_t len = strspn(name + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");

		kind = *name;
		if (!len || !strchr("MSFP", kind))
			break;
		if (out.len)
			output_add(&out, "::", 2);
		output_add(&out, name + 1, len);
		name += 1 + len;
	}
	if (!*name && kind == 'P')
		return out.text;
	free(out.text);
	return NULL;
}

/*
 * Limits back references ("Q"), because libiberty expands them without a bound.
 */
static char *demangle_d(const char *name)
{
	unsigned references = 0;

	if (strcmp(name, "_Dmain") != 0 &&
	    (!text_begins(name, "_D") || !isdigit((unsigned char)name[2])))
		return NULL;
	if (strlen(name) > LONGEST_D)
		return NULL;
	for (const char *at = name; (at = strchr(at, 'Q')); at++)
		references++;
	return references <= MOST_D_REFERENCES ? dlang_demangle(name, DMGL_PARAMS) : NULL;
}

char *demangle_ada(const char *name)
{
	char *text = ada_demangle(name, 0);

	/* GNAT writes "<name>" for a name that is not an Ada name. */
	if (text && text[0] != '<')
		return text;
	free(text);
	return NULL;
}

/* Demangles a name that is neither a C++ nor a Rust name. */
static char *demangle_other(const char *name)
{
	char *text = demangle_ocaml(name);

	if (!text)
		text = demangle_gfortran(name);
	if (!text)
		text = demangle_flang(name);
	if (!text)
		text = demangle_d(name);
	return text ? text : demangle_plain_name(name);
}

static void spend(size_t *bytes_left, size_t bytes)
{
	*bytes_left -= bytes < *bytes_left ? bytes : *bytes_left;
}

char *demangle_within(const char *name, size_t *bytes_left)
{
	size_t len = rust_legacy_length(name);
	bool is_rust = len || is_rust_v0(name);
	CLEANUP(free_ptr) char *core = NULL;
	struct output out = {.longest = *bytes_left < LONGEST_RESULT ? *bytes_left
								     : LONGEST_RESULT};

	if (!*bytes_left)
		return NULL;
	if (!is_rust && !text_begins(name, "_Z")) {
		char *other = demangle_other(name);

		spend(bytes_left, other ? strlen(other) : 0);
		return other;
	}
	if (!len)
		len = strcspn(name, is_rust ? ".$@ " : ".@ ");
	core = xstrndup(name, len);
	if (demangle_core(core, len, is_rust, &out))
		add_suffixes(&out, name + len);
	else
		free(STEAL(out.text));
	spend(bytes_left, out.len);
	return out.text;
}

char *demangle(const char *name)
{
	size_t bytes_left = SIZE_MAX;

	return demangle_within(name, &bytes_left);
}
