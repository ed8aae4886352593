/*
 * A team of threads that wait for work and share it: the items of a job, numbered from 0. The
 * caller is one of them, so a job is done even if no thread could be started.
 */
#ifndef PROF_BASE_TEAM_H
#define PROF_BASE_TEAM_H

#include "base/cleanup.h"

#include <stddef.h>

struct team;

/* member: below the size of the team; never the same in two concurrent calls. */
typedef void team_work(void *context, size_t item, unsigned member);

/* size: with the caller; at least 1. The threads take no signals. */
struct team *team_new(unsigned size);
void team_free(struct team *team);
DEFINE_CLEANUP(team, team_free)

unsigned team_size(const struct team *team);
/* Gives the threads a job. One at a time … */
void team_begin(struct team *team, size_t items, team_work *work, void *context);
/* … which this ends: the caller takes part in it. Returns when all items are done. */
void team_finish(struct team *team);

#endif
