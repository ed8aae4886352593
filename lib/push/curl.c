#include "push/curl.h"

#ifdef STATIC_PROGRAM

const char curl_library_lack[] =
	"a statically linked prof cannot load libcurl (use one that is not)";

bool curl_library_load(struct curl_library *ret)
{
	*ret = (struct curl_library){0};
	return false;
}

#else

#include <dlfcn.h>
#include <string.h>

const char curl_library_lack[] = "libcurl is not installed (apt install libcurl4)";

/* ISO C has no cast from a data pointer to a function. */
static bool find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof(found));
	return found;
}

/* The variants for OpenSSL and GnuTLS of Debian have one interface. */
bool curl_library_load(struct curl_library *ret)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	return library && find(library, "curl_easy_init", &ret->begin) &&
	       find(library, "curl_easy_setopt", &ret->set) &&
	       find(library, "curl_easy_perform", &ret->perform) &&
	       find(library, "curl_easy_getinfo", &ret->get) &&
	       find(library, "curl_easy_strerror", &ret->error_text) &&
	       find(library, "curl_slist_append", &ret->add_header);
}

#endif
