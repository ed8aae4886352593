/* The page at /debug/pprof/: the running processes, and links to record each. */
#ifndef PROF_SERVE_INDEX_PAGE_H
#define PROF_SERVE_INDEX_PAGE_H

#include "serve/processes.h"

enum { INDEX_PROCESSES_MAX = 200 };

/*
 * processes: as processes_compare() leaves them. user: whose processes alone are shown; 0: all.
 * To be freed.
 */
char *index_page(const struct processes *processes, uid_t user);

#endif
