/* Needs static thread-local storage, of which there is enough only at the start
 * of a program. */
static __thread volatile char room[256] __attribute__((tls_model("initial-exec")));

void fill(void)
{
	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 1;
}
