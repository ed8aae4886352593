/* Fuzzes the target of an HTTP request. */
#include "serve/request_target.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *target = xstrndup((const char *)data, size);
	struct serve_wish wish;
	struct error *err = serve_wish_of(target, &wish);

	assert(serve_route_of(target) <= SERVE_UNKNOWN);
	if (err) {
		error_free(err);
		return 0;
	}
	assert(wish.seconds && wish.seconds <= SERVE_SECONDS_MAX && wish.hz <= SERVE_HZ_MAX);
	assert(strlen(wish.name) <= SERVE_CGROUP_MAX && (wish.scope != SERVE_PID || wish.pid > 0));
	assert(wish.scope != SERVE_CGROUP || (*wish.name == '/' && !strstr(wish.name, "/../")));
	return 0;
}
