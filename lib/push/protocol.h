/* How servers take profiles: a constant table. All of them take an HTTP POST. */
#ifndef PROF_PUSH_PROTOCOL_H
#define PROF_PUSH_PROTOCOL_H

#include "base/bytes.h"
#include "base/error.h"
#include "format/pprof/wire.h"
#include "push/labels.h"

struct push_protocol {
	const char *name;	    /* as in URLs: "otlp" */
	const char *path;	    /* on the server, after the URL's own */
	const char *const *headers; /* NULL-terminated */
	/* Appends the body. */
	MUST_CHECK struct error *(*encode)(const struct profile *profile,
					   const struct push_labels *labels,
					   struct wire_message *body);
	/*
	 * What a server did not take although it has answered with a status of success, in its
	 * words, to be freed; NULL: it has taken all. reply: its body, not to be believed. May be
	 * NULL.
	 */
	char *(*complaint)(struct bytes reply);
};

/* OpenTelemetry: protobuf, compressed with gzip (format/otlp/otlp.h). */
extern const struct push_protocol push_otlp;
/*
 * Pyroscope: push.v1.PusherService/Push by Connect. Source: grafana/pyroscope, api/push/v1/
 * push.proto; https://connectrpc.com/docs/protocol, "Unary-Request".
 */
extern const struct push_protocol push_pyroscope;
/*
 * Parca: JSON with the pprof profile as base64. Source: parca-dev/parca,
 * proto/parca/profilestore/v1alpha1/profilestore.proto.
 */
extern const struct push_protocol push_parca;

/* NULL if no protocol has this name. */
const struct push_protocol *push_protocol_by_name(const char *name, size_t len);

/* The profile as a pprof file. The caller frees *ret. */
MUST_CHECK struct error *push_pprof(const struct profile *profile, char **ret, size_t *len);

#endif
