/*
 * UTF-8 for ncurses in a static program. The C library needs files of a locale
 * for it, which an empty root lacks. The linker replaces these functions of the
 * C library (--wrap in meson.build).
 */
#include <stdint.h>
#include <wchar.h>
#include <wctype.h>

/* After ASCII and C1. */
enum { FIRST_PRINTABLE = 0xa0 };

size_t __wrap_wcrtomb(char *to, wchar_t character, mbstate_t *state);
int __wrap_wcwidth(wchar_t character);
int __real_wcwidth(wchar_t character);
int __wrap_iswprint(wint_t character);
int __real_iswprint(wint_t character);

size_t __wrap_wcrtomb(char *to, wchar_t character, mbstate_t *state)
{
	uint32_t rest = (uint32_t)character;
	size_t size = rest < 0x80 ? 1 : rest < 0x800 ? 2 : rest < 0x10000 ? 3 : 4;

	(void)state;
	if (!to)
		return 1;
	for (size_t i = size - 1; i > 0; i--, rest >>= 6)
		to[i] = (char)(0x80 | (rest & 0x3f));
	to[0] = (char)(size == 1 ? rest : (0xf00 >> size & 0xf0) | rest);
	return size;
}

/* Without files of a locale, every character that is not ASCII has one column. */
int __wrap_wcwidth(wchar_t character)
{
	int width = __real_wcwidth(character);

	return width < 0 && character >= FIRST_PRINTABLE ? 1 : width;
}

int __wrap_iswprint(wint_t character)
{
	return character >= FIRST_PRINTABLE || __real_iswprint(character);
}
