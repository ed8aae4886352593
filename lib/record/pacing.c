#include "record/pacing.h"

#include "base/clock.h"

enum {
	/* Interval at which the rings are read even if none has reached its
	 * watermark. */
	TICK_MS = 100,
	/* With low overhead, the rings are read when they are half full, or at
	 * this interval if the fill rate is unknown. */
	LOW_OVERHEAD_MS = 50,
	/* If samples do not wake the reader, it reads when the rings are full
	 * to one POLLED_SHARE-th. */
	POLLED_SHARE = 4,
	/* See pacing_throttled_until_ns(). */
	READ_SAMPLES = 10,
	READ_MS_MIN = 20,
	READ_MS_MAX = TICK_MS,
	READS_AT_ONCE = 25,
	CROWDED_PERCENT = 20,
	/* Rate per CPU above which samples do not wake a copier. */
	FAST_HZ = 20000,
};

/* How long each sample wakes a copier after a deep stack, and at the start. */
#define DEEP_NS NS_PER_SECOND
#define FIRST_DEEP_NS (NS_PER_SECOND / 4)

/* How long reads remain frequent after there was a reason. */
#define HURRY_NS (10 * NS_PER_SECOND)

/* The rate is measured over at least this time. */
#define PACING_RATE_NS (NS_PER_SECOND / 20)

void pacing_begin(struct pacing *pacing, struct sampler *sampler, bool low_overhead)
{
	*pacing = (struct pacing){
		.sampler = sampler,
		.low_overhead = low_overhead,
		.samples_ns = clock_now_ns(),
	};
	if (sampler_captures_deep(sampler))
		pacing->deep_ns = pacing->samples_ns - (DEEP_NS - FIRST_DEEP_NS);
}

void pacing_restart(struct pacing *pacing)
{
	pacing->samples = 0;
}

void pacing_skip(struct pacing *pacing, uint64_t paused_ns)
{
	pacing->samples_ns += paused_ns;
	pacing->deep_ns += paused_ns;
}

void pacing_after_record(struct pacing *pacing, const struct record *record,
			 const struct session *session)
{
	if (record->type == RECORD_SAMPLE && bytes_left(&record->sample.stack) &&
	    sampler_note_stack(pacing->sampler, record, session_stack_extent(session)))
		pacing->was_deep = true;
}

void pacing_after_batch(struct pacing *pacing, const struct session *session, uint64_t now_ns)
{
	const struct session_counts *counts = session_counts(session);
	uint64_t passed_ns = now_ns - pacing->samples_ns;

	if (passed_ns >= PACING_RATE_NS) {
		pacing->is_fast = (counts->quality.samples - pacing->samples) * NS_PER_SECOND /
					  passed_ns >
				  FAST_HZ * sampler_facts(pacing->sampler)->cpus;
		pacing->samples = counts->quality.samples;
		pacing->samples_ns = now_ns;
	}
	if (pacing->was_deep)
		pacing->deep_ns = now_ns;
	pacing->was_deep = false;
	if (session_missed_files(session) != pacing->missed ||
	    sampler_side_band_percent(pacing->sampler) >= CROWDED_PERCENT)
		pacing->fast_until_ns = now_ns + HURRY_NS;
	pacing->missed = session_missed_files(session);
	sampler_capture_deep(pacing->sampler, now_ns - pacing->deep_ns < DEEP_NS, pacing->is_fast);
}

uint64_t pacing_next_ns(const struct pacing *pacing, uint64_t now_ns)
{
	const struct sampler_facts *facts = sampler_facts(pacing->sampler);
	int ms = TICK_MS, copies_ms = sampler_poll_ms(pacing->sampler);

	if (pacing->low_overhead)
		ms = facts->holds_ms ? facts->holds_ms / 2 : LOW_OVERHEAD_MS;
	else if (facts->is_polled)
		ms = facts->holds_ms / POLLED_SHARE + 1;
	if (ms > TICK_MS)
		ms = TICK_MS;
	if (copies_ms && copies_ms < ms)
		ms = copies_ms;
	return now_ns + (uint64_t)ms * NS_PER_MS;
}

/* Returns the interval between reads while records keep arriving. */
static uint64_t read_ns(const struct pacing *pacing, uint64_t now_ns)
{
	uint64_t hz = sampler_facts(pacing->sampler)->samples_per_second;
	uint64_t ms = hz ? READ_SAMPLES * UINT64_C(1000) / hz : 0;

	if (ms < READ_MS_MIN || now_ns < pacing->fast_until_ns)
		ms = READ_MS_MIN;
	return (ms < READ_MS_MAX ? ms : READ_MS_MAX) * NS_PER_MS;
}

uint64_t pacing_throttled_until_ns(struct pacing *pacing, uint64_t now_ns)
{
	const uint64_t each_ns = read_ns(pacing, now_ns);
	const uint64_t ahead_ns = READS_AT_ONCE * each_ns;

	if (!sampler_facts(pacing->sampler)->is_polled)
		return 0;
	if (pacing->paid_ns < now_ns)
		pacing->paid_ns = now_ns;
	/* Reads are more frequent than before. */
	if (pacing->paid_ns > now_ns + ahead_ns + each_ns)
		pacing->paid_ns = now_ns + ahead_ns + each_ns;
	/* Reads at intervals do not use up the allowance. */
	if (pacing->paid_ns <= now_ns + ahead_ns)
		pacing->paid_ns += each_ns;
	return pacing->paid_ns - ahead_ns;
}
