package static

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A tree is a directory below which files are opened without following links.
type tree struct {
	fd    int
	owned bool // closed with the file that was opened in it
}

// A file is a regular file, open for reading. It is an io.ReadSeeker without a lock or a system call of its
// own until it is read; a large one is given to sendfile as an *os.File.
type file struct {
	fd     int
	opened *os.File // nil until large is called
	pos    int64
	size   int64
	mtime  time.Time
	ctime  time.Time
	inode  uint64
	in     tree
	name   string // in the tree
}

func (t tree) close() {
	if t.owned {
		unix.Close(t.fd)
	}
}

// openIn opens name in a tree, which it closes with the file, or at once if there is none. What is a
// directory or otherwise no regular file is an error.
func (f *Files) openIn(in tree, name string) (*file, error) {
	// Without O_NONBLOCK a pipe that somebody left in the public folder would hold the request for ever.
	fd, err := f.beneath(in.fd, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		in.close()
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = wantRegular(uint32(st.Mode))
	}
	if err != nil {
		in.close()
		unix.Close(fd)
		return nil, err
	}
	return &file{
		fd: fd, size: st.Size, in: in, name: name,
		mtime: time.Unix(st.Mtim.Unix()), ctime: time.Unix(st.Ctim.Unix()), inode: uint64(st.Ino),
	}, nil
}

func wantRegular(mode uint32) error {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFDIR:
		return errDirectory
	}
	return errSpecial
}

func (f *file) Close() error {
	f.in.close()
	if f.opened != nil {
		return f.opened.Close()
	}
	return unix.Close(f.fd)
}

// large makes the *os.File that sendfile wants, or that must outlive a request that is cut short.
func (f *file) large() *os.File {
	if f.opened == nil {
		f.opened = os.NewFile(uintptr(f.fd), f.name)
	}
	return f.opened
}

// Seek moves the position of the next Read. It makes no system call.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		offset += f.size
	}
	f.pos = offset
	return offset, nil
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.large().ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// readFull fills p from the position, without an *os.File, and returns how much of it there was.
func (f *file) readFull(p []byte) (int, error) {
	read := 0
	for read < len(p) {
		n, err := unix.Pread(f.fd, p[read:], f.pos+int64(read))
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return read, err
		}
		read += n
	}
	return read, nil
}
