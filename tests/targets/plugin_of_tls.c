/* Wants memory of each thread that only a program's start can have enough of. */
static __thread volatile char room[256] __attribute__((tls_model("initial-exec")));

void fill(void)
{
	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 1;
}
