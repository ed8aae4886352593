/* Fuzzes os-release and the output of package managers. Text that becomes part
 * of a command must be plain. */
#include "doctor/packages.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.+-_";

	if (text[strspn(text, plain)])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *text = size ? xstrndup((const char *)data, size) : xstrdup("");
	struct distribution distribution;
	char package[32];

	distribution_parse(text, &distribution);
	check(distribution.codename);
	for (int packaging = PACKAGING_UNKNOWN; packaging <= PACKAGING_ALPINE; packaging++) {
		package_of_file((enum packaging)packaging, text, "/lib/x.so", package,
				sizeof(package));
		check(package);
	}
	return 0;
}
