/*
 * Restores the terminal when a signal ends prof (a crash, an abort, kill(1),
 * Ctrl-\), or when memory is exhausted. A signal can arrive anywhere, so the
 * bytes to write are prepared before. It does not wait for the terminal: output
 * that a stopped (Ctrl-S) or unread terminal does not take is discarded.
 */
#ifndef PROF_CMD_UI_TERMINAL_RESTORE_H
#define PROF_CMD_UI_TERMINAL_RESTORE_H

/* Saves the settings and the signal handlers. Call it before the terminal is
 * changed. */
void terminal_restore_save(void);
/* Installs a handler for every signal that ends prof. Call it after curses has
 * initialized the terminal. */
void terminal_restore_arm(void);
void terminal_restore_disarm(void);

#endif
