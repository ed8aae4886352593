/*
 * Defines the functions of GnuTLS that libmicrohttpd names, for a static program.
 * Distributions lack some of GnuTLS's own libraries in static form. Without TLS,
 * libmicrohttpd calls only the first two, and mhd_library_load() refuses TLS.
 */
#include <stdlib.h>

int gnutls_global_init(void);
void gnutls_global_deinit(void);

int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void)
{
}

void without_tls_abort(void);

void without_tls_abort(void)
{
	abort();
}

#define MISSING(function) void function(void) __attribute__((alias("without_tls_abort")));

MISSING(gnutls_alpn_set_protocols)
MISSING(gnutls_bye)
MISSING(gnutls_certificate_allocate_credentials)
MISSING(gnutls_certificate_free_credentials)
MISSING(gnutls_certificate_server_set_request)
MISSING(gnutls_certificate_set_dh_params)
MISSING(gnutls_certificate_set_retrieve_function2)
MISSING(gnutls_certificate_set_retrieve_function3)
MISSING(gnutls_certificate_set_x509_key_mem)
MISSING(gnutls_certificate_set_x509_key_mem2)
MISSING(gnutls_certificate_set_x509_trust_mem)
MISSING(gnutls_cipher_get)
MISSING(gnutls_credentials_set)
MISSING(gnutls_deinit)
MISSING(gnutls_dh_params_deinit)
MISSING(gnutls_dh_params_import_pkcs3)
MISSING(gnutls_dh_params_init)
MISSING(gnutls_handshake)
MISSING(gnutls_init)
MISSING(gnutls_malloc)
MISSING(gnutls_priority_deinit)
MISSING(gnutls_priority_init)
MISSING(gnutls_priority_set)
MISSING(gnutls_protocol_get_version)
MISSING(gnutls_psk_allocate_server_credentials)
MISSING(gnutls_psk_free_server_credentials)
MISSING(gnutls_psk_set_server_credentials_function)
MISSING(gnutls_record_check_pending)
MISSING(gnutls_record_get_direction)
MISSING(gnutls_record_recv)
MISSING(gnutls_record_send)
MISSING(gnutls_session_get_ptr)
MISSING(gnutls_session_set_ptr)
MISSING(gnutls_strerror)
MISSING(gnutls_transport_set_int2)
