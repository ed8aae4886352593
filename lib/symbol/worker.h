/*
 * Controls a symbol worker: a confined process (sandbox/confined.h) that runs
 * an engine.
 *
 * The worker inherits prof's mappings of the ELF files that were open when it
 * was started. It asks prof for debug files. It is not trusted: its messages
 * are validated, its time is limited, and a run always ends. A worker whose run
 * did not end with WORKER_DONE cannot be used again.
 */
#ifndef PROF_SYMBOL_WORKER_H
#define PROF_SYMBOL_WORKER_H

#include "sandbox/confined.h"
#include "symbol/engine.h"
#include "symbol/reply.h"
#include "symbol/worker_main.h"

struct worker_options {
	struct worker_main_options main; /* without `state`; copied */
	struct confined_limits limits;
	uid_t uid;
};

struct worker;

MUST_CHECK struct error *worker_start(const struct worker_options *options, struct worker **ret);
/* Returns the CPU time that the worker has used. */
uint64_t worker_cpu_ns(const struct worker *worker);
/* Kills the worker if it is still running. */
struct confined_end worker_end(struct worker *worker);

struct worker_limits {
	/*
	 * CPU time of all its threads, so that the load of the machine has no
	 * influence.
	 */
	uint64_t run_cpu_ns;
	/* CPU time of one thread to open one module or to read one unit. */
	uint64_t unit_cpu_ns;
	/*
	 * Debug files that the worker requests add to run_cpu_ns, up to a
	 * limit.
	 */
	uint64_t ns_per_byte, run_cpu_ns_max;
	/*
	 * How long the worker may neither use CPU time, nor be runnable, nor
	 * send anything.
	 */
	uint64_t standstill_ns;
	/*
	 * Like standstill_ns, for a worker that is stopped by a signal
	 * (SIGSTOP) while prof runs.
	 */
	uint64_t stopped_ns;
	size_t reply_bytes;
};

/* The cost of one or more workers. */
struct worker_cost {
	uint64_t cpu_ns;
	uint64_t peak_bytes; /* peak memory of the largest one */
};

void worker_cost_add(struct worker_cost *to, struct worker_cost cost);

enum worker_outcome {
	WORKER_DONE, /* all requests are finished */
	WORKER_CANCELLED,
	WORKER_TIMED_OUT,      /* exceeded run_cpu_ns */
	WORKER_UNIT_TIMED_OUT, /* exceeded unit_cpu_ns */
	WORKER_STALLED,
	WORKER_STOPPED,	       /* stopped by a signal for stopped_ns */
	WORKER_GONE,	       /* died: worker_end() returns how */
	WORKER_PROTOCOL_ERROR, /* sent an invalid message */
};

struct worker_run {
	/* The requests' own openers open debug files. */
	const struct engine_request *const *requests;
	const bool *without_libdw; /* by request; overrides the request's member */
	size_t count;
	struct worker_limits limits;
	const atomic_bool *cancel; /* may be NULL */
	atomic_uint *done;	   /* may be NULL */
	/* Called every few milliseconds while the worker runs. May be NULL. */
	void (*between)(void *user);
	void *between_user;
	/* Takes ownership of the reply. */
	void (*finished)(void *user, size_t request, struct reply *reply);
	void *user;

	/* Results, by request. */
	bool *is_finished;
	/*
	 * Not finished, and in progress at the end: a possible cause of the
	 * failure.
	 */
	bool *is_at_work;
	bool *is_in_libdw; /* libdw was reading it at the end */
	uint64_t cpu_ns;   /* CPU time used by the run */
};

/* Runs the requests. May be called again after WORKER_DONE. */
enum worker_outcome worker_run(struct worker *worker, struct worker_run *run);

#endif
