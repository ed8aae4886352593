#include "serve/gate.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>

/* Returns the length without the port. */
static size_t host_len(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;

	if (*host == '[')
		return end ? (size_t)(end + 1 - host) : 0;
	return strcspn(host, ":");
}

static bool is_port(const char *text)
{
	return !*text || (*text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1));
}

static bool is_host(const char *given, const char *own)
{
	const char *const known[] = {own, "localhost", "127.0.0.1", "[::1]"};
	size_t len = host_len(given);

	if (!is_port(given + len))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i]) == len && !strncasecmp(given, known[i], len))
			return true;
	return false;
}

/*
 * Returns whether the origin is "http://HOST", which browsers send for a page
 * of this server.
 */
static bool is_own_origin(const struct gate *gate, const struct gate_request *request)
{
	const char *scheme = gate->is_tls ? "https://" : "http://";

	return request->host && text_begins(request->origin, scheme) &&
	       !strcasecmp(request->origin + strlen(scheme), request->host);
}

/*
 * A browser sends "none" for an address that its user has typed. Other clients
 * send nothing.
 */
static bool is_of_own_page(const struct gate *gate, const struct gate_request *request)
{
	const char *site = request->fetch_site;

	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return false;
	return !request->origin || is_own_origin(gate, request);
}

static bool is_user(const struct gate *gate, const struct gate_request *request)
{
	if (!request->has_user)
		return false;
	for (size_t i = 0; i < gate->user_count; i++)
		if (gate->users[i] == request->user)
			return true;
	return request->user == 0;
}

enum gate_verdict gate_judge(const struct gate *gate, const struct gate_request *request)
{
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
		return GATE_METHOD;
	if (request->has_body)
		return GATE_BODY;
	if (gate->host && (!request->host || !is_host(request->host, gate->host)))
		return GATE_HOST;
	if (!is_of_own_page(gate, request))
		return GATE_ORIGIN;
	if (request->is_public)
		return GATE_OPEN;
	if (gate->token)
		return token_is_in(gate->token, request->authorization) ? GATE_OPEN : GATE_TOKEN;
	return is_user(gate, request) ? GATE_OPEN : GATE_USER;
}
