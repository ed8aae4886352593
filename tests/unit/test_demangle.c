#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct name {
	const char *mangled;
	const char *readable; /* NULL if the name is not changed */
};

static void assert_names(const struct name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(free_ptr) char *readable = demangle(names[i].mangled);

		if (!names[i].readable) {
			assert_null(readable);
			continue;
		}
		assert_non_null(readable);
		assert_string_equal(readable, names[i].readable);
	}
}

TEST(rust_v0_names_read_as_rustc_writes_them)
{
	static const struct name names[] = {
		{"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
		{"_RNCNvCsF7y1RwQtD_5myapp4main0", "myapp::main::{closure#0}"},
		{"_RNCNCNvCsF7y1RwQtD_5myapp4mains_00", "myapp::main::{closure#1}::{closure#0}"},
		{"_RNvXCs1234_7mycrateNtB2_3FooNtB2_5Trait6method",
		 "<mycrate::Foo as mycrate::Trait>::method"},
		{"_RNvMCs1234_7mycrateNtB2_3Foo3new", "<mycrate::Foo>::new"},
		{"_RINvCs1234_7mycrate3maxlyE", "mycrate::max::<i32, u64>"},
		{"_RINvCs1234_7mycrate4callReE", "mycrate::call::<&str>"},
	};

	assert_names(names, ARRAY_SIZE(names));
}

TEST(rust_legacy_names_lose_their_hash)
{
	static const struct name names[] = {
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_ZN5myapp4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		 "myapp::main::{{closure}}"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$"
		 "$GT$3bar17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar"},
	};

	assert_names(names, ARRAY_SIZE(names));
}

TEST(cpp_names_read_as_in_the_source)
{
	static const struct name names[] = {
		{"_Z3fooi", "foo(int)"},
		{"_ZN1aC1Ei", "a::a(int)"},
		{"_ZN1aD2Ev", "a::~a()"},
		{"_ZplRK5pointS1_", "operator+(point const&, point const&)"},
		{"_ZNK3vecixEm", "vec::operator[](unsigned long) const"},
		{"_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden()"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZTv0_n24_N1b1fEv", "virtual thunk to b::f()"},
		/* These look like Rust's legacy names, but the hash has too few
		 * different digits. */
		{"_ZN1a17h0000000000000000E", "a::h0000000000000000"},
	};

	assert_names(names, ARRAY_SIZE(names));
}

TEST(clones_stay_distinct_without_the_linkers_number)
{
	static const struct name names[] = {
		{"_Z3fooi.cold", "foo(int) [clone .cold]"},
		{"_Z3fooi.part.0.isra.1", "foo(int) [clone .part.0] [clone .isra.1]"},
		{"_Z3fooi.constprop.0.cold", "foo(int) [clone .constprop.0] [clone .cold]"},
		{"_Z3fooi.lto_priv.12", "foo(int) [clone .lto_priv.12]"},
		{"_Z3fooi.llvm.1234567890", "foo(int)"},
		{"_RNCNvCsF7y1RwQtD_5myapp4main0.llvm.99", "myapp::main::{closure#0}"},
		{"_RNCNvCsF7y1RwQtD_5myapp4main0.cold.1",
		 "myapp::main::{closure#0} [clone .cold.1]"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.A5310EB9.cold",
		 "core::fmt::Write::write_fmt [clone .cold]"},
		{"plain.llvm.1234", "plain"},
		{"runtime.goexit.abi0", "runtime.goexit"},
		{"_Z3fooi@plt", "foo(int)@plt"},
		{"_RNvCskwGfYPst2Cb_3foo4init [drm]", "foo::init [drm]"},
	};

	assert_names(names, ARRAY_SIZE(names));
}

TEST(names_of_other_languages_read_as_in_the_source)
{
	static const struct name names[] = {
		/* OCaml */
		{"camlApp__hot_267", "App.hot"},
		{"camlApp__half$27_271", "App.half'"},
		{"camlApp__fun_326", "App.fun_326"},
		{"camlApp__entry", "App.entry"},
		{"camlStdlib__List__iter_507", "Stdlib.List.iter"},
		{"camlDune__exe__Main__f_1", "Dune.exe.Main.f"},
		{"camlStdlib__$40_198", "Stdlib.@"},
		{"camlApp.hot_267", "App.hot"},
		{"camlApp.Inner.third_12", "App.Inner.third"},
		{"camlApp.fn$5bapp.ml$3a10$2c5--30$5d_326", "App.fn[app.ml:10,5--30]"},
		{"camlApp__hot_0_3_code", "App.hot"},
		{"camlApp__a$1f_1", "App.a$1f"},
		{"caml_apply2", NULL},
		{"camlApp", NULL},
		{"camel__x", NULL},
		/* D */
		{"_Dmain", "D main"},
		{"_D3app3hotFmZm", "app.hot(ulong)"},
		{"_D3app__T3BoxTiZQh3runMFNaNbNiNfmZm", "app.Box!(int).Box.run(ulong)"},
		{"_Dsomething", NULL},
		{"_D3ap", NULL},
		/* Fortran */
		{"__mymod_MOD_hot", "mymod::hot"},
		{"__my_mod_MOD_do_it", "my_mod::do_it"},
		{"__MOD_x", NULL},
		{"__x_MOD_", NULL},
		{"_QMmymodPhot", "mymod::hot"},
		{"_QMmodSsubFhostPinner", "mod::sub::host::inner"},
		{"_QFPinner", NULL},
		{"_QQmain", NULL},
		{"_QMmodEvariable", NULL},
		{"_QMmod", NULL},
		{"_Q", NULL},
		{"MAIN__", NULL},
		/* Nothing shows that these are Ada names. */
		{"pkg__child__hot", NULL},
	};

	assert_names(names, ARRAY_SIZE(names));
}

TEST(names_of_ada_read_as_in_the_source)
{
	static const struct name names[] = {
		{"_ada_app", "app"},
		{"pkg__child__hot", "pkg.child.hot"},
		{"pkg__child__half__2", "pkg.child.half"},
		{"app__nested.3", "app.nested"},
		{"pkg___elabb", "pkg'Elab_Body"},
		{"pkg__worker_taskTKB", "pkg.worker_task"},
		{"pkg__Oadd", "pkg.\"+\""},
		{"Pkg__child", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(free_ptr) char *name = demangle_ada(names[i].mangled);

		if (names[i].readable)
			assert_string_equal(name, names[i].readable);
		else
			assert_null(name);
	}
}

TEST(an_unmangled_name_is_unchanged)
{
	static const struct name names[] = {
		{"main", NULL}, {"foo.cold", NULL}, {"", NULL},	   {"_R", NULL},
		{"_Z", NULL},	{"_RZZ", NULL},	    {"_Z3", NULL}, {"_ZN17hE", NULL},
	};

	assert_names(names, ARRAY_SIZE(names));
}

/* libiberty's own limit is 1024 bytes. */
TEST(a_long_name_of_templates_is_readable)
{
	char name[4096] = "_Z1fI";
	CLEANUP(free_ptr) char *readable = NULL;

	for (unsigned i = 0; i < 300; i++)
		sprintf(name + strlen(name), "8type%04u", i);
	strcat(name, "Evv");
	readable = demangle(name);
	assert_non_null(readable);
	assert_memory_equal(readable, "void f<type0000, type0001, ", 27);
}

/* Appends a number minus one, in base 62 for places in a Rust name or in base
 * 36 for C++ substitutions. */
static void append_number(char *name, unsigned number, unsigned base, bool lower_first)
{
	const char *digits =
		lower_first ? "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    : "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char text[3] = {0};

	if (!number)
		return;
	number--;
	if (number < base)
		text[0] = digits[number];
	else
		memcpy(text, (char[]){digits[number / base], digits[number % base]}, 2);
	strcat(name, text);
}

static void assert_readable(const char *start, const char *end)
{
	CLEANUP(free_ptr) char *name = xasprintf("%s%s", start, end);
	CLEANUP(free_ptr) char *readable = demangle(name);

	assert_non_null(readable);
}

/* Each type contains the previous one twice, which is 2^40 when written out. */
TEST(demangling_stops_at_a_name_that_expands_too_far)
{
	char rust[4096] = "_RIC1aTllE";
	char cpp[4096] = "_Z1f1aIiiE";
	unsigned previous = (unsigned)strlen("IC1a");

	for (unsigned i = 0; i < 40; i++) {
		unsigned here = (unsigned)strlen(rust) - 2;

		strcat(cpp, "S_I");
		strcat(rust, "T");
		for (unsigned twice = 0; twice < 2; twice++) {
			strcat(cpp, "S");
			append_number(cpp, i + 1, 36, false);
			strcat(cpp, "_");
			strcat(rust, "B");
			append_number(rust, previous, 62, true);
			strcat(rust, "_");
		}
		strcat(cpp, "E");
		strcat(rust, "E");
		previous = here;
		if (i == 3) {
			assert_readable(rust, "E");
			assert_readable(cpp, "");
		}
	}
	strcat(rust, "E");
	assert_null(demangle(rust));
	assert_null(demangle(cpp));

	size_t left = 2 << 20, before = left;
	assert_null(demangle_within(cpp, &left));
	assert_in_range(before - left, 1 << 20, (1 << 20) + 4096);
	assert_null(demangle_within(rust, &left));
	assert_null(demangle_within(rust, &left));
	assert_int_equal(left, 0);
}

TEST(names_of_a_file_share_how_much_text_they_may_be)
{
	size_t left = strlen("area()") + strlen("foo::init") + 3;

	for (unsigned i = 0; i < 3; i++) {
		CLEANUP(free_ptr)
		char *name = demangle_within(i == 1 ? "_RNvCskwGfYPst2Cb_3foo4init" : "_Z4areav",
					     &left);

		assert_string_equal(name ? name : "", i == 0   ? "area()"
						      : i == 1 ? "foo::init"
							       : "");
	}
	assert_int_equal(left, 0);
	assert_null(demangle_within("camlModule__fn_267", &left));
}

/* The number of lifetimes of a function pointer, which libiberty counts without
 * printing. */
TEST(demangling_stops_at_a_name_with_too_many_lifetimes)
{
	static const struct name names[] = {
		{"_RNvMFGZZZZZZZZZZ_EuC1a1b", NULL},
		{"_RNvXs_C2CsFGZZZZZZZ_5crateuC1a1b", NULL},
		{"_RINvC1a1bFG0_RL1_eRL0_eEuE", "a::b::<for<'a, 'b> fn(&'a str, &'b str)>"},
		/* Names that look like it: a crate's hash, a type. */
		{"_RNvMCskFGZZZZZ_1aNtB2_1b3new", "<a::b>::new"},
		{"_RNvMCs0_1aNtB2_3CFG11push_assign", "<a::CFG>::push_assign"},
	};

	assert_names(names, ARRAY_SIZE(names));
}

struct hostile {
	const char *start, *repeated;
};

static void *demangle_on_a_small_stack(void *context)
{
	const struct hostile *hostile = context;

	for (size_t len = 512; len <= 64 * 1024; len *= 2) {
		CLEANUP(free_ptr) char *name = xcalloc(1, len + 64);
		char *end = stpcpy(name, hostile->start);

		while (end < name + len)
			end = stpcpy(end, hostile->repeated);
		free(demangle(name));
	}
	return NULL;
}

TEST(no_name_overflows_four_megabytes_of_stack)
{
	static const struct hostile names[] = {
		{"_Z1f", "P"},	     {"_Z1f", "PFvPFv"},    {"_ZN1aI", "N1aI"}, {"_Z1fIX", "ng"},
		{"_Z", "Z1fvEZ"},    {"_Z1f", "FA1_"},	    {"_Z1f", "DTcl"},	{"_ZZZZ", "Z"},
		{"_Z1fI", "XadL_Z"}, {"_R", "Nv"},	    {"_RY", "I"},	{"_RIC1a", "RRRR"},
		{"_RIC1a", "TBbBa"}, {"_ZN17h17h", "17h1"}, {"_Z1fIJ", "1aIJ"},
	};
	pthread_attr_t attr;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, 4 * 1024 * 1024), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct hostile name = names[i];

		assert_int_equal(pthread_create(&thread, &attr, demangle_on_a_small_stack, &name),
				 0);
		pthread_join(thread, NULL);
	}
	pthread_attr_destroy(&attr);
}
