#include "base/team.h"

#include "base/alloc.h"
#include "base/quiet_thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct team_member {
	struct team *team;
	unsigned number;
	pthread_t thread;
};

struct team {
	struct team_member *members; /* the first one is the caller, which is not started */
	unsigned size, started;
	/* The job. It is written only while no thread is working. */
	size_t items;
	team_work *work;
	void *context;
	atomic_size_t next; /* index of the next item */

	pthread_mutex_t mutex; /* protects the following members */
	pthread_cond_t begins, ends;
	unsigned long job; /* its number */
	bool is_open;	   /* threads may still join the job */
	unsigned at_work;  /* number of threads that have joined */
	bool is_over;
};

static void take_items(struct team *team, unsigned number)
{
	size_t item;

	while ((item = atomic_fetch_add(&team->next, 1)) < team->items)
		team->work(team->context, item, number);
}

/*
 * Waits for a job other than the last one. Returns false if there will be none.
 */
static bool await_job(struct team *team, unsigned long *last)
{
	bool is_over;

	pthread_mutex_lock(&team->mutex);
	while ((!team->is_open || team->job == *last) && !team->is_over)
		pthread_cond_wait(&team->begins, &team->mutex);
	*last = team->job;
	is_over = team->is_over;
	team->at_work += !is_over;
	pthread_mutex_unlock(&team->mutex);
	return !is_over;
}

static void leave_job(struct team *team)
{
	pthread_mutex_lock(&team->mutex);
	if (!--team->at_work)
		pthread_cond_signal(&team->ends);
	pthread_mutex_unlock(&team->mutex);
}

static void *team_run(void *user)
{
	struct team_member *member = user;
	unsigned long last = 0;

	while (await_job(member->team, &last)) {
		take_items(member->team, member->number);
		leave_job(member->team);
	}
	return NULL;
}

static void team_start(struct team *team)
{
	for (unsigned i = 1; i < team->size; i++) {
		struct team_member *member = &team->members[i];

		*member = (struct team_member){.team = team, .number = i};
		if (!quiet_thread_start(&member->thread, team_run, member))
			break;
		team->started++;
	}
}

struct team *team_new(unsigned size)
{
	struct team *team = xcalloc(1, sizeof(*team));

	team->size = size;
	team->members = xcalloc(size, sizeof(*team->members));
	pthread_mutex_init(&team->mutex, NULL);
	pthread_cond_init(&team->begins, NULL);
	pthread_cond_init(&team->ends, NULL);
	team_start(team);
	return team;
}

void team_free(struct team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->mutex);
	team->is_over = true;
	pthread_cond_broadcast(&team->begins);
	pthread_mutex_unlock(&team->mutex);
	for (unsigned i = 1; i <= team->started; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_cond_destroy(&team->ends);
	pthread_cond_destroy(&team->begins);
	pthread_mutex_destroy(&team->mutex);
	free(team->members);
	free(team);
}

unsigned team_size(const struct team *team)
{
	return team->size;
}

void team_begin(struct team *team, size_t items, team_work *work, void *context)
{
	team->items = items;
	team->work = work;
	team->context = context;
	atomic_store(&team->next, 0);
	pthread_mutex_lock(&team->mutex);
	team->job++;
	team->is_open = true;
	pthread_cond_broadcast(&team->begins);
	pthread_mutex_unlock(&team->mutex);
}

void team_finish(struct team *team)
{
	take_items(team, 0);
	pthread_mutex_lock(&team->mutex);
	team->is_open = false;
	while (team->at_work)
		pthread_cond_wait(&team->ends, &team->mutex);
	pthread_mutex_unlock(&team->mutex);
}
