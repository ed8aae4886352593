#include "serve/library.h"

#ifdef PROF_STATIC

#define LINK(function) ret->function = function;

struct error *mhd_library_load(bool needs_tls, struct mhd_library *ret)
{
	if (needs_tls)
		return error_hint(error_new("a statically linked prof has no TLS"),
				  "use a dynamically linked one, or listen on 127.0.0.1 or a Unix "
				  "socket, behind a proxy with TLS");
	MHD_FUNCTIONS(LINK)
	return NULL;
}

#else

#include <dlfcn.h>

/* ISO C does not allow function pointers in void pointers; POSIX does. */
#define FIND(function) &&__extension__(ret->function = dlsym(library, #function))

struct error *mhd_library_load(bool needs_tls, struct mhd_library *ret)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	(void)needs_tls;
	if (library MHD_FUNCTIONS(FIND))
		return NULL;
	return error_hint(error_new("%s", dlerror()), "apt install libmicrohttpd12");
}

#endif
