/*
 * An interface for sources of records in time order: the rings of perf events
 * (sampler.h), a perf.data file (perfdata.h) and others.
 */
#ifndef PROF_PERF_RECORD_SOURCE_H
#define PROF_PERF_RECORD_SOURCE_H

#include "base/error.h"
#include "perf/record.h"

struct record_source_ops {
	/* Start and stop recording. Records that were made can still be read
	 * after disable(). Both may be NULL. */
	struct error *(*enable)(void *source);
	void (*disable)(void *source);
	/* Returns a descriptor that polls readable when enough records are
	 * available; owned by the source. NULL if next() never needs to
	 * wait. */
	int (*fd)(const void *source);
	/* Starts a batch of the records that are available now. NULL if all
	 * records are one batch. */
	void (*batch)(void *source);
	/* Returns false at the end of the batch. The record is borrowed until
	 * the next call. */
	bool (*next)(void *source, struct record *ret);
	void (*close)(void *source);
};

/* Owns `source`. */
struct record_source {
	const struct record_source_ops *ops;
	void *source; /* NULL if not open */
};

MUST_CHECK static inline struct error *record_source_enable(const struct record_source *source)
{
	return source->ops->enable ? source->ops->enable(source->source) : NULL;
}

static inline void record_source_disable(const struct record_source *source)
{
	if (source->ops->disable)
		source->ops->disable(source->source);
}

/* Returns -1 if next() never needs to wait. */
static inline int record_source_fd(const struct record_source *source)
{
	return source->ops->fd ? source->ops->fd(source->source) : -1;
}

static inline bool record_source_next(const struct record_source *source, struct record *ret)
{
	return source->ops->next(source->source, ret);
}

static inline void record_source_batch(const struct record_source *source)
{
	if (source->ops->batch)
		source->ops->batch(source->source);
}

static inline void record_source_close(struct record_source *source)
{
	if (source->source)
		source->ops->close(source->source);
	*source = (struct record_source){0};
}

#endif
