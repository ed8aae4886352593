/* The part of walker.c that is compiled without call frame information, with
 * frame pointers. */
static __attribute__((noinline)) int hidden(int n)
{
	return n * 5 + 1;
}

int undescribed(int (*function)(int), int n)
{
	volatile int room[4];

	room[n] = hidden(n);
	return function(n) + room[n];
}
