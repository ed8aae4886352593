#include "serve/library.h"

#include <dlfcn.h>

/* ISO C does not allow function pointers in void pointers; POSIX does. */
#define FIND(function) &&__extension__(ret->function = dlsym(library, #function))

struct error *mhd_library_load(struct mhd_library *ret)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (library MHD_FUNCTIONS(FIND))
		return NULL;
	return error_hint(error_new("%s", dlerror()), "apt install libmicrohttpd12");
}
