package static

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A tree is a directory below which files are opened without following links.
type tree struct {
	fd    int
	owned bool   // closed with the file that was opened in it
	small *cache // nil if files in it are not kept
}

// A file is a regular file, open for reading or in memory. It is an io.ReadSeeker without a lock or a system
// call of its own until it is read; a large one is given to sendfile as an *os.File.
type file struct {
	state
	fd     int
	data   []byte   // not nil if the file is in memory, and then there is no fd
	opened *os.File // nil until large is called
	pos    int64
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
	if in.small != nil {
		if found, ok := in.small.find(in.fd, name); ok {
			return &file{state: found.state, data: found.data, in: in, name: name}, nil
		}
	}
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
	return &file{state: stateOf(&st), fd: fd, in: in, name: name}, nil
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
	if f.data != nil {
		return nil
	}
	if f.opened != nil {
		return f.opened.Close()
	}
	return unix.Close(f.fd)
}

// detach makes it safe to read the file while it is closed, or after.
func (f *file) detach() {
	if f.data == nil {
		f.large()
	}
}

// large makes the *os.File that sendfile wants.
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
	if f.data != nil {
		n := copy(p, f.data[min(f.pos, f.size):])
		f.pos += int64(n)
		if n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
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
