/*
 * The server's own counters, and their text for Prometheus. Source: Prometheus'
 * text-based exposition format 0.0.4.
 */
#ifndef PROF_SERVE_METRICS_H
#define PROF_SERVE_METRICS_H

#include "serve/gate.h"
#include "serve/http_server.h"

#include <stdint.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct metrics {
	struct http_counts http;
	uint64_t requests;
	uint64_t refused[GATE_VERDICTS];   /* by the gate */
	uint64_t wrong;			   /* invalid targets and queries */
	uint64_t busy;			   /* refused because a recording was running */
	uint64_t whole, failed, cancelled; /* recordings */
	uint64_t samples, lost;
	uint64_t recording_cpu_ns;
	bool is_recording;
};

/*
 * Returns the text, including the process's own memory and CPU time. The caller
 * frees it.
 */
char *metrics_text(const struct metrics *metrics);

#endif
