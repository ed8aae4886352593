/*
 * One recording: its target, everything between the kernel and the profile, and the step that moves
 * records from one to the other. Whoever records takes steps until something ends it.
 */
#ifndef PROF_CMD_RECORDING_H
#define PROF_CMD_RECORDING_H

#include "cmd/launch.h"
#include "cmd/raw_output.h"
#include "cmd/signals.h"
#include "cmd/targets.h"
#include "perf/sampler.h"
#include "session.h"

enum recording_end {
	END_COMMAND, /* the command has ended */
	END_TARGET,  /* the processes or threads that were attached to have ended */
	END_SIGNAL,
	END_DURATION,
};

/* Whether samples are attended to: see sampler_attend(). */
struct pace {
	uint64_t deep, deep_ns; /* stacks that were larger than their copy, and when the last was */
	uint64_t samples, samples_ns; /* so many there were then */
	bool is_quick;		      /* too many come for each to be attended to */
};

struct recording {
	const struct sampling_options *options;
	bool quiet, verbose;
	uint64_t duration_ns; /* 0: until the command or the target ends */
	uint64_t delay_ns;    /* sampling begins so much later than the command … */
	const struct signals *signals;
	char *const *command; /* NULL at its end; empty: none */
	bool has_command;     /* and it has been started */
	/* Where cheapness counts: stacks larger than their copy stay cut, and records wait a
	 * little. */
	bool is_leisurely;
	bool keeps_moments; /* the profile is to know when samples were taken */
	void (*write_so_far)(
		void *user); /* SIGUSR2 asks for it; the recording goes on; NULL: nobody */
	void *user;
	struct launch launch; /* where there is one */

	struct event *events;
	size_t event_count;
	const char *event_reason; /* why the event is another than one would expect; else NULL */
	struct sampler *sampler;
	struct spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	struct raw_output raw; /* its output is set before it is opened */

	struct targets targets;
	struct pace pace;

	uint64_t start_unix_ns;
	uint64_t start_ns, end_ns; /* of sampling; end: so far */
	uint64_t begins_ns;	   /* … which is then; 0: it has begun */
	uint64_t second_ns;	   /* what is a second old is forgotten */
	enum recording_end end;
	struct received_signal signal; /* END_SIGNAL: which */
};

/* What is to be sampled; an error is about the words. */
MUST_CHECK struct error *recording_choose_events(struct recording *recording);

/* Opens the events on the target; the command, if any, has not run yet. */
MUST_CHECK struct error *recording_open(struct recording *recording);
void recording_close(struct recording *recording);

/* Sampling begins, and the command runs. */
MUST_CHECK struct error *recording_start(struct recording *recording);
/*
 * Waits for records, and moves those that are there into the profile; false when something has
 * ended the recording. It returns at least ten times a second, soon after deadline_ns
 * (sampler_now_ns(); 0: none) and when other_fd (-1: none) is readable.
 */
bool recording_step(struct recording *recording, uint64_t deadline_ns, int other_fd);
/* Moves what records there are into the profile. A step does; between two of them, whoever works
 * for long does it, before the rings overflow. */
void recording_drain(struct recording *recording);
/* Forgets the profile and the address spaces, and begins new ones: those of whoever records for
 * hours would grow without end. Sampling goes on meanwhile. */
void recording_renew(struct recording *recording);
/* No more samples; all records have reached the profile. */
void recording_stop(struct recording *recording);

#endif
