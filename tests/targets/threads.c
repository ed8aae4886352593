/*
 * Three threads with names of their own; the CPU time of each is measured by itself.
 *
 *	threads  _start … main             20 %
 *	older    clone3 start_thread work  50 %
 *	younger  clone3 start_thread work  30 %
 */
#include "work.h"

#include <pthread.h>

struct job {
	const char *name;
	double seconds;
};

static NOINLINE void burn(void)
{
	spin();
}

static void *work(void *argument)
{
	const struct job *job = argument;
	const struct part all = {burn, 10};

	pthread_setname_np(pthread_self(), job->name);
	spend(job->seconds, &all, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv);
	struct job jobs[] = {{"older", 0.5 * seconds}, {"younger", 0.3 * seconds}};
	const struct part all = {burn, 10};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &jobs[i]);
	spend(0.2 * seconds, &all, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
