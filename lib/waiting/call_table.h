/*
 * Rows of a table of struct call_name. The includer first includes the
 * <asm/unistd*.h> whose numbers index the table. Each row has an #ifdef because
 * no architecture has all calls.
 */
/* clang-format off */
#ifdef __NR_read
	[__NR_read] = {"read", CALL_DESCRIPTOR},
#endif
#ifdef __NR_pread64
	[__NR_pread64] = {"read", CALL_DESCRIPTOR},
#endif
#ifdef __NR_readv
	[__NR_readv] = {"read", CALL_DESCRIPTOR},
#endif
#ifdef __NR_preadv
	[__NR_preadv] = {"read", CALL_DESCRIPTOR},
#endif
#ifdef __NR_preadv2
	[__NR_preadv2] = {"read", CALL_DESCRIPTOR},
#endif
#ifdef __NR_write
	[__NR_write] = {"write", CALL_DESCRIPTOR},
#endif
#ifdef __NR_pwrite64
	[__NR_pwrite64] = {"write", CALL_DESCRIPTOR},
#endif
#ifdef __NR_writev
	[__NR_writev] = {"write", CALL_DESCRIPTOR},
#endif
#ifdef __NR_pwritev
	[__NR_pwritev] = {"write", CALL_DESCRIPTOR},
#endif
#ifdef __NR_pwritev2
	[__NR_pwritev2] = {"write", CALL_DESCRIPTOR},
#endif
#ifdef __NR_recv
	[__NR_recv] = {"recv", CALL_DESCRIPTOR},
#endif
#ifdef __NR_recvfrom
	[__NR_recvfrom] = {"recv", CALL_DESCRIPTOR},
#endif
#ifdef __NR_recvmsg
	[__NR_recvmsg] = {"recv", CALL_DESCRIPTOR},
#endif
#ifdef __NR_recvmmsg
	[__NR_recvmmsg] = {"recv", CALL_DESCRIPTOR},
#endif
#ifdef __NR_recvmmsg_time64
	[__NR_recvmmsg_time64] = {"recv", CALL_DESCRIPTOR},
#endif
#ifdef __NR_send
	[__NR_send] = {"send", CALL_DESCRIPTOR},
#endif
#ifdef __NR_sendto
	[__NR_sendto] = {"send", CALL_DESCRIPTOR},
#endif
#ifdef __NR_sendmsg
	[__NR_sendmsg] = {"send", CALL_DESCRIPTOR},
#endif
#ifdef __NR_sendmmsg
	[__NR_sendmmsg] = {"send", CALL_DESCRIPTOR},
#endif
#ifdef __NR_ioctl
	[__NR_ioctl] = {"ioctl", CALL_DESCRIPTOR},
#endif
#ifdef __NR_splice
	[__NR_splice] = {"splice", CALL_DESCRIPTOR},
#endif
#ifdef __NR_tee
	[__NR_tee] = {"splice", CALL_DESCRIPTOR},
#endif
#ifdef __NR_vmsplice
	[__NR_vmsplice] = {"splice", CALL_DESCRIPTOR},
#endif
#ifdef __NR_sendfile
	[__NR_sendfile] = {"sendfile", CALL_DESCRIPTOR},
#endif
#ifdef __NR_sendfile64
	[__NR_sendfile64] = {"sendfile", CALL_DESCRIPTOR},
#endif
#ifdef __NR_copy_file_range
	[__NR_copy_file_range] = {"copy_file_range", CALL_DESCRIPTOR},
#endif
#ifdef __NR_accept
	[__NR_accept] = {"accept", CALL_PLAIN},
#endif
#ifdef __NR_accept4
	[__NR_accept4] = {"accept", CALL_PLAIN},
#endif
#ifdef __NR_connect
	[__NR_connect] = {"connect", CALL_PLAIN},
#endif
#ifdef __NR_shutdown
	[__NR_shutdown] = {"shutdown", CALL_PLAIN},
#endif
#ifdef __NR_futex
	[__NR_futex] = {"futex", CALL_FUTEX},
#endif
#ifdef __NR_futex_time64
	[__NR_futex_time64] = {"futex", CALL_FUTEX},
#endif
#ifdef __NR_futex_wait
	[__NR_futex_wait] = {"futex", CALL_PLAIN},
#endif
#ifdef __NR_futex_waitv
	[__NR_futex_waitv] = {"futex", CALL_PLAIN},
#endif
#ifdef __NR_nanosleep
	[__NR_nanosleep] = {"nanosleep", CALL_PLAIN},
#endif
#ifdef __NR_clock_nanosleep
	[__NR_clock_nanosleep] = {"nanosleep", CALL_PLAIN},
#endif
#ifdef __NR_clock_nanosleep_time64
	[__NR_clock_nanosleep_time64] = {"nanosleep", CALL_PLAIN},
#endif
#ifdef __NR_epoll_wait
	[__NR_epoll_wait] = {"epoll_wait", CALL_PLAIN},
#endif
#ifdef __NR_epoll_pwait
	[__NR_epoll_pwait] = {"epoll_wait", CALL_PLAIN},
#endif
#ifdef __NR_epoll_pwait2
	[__NR_epoll_pwait2] = {"epoll_wait", CALL_PLAIN},
#endif
#ifdef __NR_epoll_wait_old
	[__NR_epoll_wait_old] = {"epoll_wait", CALL_PLAIN},
#endif
#ifdef __NR_poll
	[__NR_poll] = {"poll", CALL_PLAIN},
#endif
#ifdef __NR_ppoll
	[__NR_ppoll] = {"poll", CALL_PLAIN},
#endif
#ifdef __NR_ppoll_time64
	[__NR_ppoll_time64] = {"poll", CALL_PLAIN},
#endif
#ifdef __NR_select
	[__NR_select] = {"select", CALL_PLAIN},
#endif
#ifdef __NR__newselect
	[__NR__newselect] = {"select", CALL_PLAIN},
#endif
#ifdef __NR_pselect6
	[__NR_pselect6] = {"select", CALL_PLAIN},
#endif
#ifdef __NR_pselect6_time64
	[__NR_pselect6_time64] = {"select", CALL_PLAIN},
#endif
#ifdef __NR_wait4
	[__NR_wait4] = {"wait4", CALL_PLAIN},
#endif
#ifdef __NR_waitid
	[__NR_waitid] = {"wait4", CALL_PLAIN},
#endif
#ifdef __NR_waitpid
	[__NR_waitpid] = {"wait4", CALL_PLAIN},
#endif
#ifdef __NR_pause
	[__NR_pause] = {"pause", CALL_PLAIN},
#endif
#ifdef __NR_rt_sigsuspend
	[__NR_rt_sigsuspend] = {"sigsuspend", CALL_PLAIN},
#endif
#ifdef __NR_sigsuspend
	[__NR_sigsuspend] = {"sigsuspend", CALL_PLAIN},
#endif
#ifdef __NR_rt_sigtimedwait
	[__NR_rt_sigtimedwait] = {"sigwait", CALL_PLAIN},
#endif
#ifdef __NR_rt_sigtimedwait_time64
	[__NR_rt_sigtimedwait_time64] = {"sigwait", CALL_PLAIN},
#endif
#ifdef __NR_io_getevents
	[__NR_io_getevents] = {"io_getevents", CALL_PLAIN},
#endif
#ifdef __NR_io_pgetevents
	[__NR_io_pgetevents] = {"io_getevents", CALL_PLAIN},
#endif
#ifdef __NR_io_pgetevents_time64
	[__NR_io_pgetevents_time64] = {"io_getevents", CALL_PLAIN},
#endif
#ifdef __NR_io_uring_enter
	[__NR_io_uring_enter] = {"io_uring", CALL_PLAIN},
#endif
#ifdef __NR_fsync
	[__NR_fsync] = {"fsync", CALL_PLAIN},
#endif
#ifdef __NR_fdatasync
	[__NR_fdatasync] = {"fsync", CALL_PLAIN},
#endif
#ifdef __NR_sync_file_range
	[__NR_sync_file_range] = {"fsync", CALL_PLAIN},
#endif
#ifdef __NR_arm_sync_file_range
	[__NR_arm_sync_file_range] = {"fsync", CALL_PLAIN},
#endif
#ifdef __NR_sync_file_range2
	[__NR_sync_file_range2] = {"fsync", CALL_PLAIN},
#endif
#ifdef __NR_sync
	[__NR_sync] = {"sync", CALL_PLAIN},
#endif
#ifdef __NR_syncfs
	[__NR_syncfs] = {"sync", CALL_PLAIN},
#endif
#ifdef __NR_msync
	[__NR_msync] = {"msync", CALL_PLAIN},
#endif
#ifdef __NR_flock
	[__NR_flock] = {"flock", CALL_PLAIN},
#endif
#ifdef __NR_fcntl
	[__NR_fcntl] = {"fcntl", CALL_FCNTL},
#endif
#ifdef __NR_fcntl64
	[__NR_fcntl64] = {"fcntl", CALL_FCNTL},
#endif
#ifdef __NR_semop
	[__NR_semop] = {"semop", CALL_PLAIN},
#endif
#ifdef __NR_semtimedop
	[__NR_semtimedop] = {"semop", CALL_PLAIN},
#endif
#ifdef __NR_semtimedop_time64
	[__NR_semtimedop_time64] = {"semop", CALL_PLAIN},
#endif
#ifdef __NR_msgrcv
	[__NR_msgrcv] = {"msgrcv", CALL_PLAIN},
#endif
#ifdef __NR_msgsnd
	[__NR_msgsnd] = {"msgsnd", CALL_PLAIN},
#endif
#ifdef __NR_ipc
	[__NR_ipc] = {"ipc", CALL_PLAIN},
#endif
#ifdef __NR_mq_timedreceive
	[__NR_mq_timedreceive] = {"mq_receive", CALL_PLAIN},
#endif
#ifdef __NR_mq_timedreceive_time64
	[__NR_mq_timedreceive_time64] = {"mq_receive", CALL_PLAIN},
#endif
#ifdef __NR_mq_timedsend
	[__NR_mq_timedsend] = {"mq_send", CALL_PLAIN},
#endif
#ifdef __NR_mq_timedsend_time64
	[__NR_mq_timedsend_time64] = {"mq_send", CALL_PLAIN},
#endif
#ifdef __NR_sched_yield
	[__NR_sched_yield] = {"sched_yield", CALL_PLAIN},
#endif
#ifdef __NR_restart_syscall
	[__NR_restart_syscall] = {"restart_syscall", CALL_RESTARTED},
#endif
#ifdef __NR_clone
	[__NR_clone] = {"clone", CALL_CLONE},
#endif
#ifdef __NR_clone3
	[__NR_clone3] = {"clone", CALL_PLAIN},
#endif
#ifdef __NR_fork
	[__NR_fork] = {"fork", CALL_PLAIN},
#endif
#ifdef __NR_vfork
	[__NR_vfork] = {"vfork", CALL_PLAIN},
#endif
#ifdef __NR_execve
	[__NR_execve] = {"execve", CALL_PLAIN},
#endif
#ifdef __NR_execveat
	[__NR_execveat] = {"execve", CALL_PLAIN},
#endif
#ifdef __NR_exit
	[__NR_exit] = {"exit", CALL_PLAIN},
#endif
#ifdef __NR_exit_group
	[__NR_exit_group] = {"exit", CALL_PLAIN},
#endif
#ifdef __NR_ptrace
	[__NR_ptrace] = {"ptrace", CALL_PLAIN},
#endif
#ifdef __NR_getrandom
	[__NR_getrandom] = {"getrandom", CALL_PLAIN},
#endif
#ifdef __NR_membarrier
	[__NR_membarrier] = {"membarrier", CALL_PLAIN},
#endif
#ifdef __NR_process_vm_readv
	[__NR_process_vm_readv] = {"process_vm_readv", CALL_PLAIN},
#endif
#ifdef __NR_process_vm_writev
	[__NR_process_vm_writev] = {"process_vm_writev", CALL_PLAIN},
#endif
#ifdef __NR_mbind
	[__NR_mbind] = {"mbind", CALL_PLAIN},
#endif
#ifdef __NR_migrate_pages
	[__NR_migrate_pages] = {"migrate_pages", CALL_PLAIN},
#endif
#ifdef __NR_move_pages
	[__NR_move_pages] = {"move_pages", CALL_PLAIN},
#endif
#ifdef __NR_bpf
	[__NR_bpf] = {"bpf", CALL_PLAIN},
#endif
#ifdef __NR_perf_event_open
	[__NR_perf_event_open] = {"perf_event_open", CALL_PLAIN},
#endif
#ifdef __NR_seccomp
	[__NR_seccomp] = {"seccomp", CALL_PLAIN},
#endif
#ifdef __NR_setns
	[__NR_setns] = {"setns", CALL_PLAIN},
#endif
#ifdef __NR_unshare
	[__NR_unshare] = {"unshare", CALL_PLAIN},
#endif
#ifdef __NR_mount
	[__NR_mount] = {"mount", CALL_PLAIN},
#endif
#ifdef __NR_delete_module
	[__NR_delete_module] = {"delete_module", CALL_PLAIN},
#endif
#ifdef __NR_reboot
	[__NR_reboot] = {"reboot", CALL_PLAIN},
#endif
#ifdef __NR_quotactl
	[__NR_quotactl] = {"quotactl", CALL_PLAIN},
#endif
#ifdef __NR_add_key
	[__NR_add_key] = {"add_key", CALL_PLAIN},
#endif
#ifdef __NR_request_key
	[__NR_request_key] = {"request_key", CALL_PLAIN},
#endif
#ifdef __NR_keyctl
	[__NR_keyctl] = {"keyctl", CALL_PLAIN},
#endif
#ifdef __NR_acct
	[__NR_acct] = {"acct", CALL_PLAIN},
#endif
#ifdef __NR_umount
	[__NR_umount] = {"umount", CALL_PLAIN},
#endif
#ifdef __NR_umount2
	[__NR_umount2] = {"umount", CALL_PLAIN},
#endif
#ifdef __NR_init_module
	[__NR_init_module] = {"init_module", CALL_PLAIN},
#endif
#ifdef __NR_finit_module
	[__NR_finit_module] = {"init_module", CALL_PLAIN},
#endif
#ifdef __NR_socketcall
	[__NR_socketcall] = {"socketcall", CALL_PLAIN},
#endif
#ifdef __NR_mmap
	[__NR_mmap] = {"mmap", CALL_PLAIN},
#endif
#ifdef __NR_mmap2
	[__NR_mmap2] = {"mmap", CALL_PLAIN},
#endif
#ifdef __NR_munmap
	[__NR_munmap] = {"munmap", CALL_PLAIN},
#endif
#ifdef __NR_mprotect
	[__NR_mprotect] = {"mprotect", CALL_PLAIN},
#endif
#ifdef __NR_mremap
	[__NR_mremap] = {"mremap", CALL_PLAIN},
#endif
#ifdef __NR_madvise
	[__NR_madvise] = {"madvise", CALL_PLAIN},
#endif
#ifdef __NR_brk
	[__NR_brk] = {"brk", CALL_PLAIN},
#endif
#ifdef __NR_mlockall
	[__NR_mlockall] = {"mlockall", CALL_PLAIN},
#endif
#ifdef __NR_mlock
	[__NR_mlock] = {"mlock", CALL_PLAIN},
#endif
#ifdef __NR_mlock2
	[__NR_mlock2] = {"mlock", CALL_PLAIN},
#endif
#ifdef __NR_munlock
	[__NR_munlock] = {"munlock", CALL_PLAIN},
#endif
#ifdef __NR_munlockall
	[__NR_munlockall] = {"munlock", CALL_PLAIN},
#endif
#ifdef __NR_process_madvise
	[__NR_process_madvise] = {"process_madvise", CALL_PLAIN},
#endif
#ifdef __NR_open
	[__NR_open] = {"open", CALL_PLAIN},
#endif
#ifdef __NR_openat
	[__NR_openat] = {"open", CALL_PLAIN},
#endif
#ifdef __NR_openat2
	[__NR_openat2] = {"open", CALL_PLAIN},
#endif
#ifdef __NR_creat
	[__NR_creat] = {"open", CALL_PLAIN},
#endif
#ifdef __NR_open_by_handle_at
	[__NR_open_by_handle_at] = {"open", CALL_PLAIN},
#endif
#ifdef __NR_close
	[__NR_close] = {"close", CALL_PLAIN},
#endif
#ifdef __NR_close_range
	[__NR_close_range] = {"close", CALL_PLAIN},
#endif
#ifdef __NR_stat
	[__NR_stat] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_lstat
	[__NR_lstat] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_fstat
	[__NR_fstat] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_newfstatat
	[__NR_newfstatat] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_statx
	[__NR_statx] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_stat64
	[__NR_stat64] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_lstat64
	[__NR_lstat64] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_fstat64
	[__NR_fstat64] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_fstatat64
	[__NR_fstatat64] = {"stat", CALL_PLAIN},
#endif
#ifdef __NR_statfs
	[__NR_statfs] = {"statfs", CALL_PLAIN},
#endif
#ifdef __NR_fstatfs
	[__NR_fstatfs] = {"statfs", CALL_PLAIN},
#endif
#ifdef __NR_statfs64
	[__NR_statfs64] = {"statfs", CALL_PLAIN},
#endif
#ifdef __NR_fstatfs64
	[__NR_fstatfs64] = {"statfs", CALL_PLAIN},
#endif
#ifdef __NR_access
	[__NR_access] = {"access", CALL_PLAIN},
#endif
#ifdef __NR_faccessat
	[__NR_faccessat] = {"access", CALL_PLAIN},
#endif
#ifdef __NR_faccessat2
	[__NR_faccessat2] = {"access", CALL_PLAIN},
#endif
#ifdef __NR_readlink
	[__NR_readlink] = {"readlink", CALL_PLAIN},
#endif
#ifdef __NR_readlinkat
	[__NR_readlinkat] = {"readlink", CALL_PLAIN},
#endif
#ifdef __NR_getdents
	[__NR_getdents] = {"getdents", CALL_PLAIN},
#endif
#ifdef __NR_getdents64
	[__NR_getdents64] = {"getdents", CALL_PLAIN},
#endif
#ifdef __NR_unlink
	[__NR_unlink] = {"unlink", CALL_PLAIN},
#endif
#ifdef __NR_unlinkat
	[__NR_unlinkat] = {"unlink", CALL_PLAIN},
#endif
#ifdef __NR_rename
	[__NR_rename] = {"rename", CALL_PLAIN},
#endif
#ifdef __NR_renameat
	[__NR_renameat] = {"rename", CALL_PLAIN},
#endif
#ifdef __NR_renameat2
	[__NR_renameat2] = {"rename", CALL_PLAIN},
#endif
#ifdef __NR_mkdir
	[__NR_mkdir] = {"mkdir", CALL_PLAIN},
#endif
#ifdef __NR_mkdirat
	[__NR_mkdirat] = {"mkdir", CALL_PLAIN},
#endif
#ifdef __NR_rmdir
	[__NR_rmdir] = {"rmdir", CALL_PLAIN},
#endif
#ifdef __NR_link
	[__NR_link] = {"link", CALL_PLAIN},
#endif
#ifdef __NR_linkat
	[__NR_linkat] = {"link", CALL_PLAIN},
#endif
#ifdef __NR_symlink
	[__NR_symlink] = {"symlink", CALL_PLAIN},
#endif
#ifdef __NR_symlinkat
	[__NR_symlinkat] = {"symlink", CALL_PLAIN},
#endif
#ifdef __NR_chmod
	[__NR_chmod] = {"chmod", CALL_PLAIN},
#endif
#ifdef __NR_fchmod
	[__NR_fchmod] = {"chmod", CALL_PLAIN},
#endif
#ifdef __NR_fchmodat
	[__NR_fchmodat] = {"chmod", CALL_PLAIN},
#endif
#ifdef __NR_chown
	[__NR_chown] = {"chown", CALL_PLAIN},
#endif
#ifdef __NR_fchown
	[__NR_fchown] = {"chown", CALL_PLAIN},
#endif
#ifdef __NR_lchown
	[__NR_lchown] = {"chown", CALL_PLAIN},
#endif
#ifdef __NR_fchownat
	[__NR_fchownat] = {"chown", CALL_PLAIN},
#endif
#ifdef __NR_truncate
	[__NR_truncate] = {"truncate", CALL_PLAIN},
#endif
#ifdef __NR_ftruncate
	[__NR_ftruncate] = {"truncate", CALL_PLAIN},
#endif
#ifdef __NR_truncate64
	[__NR_truncate64] = {"truncate", CALL_PLAIN},
#endif
#ifdef __NR_ftruncate64
	[__NR_ftruncate64] = {"truncate", CALL_PLAIN},
#endif
#ifdef __NR_fallocate
	[__NR_fallocate] = {"fallocate", CALL_PLAIN},
#endif
#ifdef __NR_fadvise64
	[__NR_fadvise64] = {"fadvise", CALL_PLAIN},
#endif
#ifdef __NR_fadvise64_64
	[__NR_fadvise64_64] = {"fadvise", CALL_PLAIN},
#endif
#ifdef __NR_readahead
	[__NR_readahead] = {"readahead", CALL_PLAIN},
#endif
#ifdef __NR_utimensat
	[__NR_utimensat] = {"utimens", CALL_PLAIN},
#endif
#ifdef __NR_utime
	[__NR_utime] = {"utimens", CALL_PLAIN},
#endif
#ifdef __NR_utimes
	[__NR_utimes] = {"utimens", CALL_PLAIN},
#endif
#ifdef __NR_futimesat
	[__NR_futimesat] = {"utimens", CALL_PLAIN},
#endif
#ifdef __NR_chdir
	[__NR_chdir] = {"chdir", CALL_PLAIN},
#endif
#ifdef __NR_fchdir
	[__NR_fchdir] = {"chdir", CALL_PLAIN},
#endif
#ifdef __NR_getxattr
	[__NR_getxattr] = {"getxattr", CALL_PLAIN},
#endif
#ifdef __NR_lgetxattr
	[__NR_lgetxattr] = {"getxattr", CALL_PLAIN},
#endif
#ifdef __NR_fgetxattr
	[__NR_fgetxattr] = {"getxattr", CALL_PLAIN},
#endif
#ifdef __NR_setxattr
	[__NR_setxattr] = {"setxattr", CALL_PLAIN},
#endif
#ifdef __NR_lsetxattr
	[__NR_lsetxattr] = {"setxattr", CALL_PLAIN},
#endif
#ifdef __NR_fsetxattr
	[__NR_fsetxattr] = {"setxattr", CALL_PLAIN},
#endif
#ifdef __NR_inotify_add_watch
	[__NR_inotify_add_watch] = {"inotify_add_watch", CALL_PLAIN},
#endif
#ifdef __NR_lseek
	[__NR_lseek] = {"lseek", CALL_PLAIN},
#endif
#ifdef __NR__llseek
	[__NR__llseek] = {"lseek", CALL_PLAIN},
#endif
#ifdef __NR_setuid
	[__NR_setuid] = {"setuid", CALL_PLAIN},
#endif
#ifdef __NR_setreuid
	[__NR_setreuid] = {"setuid", CALL_PLAIN},
#endif
#ifdef __NR_setresuid
	[__NR_setresuid] = {"setuid", CALL_PLAIN},
#endif
#ifdef __NR_socket
	[__NR_socket] = {"socket", CALL_PLAIN},
#endif
#ifdef __NR_bind
	[__NR_bind] = {"bind", CALL_PLAIN},
#endif
#ifdef __NR_listen
	[__NR_listen] = {"listen", CALL_PLAIN},
#endif
#ifdef __NR_getsockopt
	[__NR_getsockopt] = {"getsockopt", CALL_PLAIN},
#endif
#ifdef __NR_setsockopt
	[__NR_setsockopt] = {"setsockopt", CALL_PLAIN},
#endif
#ifdef __NR_socketpair
	[__NR_socketpair] = {"socketpair", CALL_PLAIN},
#endif
#ifdef __NR_pipe
	[__NR_pipe] = {"pipe", CALL_PLAIN},
#endif
#ifdef __NR_pipe2
	[__NR_pipe2] = {"pipe2", CALL_PLAIN},
#endif
#ifdef __NR_dup
	[__NR_dup] = {"dup", CALL_PLAIN},
#endif
#ifdef __NR_dup2
	[__NR_dup2] = {"dup2", CALL_PLAIN},
#endif
#ifdef __NR_dup3
	[__NR_dup3] = {"dup3", CALL_PLAIN},
#endif
#ifdef __NR_epoll_ctl
	[__NR_epoll_ctl] = {"epoll_ctl", CALL_PLAIN},
#endif
#ifdef __NR_eventfd2
	[__NR_eventfd2] = {"eventfd2", CALL_PLAIN},
#endif
#ifdef __NR_timerfd_settime
	[__NR_timerfd_settime] = {"timerfd_settime", CALL_PLAIN},
#endif
#ifdef __NR_timer_settime
	[__NR_timer_settime] = {"timer_settime", CALL_PLAIN},
#endif
#ifdef __NR_timer_delete
	[__NR_timer_delete] = {"timer_delete", CALL_PLAIN},
#endif
#ifdef __NR_kill
	[__NR_kill] = {"kill", CALL_PLAIN},
#endif
#ifdef __NR_tkill
	[__NR_tkill] = {"tkill", CALL_PLAIN},
#endif
#ifdef __NR_tgkill
	[__NR_tgkill] = {"tgkill", CALL_PLAIN},
#endif
#ifdef __NR_prctl
	[__NR_prctl] = {"prctl", CALL_PLAIN},
#endif
#ifdef __NR_sched_setaffinity
	[__NR_sched_setaffinity] = {"sched_setaffinity", CALL_PLAIN},
#endif
#ifdef __NR_sched_setscheduler
	[__NR_sched_setscheduler] = {"sched_setscheduler", CALL_PLAIN},
#endif
#ifdef __NR_sched_setattr
	[__NR_sched_setattr] = {"sched_setattr", CALL_PLAIN},
#endif
#ifdef __NR_setpriority
	[__NR_setpriority] = {"setpriority", CALL_PLAIN},
#endif
#ifdef __NR_io_setup
	[__NR_io_setup] = {"io_setup", CALL_PLAIN},
#endif
#ifdef __NR_io_destroy
	[__NR_io_destroy] = {"io_destroy", CALL_PLAIN},
#endif
#ifdef __NR_io_submit
	[__NR_io_submit] = {"io_submit", CALL_PLAIN},
#endif
#ifdef __NR_io_cancel
	[__NR_io_cancel] = {"io_cancel", CALL_PLAIN},
#endif
#ifdef __NR_io_uring_setup
	[__NR_io_uring_setup] = {"io_uring_setup", CALL_PLAIN},
#endif
#ifdef __NR_io_uring_register
	[__NR_io_uring_register] = {"io_uring_register", CALL_PLAIN},
#endif
#ifdef __NR_inotify_rm_watch
	[__NR_inotify_rm_watch] = {"inotify_rm_watch", CALL_PLAIN},
#endif
#ifdef __NR_fanotify_mark
	[__NR_fanotify_mark] = {"fanotify_mark", CALL_PLAIN},
#endif
#ifdef __NR_memfd_create
	[__NR_memfd_create] = {"memfd_create", CALL_PLAIN},
#endif
#ifdef __NR_mknod
	[__NR_mknod] = {"mknod", CALL_PLAIN},
#endif
#ifdef __NR_mknodat
	[__NR_mknodat] = {"mknodat", CALL_PLAIN},
#endif
#ifdef __NR_swapon
	[__NR_swapon] = {"swapon", CALL_PLAIN},
#endif
#ifdef __NR_swapoff
	[__NR_swapoff] = {"swapoff", CALL_PLAIN},
#endif
#ifdef __NR_pivot_root
	[__NR_pivot_root] = {"pivot_root", CALL_PLAIN},
#endif
#ifdef __NR_chroot
	[__NR_chroot] = {"chroot", CALL_PLAIN},
#endif
#ifdef __NR_setgroups
	[__NR_setgroups] = {"setgroups", CALL_PLAIN},
#endif
#ifdef __NR_set_mempolicy
	[__NR_set_mempolicy] = {"set_mempolicy", CALL_PLAIN},
#endif
#ifdef __NR_userfaultfd
	[__NR_userfaultfd] = {"userfaultfd", CALL_PLAIN},
#endif
#ifdef __NR_pidfd_getfd
	[__NR_pidfd_getfd] = {"pidfd_getfd", CALL_PLAIN},
#endif
#ifdef __NR_getrusage
	[__NR_getrusage] = {"getrusage", CALL_PLAIN},
#endif
#ifdef __NR_times
	[__NR_times] = {"times", CALL_PLAIN},
#endif
#ifdef __NR_sysinfo
	[__NR_sysinfo] = {"sysinfo", CALL_PLAIN},
#endif
#ifdef __NR_shmat
	[__NR_shmat] = {"shmat", CALL_PLAIN},
#endif
#ifdef __NR_shmdt
	[__NR_shmdt] = {"shmdt", CALL_PLAIN},
#endif
#ifdef __NR_shmctl
	[__NR_shmctl] = {"shmctl", CALL_PLAIN},
#endif
#ifdef __NR_semctl
	[__NR_semctl] = {"semctl", CALL_PLAIN},
#endif
#ifdef __NR_semget
	[__NR_semget] = {"semget", CALL_PLAIN},
#endif
#ifdef __NR_msgctl
	[__NR_msgctl] = {"msgctl", CALL_PLAIN},
#endif
#ifdef __NR_remap_file_pages
	[__NR_remap_file_pages] = {"remap_file_pages", CALL_PLAIN},
#endif
#ifdef __NR_landlock_restrict_self
	[__NR_landlock_restrict_self] = {"landlock_restrict_self", CALL_PLAIN},
#endif
#ifdef __NR_cachestat
	[__NR_cachestat] = {"cachestat", CALL_PLAIN},
#endif
#ifdef __NR_statmount
	[__NR_statmount] = {"statmount", CALL_PLAIN},
#endif
#ifdef __NR_listmount
	[__NR_listmount] = {"listmount", CALL_PLAIN},
#endif
#ifdef __NR_removexattr
	[__NR_removexattr] = {"removexattr", CALL_PLAIN},
#endif
#ifdef __NR_listxattr
	[__NR_listxattr] = {"listxattr", CALL_PLAIN},
#endif
#ifdef __NR_name_to_handle_at
	[__NR_name_to_handle_at] = {"name_to_handle_at", CALL_PLAIN},
#endif
	/* clang-format on */
