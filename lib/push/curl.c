#include "push/curl.h"

#ifdef PROF_STATIC

const char curl_library_lack[] =
	"a statically linked prof cannot load libcurl (use a dynamically linked one)";

bool curl_library_load(struct curl_library *ret)
{
	*ret = (struct curl_library){0};
	return false;
}

#else

#include <dlfcn.h>
#include <string.h>

const char curl_library_lack[] = "libcurl is not installed (apt install libcurl4)";

/*
 * memcpy() because ISO C has no cast from a data pointer to a function pointer.
 */
static bool curl_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof(found));
	return found;
}

/* Debian's OpenSSL and GnuTLS variants have the same interface. */
bool curl_library_load(struct curl_library *ret)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	return library && curl_find(library, "curl_easy_init", &ret->begin) &&
	       curl_find(library, "curl_easy_setopt", &ret->set) &&
	       curl_find(library, "curl_easy_perform", &ret->perform) &&
	       curl_find(library, "curl_easy_getinfo", &ret->get) &&
	       curl_find(library, "curl_easy_strerror", &ret->error_text) &&
	       curl_find(library, "curl_slist_append", &ret->add_header);
}

#endif
