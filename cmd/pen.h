/*
 * Writes figures and names into the columns of a screen. What comes from outside is made printable
 * here.
 */
#ifndef PROF_CMD_PEN_H
#define PROF_CMD_PEN_H

#include "cmd/screen.h"
#include "cmd/selection.h"

#include <stddef.h>

enum { SHARE_COLUMNS = 7 /* "100.0 %" */, SAMPLES_COLUMNS = 9 };

struct pen {
	const struct screen *screen;
	FILE *out; /* of the screen */
	const struct view *view;
};

/* A part of all samples of the view: the hotter the warmer. */
void pen_share(const struct pen *pen, uint64_t weight);
void pen_padding(const struct pen *pen, size_t from, size_t to);
void pen_styled(const struct pen *pen, enum screen_style style, const char *text);

/* A name made printable, and as long as there is room; to be freed. */
char *pen_name(const char *name, size_t columns);
/* How functions of this kind of code look. */
enum screen_style pen_style_of_label(const struct pen *pen, uint32_t label);
/* What a module is called in a table. */
const char *pen_module_name(const struct pen *pen, uint32_t module);

/* What was recorded, the events, how good it is, and what is selected. */
void pen_header(const struct pen *pen, const char *path, const struct selection_options *selection);

#endif
