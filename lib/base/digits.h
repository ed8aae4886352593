/*
 * Formats decimal numbers where printf() would take most of the time.
 */
#ifndef PROF_BASE_DIGITS_H
#define PROF_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

/* The digits of the largest number. */
#define DIGITS_MAX 20

static inline unsigned digits_count(uint64_t number)
{
	unsigned count = 1;

	for (; number >= 10000; number /= 10000)
		count += 4;
	return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* Writes number so that it ends before `end`. Returns its first character. */
static inline char *digits_before(char *end, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; number >= 100; number /= 100)
		memcpy(end -= 2, &pairs[number % 100 * 2], 2);
	if (number >= 10)
		memcpy(end -= 2, &pairs[number * 2], 2);
	else
		*--end = (char)('0' + number);
	return end;
}

/* Writes at least `least` characters, padded in front with zeros or spaces. */
static inline char *digits_padded_before(char *end, uint64_t number, unsigned least, char padding)
{
	char *first = digits_before(end, number);

	while (end - first < (int)least)
		*--first = padding;
	return first;
}

#endif
