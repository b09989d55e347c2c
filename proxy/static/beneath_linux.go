package static

import "golang.org/x/sys/unix"

// openPath opens a directory for no more than finding names in it.
const openPath = unix.O_PATH

// beneath returns the quickest way to open a name without following a link: openat2 since Linux 5.6, unless
// a seccomp filter hides it, as those of older container runtimes do.
func beneath() func(dir int, name string, flags int) (int, error) {
	fd, err := openat2(unix.AT_FDCWD, ".", openPath)
	if err != nil {
		return walk
	}
	unix.Close(fd)
	return openat2
}

func openat2(dir int, name string, flags int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_LARGEFILE),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	return uninterrupted(func() (int, error) { return unix.Openat2(dir, name, &how) })
}
