/*
 * Gives the terminal back as it was when a signal ends prof that nobody handles: a fault, an abort,
 * Ctrl-\. Such a signal can come anywhere, so what is to be written is put together before.
 */
#ifndef PROF_CMD_RESCUE_H
#define PROF_CMD_RESCUE_H

/* Before the terminal is changed … */
void rescue_note_terminal(void);
/* … and once curses knows which it is. */
void rescue_arm(void);
void rescue_disarm(void);

#endif
