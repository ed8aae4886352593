#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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
	/* So references make at most some MB of a D name. */
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
	if (out->len > out->longest && is_ascii(text, len))
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
	struct output other = {.longest = out->longest};
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

static size_t without_stamp(const char *name, size_t len)
{
	size_t end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return end > 1 && end < len && name[end - 1] == '_' ? end - 1 : len;
}

/* The length without what OCaml's compilers add: "_267", "_0_3_code". */
static size_t without_stamps(const char *name, size_t len)
{
	static const char code[] = "_code";
	size_t code_len = strlen(code);

	if (len <= code_len || strcmp(name + len - code_len, code) != 0)
		return without_stamp(name, len);
	return without_stamp(name, without_stamp(name, len - code_len));
}

/* Functions without a name, "fun_267", keep the number: nothing else tells them apart. */
static bool is_anonymous(const char *name, size_t len)
{
	return len >= 4 && !strncmp(name + len - 4, ".fun", 4);
}

/* The character of a name at `at`. Returns how many characters it has there. */
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
 * "camlModule__fn_267", since OCaml 5.1 "camlModule.fn_267": "Module.fn". "$27" is a character in
 * hexadecimal. Source: OCaml, asmcomp/compilenv.ml; Linux, tools/perf/util/demangle-ocaml.c.
 */
static char *demangle_ocaml(const char *name)
{
	size_t len = 0, stem;
	char *text;

	if (strncmp(name, "caml", 4) != 0 || !isupper((unsigned char)name[4]))
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
	text[is_anonymous(text, stem) ? len : stem] = '\0';
	return text;
}

/* gfortran's "__module_MOD_proc": "module::proc", as gdb has it. */
static char *demangle_gfortran(const char *name)
{
	const char *middle = strstr(name, "_MOD_");

	if (strncmp(name, "__", 2) != 0 || !middle || middle < name + 3 || !middle[5])
		return NULL;
	return xasprintf("%.*s::%s", (int)(middle - name - 2), name + 2, middle + 5);
}

/*
 * flang's "_QMmodulePproc": "module::proc"; of a submodule and a procedure in another one,
 * "_QMmoduleSsubFhostPproc". Names have no upper-case letters. Source: LLVM,
 * flang/docs/BijectiveInternalNameUniquing.md.
 */
static char *demangle_flang(const char *name)
{
	struct output out = {0};
	char kind = '\0';

	if (strncmp(name, "_Q", 2) != 0 || !name[2] || !strchr("MSFP", name[2]))
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

/* libiberty writes what back references ("Q") lead to without a bound. */
static char *demangle_d(const char *name)
{
	unsigned references = 0;

	if (strcmp(name, "_Dmain") != 0 &&
	    (strncmp(name, "_D", 2) != 0 || !isdigit((unsigned char)name[2])))
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

	/* "<name>" is GNAT's form of what is no name of Ada. */
	if (text && text[0] != '<')
		return text;
	free(text);
	return NULL;
}

/* A name that is neither of C++ nor of Rust. */
static char *demangle_other(const char *name)
{
	char *text = demangle_ocaml(name);

	if (!text)
		text = demangle_gfortran(name);
	if (!text)
		text = demangle_flang(name);
	if (!text)
		text = demangle_d(name);
	return text ? text : plain_name(name);
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
	if (!is_rust && strncmp(name, "_Z", 2) != 0) {
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
