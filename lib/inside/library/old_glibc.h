/*
 * Lets an agent that was built with a current glibc run with that of Debian 10
 * and RHEL 8 (2.28). It is included first in the agent of a static prof, which
 * runs there, too. Source: the linker's .symver; the versions of symbols in
 * glibc's *.abilist.
 *
 * glibc 2.34 merged libdl and libpthread, and gave their functions new versions.
 * glibc 2.33 made stat() and fstat() functions.
 */
#ifndef PROF_INSIDE_LIBRARY_OLD_GLIBC_H
#define PROF_INSIDE_LIBRARY_OLD_GLIBC_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define FIRST_GLIBC "GLIBC_2.2.5"
#else
#define FIRST_GLIBC "GLIBC_2.17"
#endif

#define OLD(function) __asm__(".symver " #function ", " #function "@" FIRST_GLIBC);

OLD(dladdr)
OLD(dlclose)
OLD(dlsym)
OLD(pthread_attr_getguardsize)
OLD(pthread_attr_getstacksize)
OLD(pthread_getcpuclockid)
OLD(pthread_key_create)
OLD(pthread_setspecific)
__asm__(".symver pthread_getattr_default_np, pthread_getattr_default_np@GLIBC_2.18");

/* The kernel's struct stat is that of the C library. */
#define stat(path, status) ((int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0))
#define fstat(fd, status) ((int)syscall(SYS_fstat, fd, status))

#endif
