/*
 * The functions in this file fail with the error number in the environment variable REFUSE, as libc's functions fail on
 * a failing disk. The test puts them behind the write guard, in place of libc's functions. They ignore the arguments
 * that the guard passes.
 */
#include <errno.h>
#include <stdlib.h>

#define REFUSE(name) long name(void) { errno = atoi(getenv("REFUSE")); return -1; }
#define RETURN(name) long name(void) { return atoi(getenv("REFUSE")); }

REFUSE(close) REFUSE(copy_file_range) REFUSE(fallocate) REFUSE(fallocate64) REFUSE(fdatasync) REFUSE(fsync)
REFUSE(ftruncate) REFUSE(ftruncate64) REFUSE(msync) REFUSE(pwrite) REFUSE(pwrite64) REFUSE(pwritev) REFUSE(pwritev2)
REFUSE(pwritev64) REFUSE(pwritev64v2) REFUSE(sendfile) REFUSE(sendfile64) REFUSE(splice) REFUSE(sync_file_range)
REFUSE(syncfs) REFUSE(syscall) REFUSE(truncate) REFUSE(truncate64) REFUSE(write) REFUSE(writev)
RETURN(posix_fallocate) RETURN(posix_fallocate64)
