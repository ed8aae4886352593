/*
 * The protocols of servers that accept profiles, as a constant table. All of
 * them use HTTP POST.
 */
#ifndef PROF_PUSH_PROTOCOL_H
#define PROF_PUSH_PROTOCOL_H

#include "base/bytes.h"
#include "base/error.h"
#include "format/pprof/wire.h"
#include "push/labels.h"

struct push_protocol {
	const char *name;	    /* as in URLs: "otlp" */
	const char *path;	    /* path on the server, appended to the URL's */
	const char *const *headers; /* NULL-terminated */
	/* Appends the body. */
	MUST_CHECK struct error *(*encode)(const struct profile *profile,
					   const struct push_labels *labels,
					   struct wire_message *body);
	/*
	 * Returns what a server did not accept although its HTTP status was a
	 * success, in the server's words. The caller frees it. Returns NULL if
	 * everything was accepted. reply is the untrusted body. The function
	 * pointer may be NULL.
	 */
	char *(*complaint)(struct bytes reply);
};

/* OpenTelemetry: gzip-compressed protobuf (format/otlp/otlp.h). */
extern const struct push_protocol push_otlp;
/*
 * Pyroscope: push.v1.PusherService/Push by Connect. Source: grafana/pyroscope,
 * api/push/v1/ push.proto; https://connectrpc.com/docs/protocol,
 * "Unary-Request".
 */
extern const struct push_protocol push_pyroscope;
/*
 * Parca: JSON with the pprof profile as base64. Source: parca-dev/parca,
 * proto/parca/profilestore/v1alpha1/profilestore.proto.
 */
extern const struct push_protocol push_parca;

/* Returns NULL if no protocol has this name. */
const struct push_protocol *push_protocol_by_name(const char *name, size_t len);

/* Encodes the profile as a pprof file. The caller frees *ret. */
MUST_CHECK struct error *push_pprof(const struct profile *profile, char **ret, size_t *len);

#endif
