/*
 * A symbol worker: a confined process (sandbox/confined.h) with an engine in it, as prof sees it.
 *
 * It has prof's mappings of the ELF files that were open when it was started; for debug files it
 * asks. It is treated as hostile: what it sends is checked, its time is limited, and a run ends
 * whatever it does. After a run that was not WORKER_DONE it is of no more use.
 */
#ifndef PROF_SYMBOL_WORKER_H
#define PROF_SYMBOL_WORKER_H

#include "sandbox/confined.h"
#include "symbol/engine.h"
#include "symbol/reply.h"
#include "symbol/worker_main.h"

struct worker_options {
	struct worker_main_options main; /* without state; copied */
	struct confined_limits limits;
	uid_t uid;
};

struct worker;

MUST_CHECK struct error *worker_start(const struct worker_options *options, struct worker **ret);
/* CPU time that it has used. */
uint64_t worker_cpu_ns(const struct worker *worker);
/* Kills it if it still runs. */
struct confined_end worker_end(struct worker *worker);

struct worker_limits {
	/* CPU time of all its threads, so that a busy machine changes nothing. */
	uint64_t run_cpu_ns;
	uint64_t unit_cpu_ns; /* of one module's opening, or of one unit: of one thread */
	/* Debug files that it asks for add to the first, up to a limit. */
	uint64_t ns_per_byte, run_cpu_ns_max;
	/* How long it may neither use CPU time, nor want it, nor send anything. */
	uint64_t standstill_ns;
	/* The same if it is stopped by a signal (SIGSTOP) while prof runs. */
	uint64_t stopped_ns;
	size_t reply_bytes;
};

/* Of several workers. */
struct worker_cost {
	uint64_t cpu_ns;
	uint64_t peak_bytes; /* of the largest */
};

void worker_cost_add(struct worker_cost *to, struct worker_cost cost);

enum worker_outcome {
	WORKER_DONE, /* all requests are finished */
	WORKER_CANCELLED,
	WORKER_LATE,	  /* after run_cpu_ns */
	WORKER_UNIT_LATE, /* after unit_cpu_ns */
	WORKER_STOOD_STILL,
	WORKER_STOPPED, /* by a signal, for stopped_ns */
	WORKER_GONE,	/* worker_end() says how */
	WORKER_LIED,	/* it has sent nonsense */
};

struct worker_run {
	/* Debug files are opened by the requests' own openers. */
	const struct engine_request *const *requests;
	const bool *without_libdw; /* by request; instead of what the request says */
	size_t count;
	struct worker_limits limits;
	const atomic_bool *cancel;   /* may be NULL */
	atomic_uint *done;	     /* may be NULL */
	void (*between)(void *user); /* called every few ms while the worker works; may be NULL */
	void *between_user;
	/* Takes the reply. */
	void (*finished)(void *user, size_t request, struct reply *reply);
	void *user;

	/* Results, by request. */
	bool *is_finished;
	bool *is_at_work;  /* not finished, and worked on at the end: what may have been fatal */
	bool *is_in_libdw; /* … by libdw */
	uint64_t cpu_ns;   /* used by the run */
};

/* Runs again after WORKER_DONE. */
enum worker_outcome worker_run(struct worker *worker, struct worker_run *run);

#endif
