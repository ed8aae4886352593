#include "cmd/cargo/cfg.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static const char options[] = "debug_assertions\nunix\ntarget_os=\"linux\"\ntarget_env=\"gnu\"\n"
			      "target_feature=\"sse2\"\ntarget_feature=\"fxsr\"\n";

TEST(test_predicates_that_hold)
{
	static const char *const texts[] = {
		"cfg(unix)",
		"cfg( target_os = \"linux\" )",
		"cfg(target_feature=\"fxsr\")",
		"cfg(all(unix, target_env = \"gnu\"))",
		"cfg(all(unix, any(windows, target_os = \"linux\"), not(target_env = \"musl\"),))",
		"cfg(all())",
		"cfg(not(any()))",
		"cfg(true)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_true(cargo_cfg_matches(texts[i], options));
}

TEST(test_predicates_that_do_not_hold)
{
	static const char *const texts[] = {
		"cfg(windows)",	  "cfg(uni)",
		"cfg(target_os)", "cfg(target_os = \"lin\")",
		"cfg(not(unix))", "cfg(all(unix, windows))",
		"cfg(any())",	  "cfg(false)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(cargo_cfg_matches(texts[i], options));
}

TEST(test_texts_that_are_no_predicates_do_not_hold)
{
	static const char *const texts[] = {
		"",
		"unix",
		"cfg",
		"cfg(unix",
		"cfg()",
		"cfg(unix) x",
		"cfg(unix, unix)",
		"cfg(all(unix unix))",
		"cfg(not(unix, windows))",
		"cfg(some(unix))",
		"cfg(target_os = linux)",
		"cfg(target_os = \"linux)",
		"x86_64-unknown-linux-gnu",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(cargo_cfg_matches(texts[i], options));
}

TEST(test_depth_is_bounded)
{
	enum { LEVELS = 10000 };
	CLEANUP(free_ptr) char *text = xcalloc(5 * LEVELS + 16, 1);

	strcpy(text, "cfg(");
	for (size_t i = 0; i < LEVELS; i++)
		memcpy(text + 4 + 4 * i, "all(", 4);
	memset(text + 4 + 4 * LEVELS, ')', LEVELS + 1);
	assert_false(cargo_cfg_matches(text, options));
}
