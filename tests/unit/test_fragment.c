#include "profile/fragment.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

TEST(parts_and_copies_are_their_function)
{
	static const char *const symbols[] = {
		"parse.cold",
		"parse.cold.0",
		"parse.part.0",
		"parse.isra.0.cold",
		"parse.constprop.0",
		"parse.constprop.0.isra.0",
		"parse.part.0.lto_priv.12.cold",
		"parse.localalias",
		"parse.localalias.3",
		"parse.llvm.1234567890",
		"parse.llvm.A5310EB9.cold.1",
		"parse.__part.1",
		"parse.__uniq.12345.cold",
		"parse.warm",
		"parse.eh",
		"parse.argprom.argelim",
		"parse.specialized.2",
		"parse.clone.4",
		"parse.org.0",
		"parse.0",
		"parse.12.cold",
	};

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		assert_int_equal(fragment_function_length(symbols[i]), strlen("parse"));
}

TEST(other_names_stay_whole)
{
	static const char *const symbols[] = {
		"",
		"parse",
		".cold",
		".L12",
		"parse.",
		"parse.part",
		"parse.colder",
		"parse.cold.storage",
		"parse.cold.",
		"parse.avx2.0",
		"parse._omp_fn.0",
		"parse.actor",
		"parse.resolver",
		"parse.1f",
		"parse.cold@plt",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		"core..fmt..cold17h0123456789abcdefE",
	};

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		assert_int_equal(fragment_function_length(symbols[i]), strlen(symbols[i]));
	assert_int_equal(fragment_function_length("parse.actor.cold"), strlen("parse.actor"));
	assert_int_equal(fragment_function_length("parse._omp_fn.0.cold"),
			 strlen("parse._omp_fn.0"));
}
