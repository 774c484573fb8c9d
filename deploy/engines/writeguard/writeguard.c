/*
 * The write guard ends the process at the first write to a file that the disk refuses.
 *
 * The ClickHouse library ignores failed writes: chdb removed the exception from ClickHouse's
 * WriteBufferFromFileDescriptor::nextImpl, so the data is simply missing in the file. A disk that is full for a moment
 * leaves parts with empty files. These parts count as stored, replace the parts that they were merged from, and are
 * dropped at the next start. A process that ends has not acknowledged its unfinished writes, and its next start
 * removes them.
 *
 * `make engines` builds this library. `octavo serve` loads it before libc, by LD_PRELOAD, in the ClickHouse engine's
 * process only. There the functions below replace libc's functions, call them, and check their results.
 * cmd/engine/chserver refuses to start without the guard. Its tests compare the functions of the guard with the calls
 * of the ClickHouse library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* status is EX_IOERR of sysexits.h. */
enum { status = 74, no_descriptor = -1 };

/* passes_on returns whether fd is a socket, a pipe or a terminal. A failed write to such an fd loses no stored data. */
static int passes_on(int fd)
{
	struct stat file;
	return fd != no_descriptor && fstat(fd, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode);
}

/* check ends the process if error means that a file cannot be written. For any other error, it does nothing. */
static void check(const char *call, int fd, int error)
{
	switch (error) {
	case ENOSPC: case EDQUOT: case EFBIG: case EROFS: case EIO:
		if (passes_on(fd))
			return;
		dprintf(STDERR_FILENO, "writeguard level=ERROR msg=\"The disk is full or failing: the engine exits, so that "
			"no lost write counts as stored.\" call=%s errno=%d\n", call, error);
		_exit(status);
	}
}

/*
 * GUARD defines a function that calls libc's function of the same name. error_of is an expression for the error that
 * the result r means, or 0 for success. The constructor finds libc's function before the program starts. Constructors
 * of other libraries may run earlier and call the defined function, which then finds libc's function itself.
 */
#define GUARD(result, name, parameters, arguments, fd, error_of)             \
	static result (*libc_##name) parameters;                             \
	__attribute__((constructor)) static void find_##name(void)           \
	{                                                                    \
		*(void **)&libc_##name = dlsym(RTLD_NEXT, #name);            \
	}                                                                    \
	result name parameters                                               \
	{                                                                    \
		if (!libc_##name)                                            \
			find_##name();                                       \
		result r = libc_##name arguments;                            \
		int error = error_of;                                        \
		if (error) {                                                 \
			int before = errno;                                  \
			check(#name, fd, error);                             \
			errno = before;                                      \
		}                                                            \
		return r;                                                    \
	}

#define ERRNO (r == -1 ? errno : 0)

GUARD(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n), fd, ERRNO)
GUARD(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), fd, ERRNO)
GUARD(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at), fd, ERRNO)
GUARD(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at), fd, ERRNO)
GUARD(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), fd, ERRNO)
GUARD(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), fd, ERRNO)
GUARD(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int how), (fd, v, n, at, how), fd, ERRNO)
GUARD(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t at, int how), (fd, v, n, at, how), fd, ERRNO)
GUARD(ssize_t, sendfile, (int fd, int from, off_t *at, size_t n), (fd, from, at, n), fd, ERRNO)
GUARD(ssize_t, sendfile64, (int fd, int from, off64_t *at, size_t n), (fd, from, at, n), fd, ERRNO)
GUARD(ssize_t, copy_file_range, (int from, off64_t *start, int fd, off64_t *at, size_t n, unsigned how),
      (from, start, fd, at, n, how), fd, ERRNO)
GUARD(ssize_t, splice, (int from, off64_t *start, int fd, off64_t *at, size_t n, unsigned how),
      (from, start, fd, at, n, how), fd, ERRNO)
GUARD(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), fd, ERRNO)
GUARD(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n), fd, ERRNO)
GUARD(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), fd, r)
GUARD(int, posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n), fd, r)
GUARD(int, ftruncate, (int fd, off_t n), (fd, n), fd, ERRNO)
GUARD(int, ftruncate64, (int fd, off64_t n), (fd, n), fd, ERRNO)
GUARD(int, truncate, (const char *path, off_t n), (path, n), no_descriptor, ERRNO)
GUARD(int, truncate64, (const char *path, off64_t n), (path, n), no_descriptor, ERRNO)
/* The following calls report earlier writes that the kernel could not finish. */
GUARD(int, fsync, (int fd), (fd), fd, ERRNO)
GUARD(int, fdatasync, (int fd), (fd), fd, ERRNO)
GUARD(int, sync_file_range, (int fd, off64_t at, off64_t n, unsigned how), (fd, at, n, how), fd, ERRNO)
GUARD(int, syncfs, (int fd), (fd), fd, ERRNO)
GUARD(int, msync, (void *at, size_t n, int how), (at, n, how), no_descriptor, ERRNO)
GUARD(int, close, (int fd), (fd), no_descriptor, ERRNO)

/* descriptor_of returns the descriptor to which a call of syscall writes, or none if the call does not write. */
static int descriptor_of(long number, long first, long third, int none)
{
	switch (number) {
	case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_pwritev: case SYS_pwritev2: case SYS_sendfile:
	case SYS_fallocate: case SYS_ftruncate: case SYS_fsync: case SYS_fdatasync: case SYS_sync_file_range:
		return first;
	case SYS_copy_file_range: case SYS_splice:
		return third;
	}
	return none;
}

/* The ClickHouse library calls copy_file_range and fallocate by their numbers. */
static long (*libc_syscall)(long, ...);
__attribute__((constructor)) static void find_syscall(void)
{
	*(void **)&libc_syscall = dlsym(RTLD_NEXT, "syscall");
}
long syscall(long number, ...)
{
	va_list list;
	long a[6];
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!libc_syscall)
		find_syscall();
	long r = libc_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r == -1) {
		int before = errno, none = -2, fd = descriptor_of(number, a[0], a[2], none);
		if (fd != none)
			check("syscall", fd, before);
		errno = before;
	}
	return r;
}

/* octavo_guards returns whether this library defines function. */
int octavo_guards(const void *function)
{
	Dl_info of, own;
	return dladdr(function, &of) && dladdr((const void *)octavo_guards, &own) && of.dli_fbase == own.dli_fbase;
}
