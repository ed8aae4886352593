/*
 * Loads libmicrohttpd when a server starts. Linking it, with GnuTLS and further
 * dependencies, would more than double the start-up time of prof. A static
 * program contains libmicrohttpd, but no GnuTLS (without_tls.c).
 */
#ifndef PROF_SERVE_LIBRARY_H
#define PROF_SERVE_LIBRARY_H

#include "base/error.h"

#include <stdbool.h>

#include <microhttpd.h>

#define MHD_FUNCTIONS(each)                                                                        \
	each(MHD_start_daemon) each(MHD_stop_daemon) each(MHD_run) each(MHD_get_timeout)           \
		each(MHD_get_daemon_info) each(MHD_get_connection_info)                            \
			each(MHD_lookup_connection_value) each(MHD_suspend_connection)             \
				each(MHD_resume_connection) each(MHD_create_response_from_buffer)  \
					each(MHD_create_response_from_fd)                          \
						each(MHD_add_response_header)                      \
							each(MHD_queue_response)                   \
								each(MHD_destroy_response)
#define MHD_DECLARE(function) __typeof__(function) *function;

struct mhd_library {
	MHD_FUNCTIONS(MHD_DECLARE)
};

/*
 * Loads the library, which stays loaded. Fails if it is not installed, or if TLS
 * is needed in a static program.
 */
MUST_CHECK struct error *mhd_library_load(bool needs_tls, struct mhd_library *ret);

#endif
