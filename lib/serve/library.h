/*
 * libmicrohttpd, loaded when a server starts: linked, with GnuTLS and what that needs, it would
 * more than double the time that prof takes to start.
 */
#ifndef PROF_SERVE_LIBRARY_H
#define PROF_SERVE_LIBRARY_H

#include "base/error.h"

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

/* It stays loaded. */
MUST_CHECK struct error *mhd_library_load(struct mhd_library *ret);

#endif
