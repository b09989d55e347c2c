package static

import (
	"strings"

	"golang.org/x/sys/unix"
)

// walk opens name below dir one segment at a time and follows no link: one in any place is ELOOP.
func walk(dir int, name string, flags int) (int, error) {
	at := dir
	for {
		segment, rest, more := strings.Cut(name, "/")
		more = more && rest != ""
		step := flags
		if more {
			step = openPath | unix.O_DIRECTORY
		}
		fd, err := openSegment(at, segment, step)
		if at != dir {
			unix.Close(at)
		}
		if err != nil || !more {
			return fd, err
		}
		at, name = fd, rest
	}
}

func openSegment(at int, segment string, flags int) (int, error) {
	flags |= unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := uninterrupted(func() (int, error) { return unix.Openat(at, segment, flags, 0) })
	if err == unix.ENOTDIR && isLink(at, segment) {
		err = unix.ELOOP // with O_DIRECTORY Linux does not say that it met a link
	}
	return fd, err
}

func isLink(at int, segment string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(at, segment, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// openDirectory opens the directory that name leads to, through whatever links.
func openDirectory(at int, name string) (int, error) {
	flags := openPath | unix.O_DIRECTORY | unix.O_CLOEXEC
	return uninterrupted(func() (int, error) { return unix.Openat(at, name, flags, 0) })
}

// uninterrupted repeats open while signals get in its way, as they do on network file systems.
func uninterrupted(open func() (int, error)) (int, error) {
	for {
		fd, err := open()
		if err != unix.EINTR {
			return fd, err
		}
	}
}
