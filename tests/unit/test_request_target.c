#include "serve/request_target.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

static struct serve_wish wish_of(const char *target)
{
	struct serve_wish wish;

	assert_null(serve_wish_of(target, &wish));
	return wish;
}

static void assert_refused(const char *target, const char *part)
{
	struct serve_wish wish;
	CLEANUP(error_cleanup) struct error *err = serve_wish_of(target, &wish);

	assert_non_null(err);
	assert_non_null(strstr(error_text(err), part));
}

TEST(a_path_has_a_route_whatever_its_query)
{
	assert_int_equal(serve_route_of("/"), SERVE_ROOT);
	assert_int_equal(serve_route_of("/?seconds=1"), SERVE_ROOT);
	assert_int_equal(serve_route_of("/debug/pprof"), SERVE_INDEX);
	assert_int_equal(serve_route_of("/debug/pprof/"), SERVE_INDEX);
	assert_int_equal(serve_route_of("/debug/pprof/profile?seconds=1&pid=2"), SERVE_PROFILE);
	assert_int_equal(serve_route_of("/flame"), SERVE_FLAME);
	assert_int_equal(serve_route_of("/debug/pprof/heap?gc=1"), SERVE_UNKNOWN_PROFILE);
	assert_int_equal(serve_route_of("/debug/pprof/profile/"), SERVE_UNKNOWN_PROFILE);
	assert_int_equal(serve_route_of("/../etc/passwd"), SERVE_UNKNOWN);
	assert_int_equal(serve_route_of("/metric"), SERVE_UNKNOWN);
	assert_int_equal(serve_route_of(""), SERVE_UNKNOWN);
}

TEST(the_defaults_are_those_of_go)
{
	struct serve_wish wish = wish_of("/debug/pprof/profile");

	assert_int_equal(wish.seconds, 30);
	assert_int_equal(wish.event, SERVE_CPU);
	assert_int_equal(wish.scope, SERVE_EVERYTHING);
	assert_ptr_equal(wish.format, &format_pprof);
	assert_int_equal(wish_of("/debug/pprof/profile?seconds=0").seconds, 30);
	assert_int_equal(wish_of("/debug/pprof/profile?seconds=&&debug=1").seconds, 30);
}

TEST(a_flame_graph_is_a_page_of_five_seconds)
{
	struct serve_wish wish = wish_of("/flame?pid=12");

	assert_int_equal(wish.seconds, 5);
	assert_ptr_equal(wish.format, &format_html);
	assert_int_equal(wish.scope, SERVE_PID);
	assert_int_equal(wish.pid, 12);
}

TEST(all_parameters_are_taken_in_any_order)
{
	struct serve_wish wish = wish_of(
		"/debug/pprof/profile?format=svg&event=off-cpu&hz=250&comm=a%20b*&seconds=3");

	assert_ptr_equal(wish.format, &format_svg);
	assert_int_equal(wish.event, SERVE_OFF_CPU);
	assert_int_equal(wish.hz, 250);
	assert_int_equal(wish.scope, SERVE_COMM);
	assert_string_equal(wish.name, "a b*");
	assert_int_equal(wish.seconds, 3);
	wish = wish_of("/?cgroup=%2Fsystem.slice%2Fa+b");
	assert_int_equal(wish.scope, SERVE_CGROUP);
	assert_string_equal(wish.name, "/system.slice/a b");
}

TEST(numbers_have_bounds)
{
	assert_int_equal(wish_of("/?seconds=300&hz=1000").seconds, 300);
	assert_refused("/?seconds=301", "up to 300");
	assert_refused("/?seconds=-1", "up to 300");
	assert_refused("/?seconds=1.5", "up to 300");
	assert_refused("/?seconds=18446744073709551617", "up to 300");
	assert_refused("/?hz=0", "1 to 1000");
	assert_refused("/?hz=1001", "1 to 1000");
	assert_refused("/?pid=0", "not a process id");
	assert_refused("/?pid=2147483648", "not a process id");
	assert_refused("/?pid=12,13", "not a process id");
	assert_refused("/?pid=--help", "not a process id");
}

TEST(a_cgroup_is_a_path_that_does_not_go_up)
{
	assert_refused("/?cgroup=", "not a path");
	assert_refused("/?cgroup=a/b", "not a path");
	assert_refused("/?cgroup=/a/../b", "not a path");
	assert_refused("/?cgroup=/a/%2e%2e", "not a path");
	assert_int_equal(wish_of("/?cgroup=/a/..b").scope, SERVE_CGROUP);
}

TEST(what_cannot_be_meant_is_refused)
{
	assert_refused("/?pids=1", "unknown parameter \"pids\" (seconds, pid,");
	assert_refused("/?event=gpu", "(cpu, off-cpu, alloc)");
	assert_refused("/?format=pdf", "(html, pprof, folded,");
	assert_refused("/?format=perf.data", "unknown format");
	assert_refused("/?pid=1&comm=a", "exclude each other");
	assert_refused("/?pid=1&pid=2", "pid is given twice");
	assert_refused("/?comm=", "not the name");
	assert_refused("/?comm=a,b", "not the name");
	assert_refused("/?comm=%0a", "malformed");
	assert_refused("/?comm=%00", "malformed");
	assert_refused("/?comm=%4", "malformed");
	assert_refused("/?comm=%zz", "malformed");
	assert_refused("/?a_key_that_is_too_long=1", "malformed");
}

TEST(a_value_that_is_too_long_is_refused)
{
	CLEANUP(free_ptr) char *digits = xmalloc(5000);
	CLEANUP(free_ptr) char *target = NULL;

	memset(digits, '0', 4999);
	digits[4999] = '\0';
	target = xasprintf("/?cgroup=/%s", digits);
	assert_refused(target, "malformed");
}
