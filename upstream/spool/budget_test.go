package spool

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func held(t *testing.T, b *Budget, memory, disk int64) {
	t.Helper()
	if u := b.Usage(); u.Memory != memory || u.Disk != disk {
		t.Errorf("%d bytes of memory and %d of disk are held, want %d and %d", u.Memory, u.Disk, memory, disk)
	}
}

func TestSmallBodyCostsTheBudgetNothing(t *testing.T) {
	b := NewBudget(0, 0, nil)
	s := newSpool(t, Config{Budget: b})
	if _, err := s.ReadFrom(bytes.NewReader(pattern(firstRoom))); err != nil {
		t.Error(err)
	}
	held(t, b, 0, 0)
}

func TestSpoolGivesBackWhatItTook(t *testing.T) {
	b := NewBudget(1<<20, 1<<20, nil)
	in := pattern(200 << 10)
	s := newSpool(t, Config{Budget: b})
	if _, err := s.ReadFrom(bytes.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	held(t, b, 2*PieceSize, 192<<10) // 4 KiB of 64 are free, and the file has three steps
	s.Close()
	held(t, b, 0, 0)
}

func TestSpentMemorySendsTheRestToDisk(t *testing.T) {
	b := NewBudget(PieceSize, 1<<20, nil)
	in := pattern(100 << 10)
	for name, fill := range map[string]func(*Spool) (int64, error){
		"ReadFrom": func(s *Spool) (int64, error) { return s.ReadFrom(bytes.NewReader(in)) },
		"Write":    func(s *Spool) (int64, error) { return io.Copy(struct{ io.Writer }{s}, bytes.NewReader(in)) },
	} {
		s := newSpool(t, Config{Budget: b})
		if _, err := fill(s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		held(t, b, PieceSize, 64<<10) // 36 KiB stayed in memory
		s.CloseWrite(nil)
		if out, err := io.ReadAll(s.NewReader()); err != nil || !bytes.Equal(out, in) {
			t.Errorf("%s: %d bytes came back, %v", name, len(out), err)
		}
		s.Close()
		held(t, b, 0, 0)
	}
}

func TestPiecesAreCountedAndUsedAgain(t *testing.T) {
	const many = 3 * slabPieces
	b := NewBudget(many*PieceSize, 0, nil)
	for range 2 {
		seen := make(map[*Piece]bool)
		for i := range many {
			p := b.Take()
			if p == nil || seen[p] {
				t.Fatalf("piece %d is %p, which is none or had already", i, p)
			}
			seen[p] = true
			p[0], p[PieceSize-1] = byte(i), byte(i)
		}
		if b.Take() != nil {
			t.Error("more than the limit")
		}
		extra := b.Overdraw()
		held(t, b, (many+1)*PieceSize, 0)
		b.Give(extra)
		for p := range seen {
			if p[0] != p[PieceSize-1] {
				t.Error("two pieces overlap")
			}
			b.Give(p)
		}
		held(t, b, 0, 0)
	}
	if warm, all := len(b.pieces.warm), len(b.pieces.warm)+len(b.pieces.cold); warm != warmPieces || all > many+slabPieces {
		t.Errorf("%d pieces stay, %d in all", warm, all)
	}
}

func TestSpentDiskIsAnErrorThatPasses(t *testing.T) {
	said := 0
	b := NewBudget(0, 128<<10, func(error) { said++ })
	for range 2 {
		s := newSpool(t, Config{Budget: b})
		_, err := s.ReadFrom(bytes.NewReader(pattern(1 << 20)))
		var failed *Error
		if !errors.As(err, &failed) || !failed.Full() || failed.RetryAfter() == 0 || !errors.Is(err, ErrSpent) {
			t.Errorf("ReadFrom = %v, want an error that passes", err)
		}
		s.Close()
	}
	held(t, b, 0, 0)
	if b.Usage().Refused != 2 || said != 1 {
		t.Errorf("%d refused, said %d times; want 2 and once", b.Usage().Refused, said)
	}
	b.SetLimits(0, 4<<20)
	if _, err := newSpool(t, Config{Budget: b}).ReadFrom(bytes.NewReader(pattern(1 << 20))); err != nil {
		t.Errorf("with a higher limit: %v", err)
	}
}

func TestFullDiskPassesAndOtherFaultsDoNot(t *testing.T) {
	for err, full := range map[error]bool{
		syscall.ENOSPC: true, syscall.EDQUOT: true, ErrSpent: true, syscall.EIO: false, os.ErrNotExist: false,
	} {
		if e := (&Error{Op: "write", Dir: "/tmp", Err: err}); e.Full() != full || (e.RetryAfter() > 0) != full {
			t.Errorf("%v: full is %t, to be tried again after %s", e, e.Full(), e.RetryAfter())
		}
	}
}

// TestWhoComesLastFindsRoom fills the disk's budget with files that nobody frees.
func TestWhoComesLastFindsRoom(t *testing.T) {
	b := NewBudget(0, 16<<20, nil)
	var sizes []int64
	for range 7 {
		f := NewFile(t.TempDir(), 0, b)
		t.Cleanup(func() { f.Close() })
		for f.WriteAt(make([]byte, fileStep), f.Held()) == nil {
		}
		sizes = append(sizes, f.Held())
	}
	if sizes[0] != 8<<20 {
		t.Errorf("the first got %d bytes, want half", sizes[0])
	}
	for _, size := range sizes {
		if size < 64<<10 {
			t.Fatalf("sizes are %v; want room for everyone", sizes)
		}
	}
}

func TestFileSystemIsNotFilledUp(t *testing.T) {
	if got := beyondReserve(3<<30, 100<<30); got != 2<<30 {
		t.Errorf("of 3 GiB of 100 %d may be used, want 2 GiB", got)
	}
	if got := beyondReserve(300<<20, 1<<30); got != 300<<20-(1<<30)/20 {
		t.Errorf("of 300 MiB of 1 GiB %d may be used, want a twentieth of 1 GiB less", got)
	}
	b := NewBudget(0, 1<<40, nil)
	f := NewFile(t.TempDir(), 0, b)
	defer f.Close()
	if err := f.WriteAt(pattern(10), 0); err != nil {
		t.Fatal(err)
	}
	b.rest.exhausted()
	if err := f.WriteAt(pattern(fileStep), 10); !errors.Is(err, ErrSpent) {
		t.Errorf("WriteAt = %v with no room left on the file system", err)
	}
	held(t, b, 0, fileStep)
	b.rest.looked.Store(0) // a second later
	if err := f.WriteAt(pattern(fileStep), 10); err != nil {
		t.Error(err)
	}
}

// TestFullDiskIsNoRoomForAnybody: what others have taken since the last look is seen at the first write that fails.
func TestFullDiskIsNoRoomForAnybody(t *testing.T) {
	b := NewBudget(0, 1<<40, nil)
	full, other := NewFile(t.TempDir(), 0, b), NewFile(t.TempDir(), 0, b)
	defer other.Close()
	defer full.Close()
	for _, f := range []*File{full, other} {
		if err := f.WriteAt(pattern(10), 0); err != nil {
			t.Fatal(err)
		}
	}
	device, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	full.file.Close()
	full.file = device
	var failed *Error
	if err := full.WriteAt(pattern(10), 10); !errors.As(err, &failed) || !failed.Full() || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("WriteAt = %v, want that there is no room", err)
	}
	if err := other.WriteAt(pattern(fileStep), 10); !errors.Is(err, ErrSpent) {
		t.Errorf("WriteAt of another = %v, want that there is no room", err)
	}
}

func TestFileGivesBackWhatWasRead(t *testing.T) {
	b := NewBudget(0, 16<<20, nil)
	f := NewFile(t.TempDir(), 0, b)
	in := pattern(4 << 20)
	if err := f.WriteAt(in, 0); err != nil {
		t.Fatal(err)
	}
	f.Free(3<<20 + 1)
	if f.solid {
		t.Log("no part of a file can be given back here")
	} else if f.Held() != 1<<20 {
		t.Errorf("%d bytes are held, want what was not freed", f.Held())
	}
	rest := make([]byte, 1<<20)
	if _, err := f.ReadAt(rest, 3<<20); err != nil || !bytes.Equal(rest, in[3<<20:]) {
		t.Errorf("what was not freed does not come back: %v", err)
	}
	f.Empty()
	held(t, b, 0, 0)
	if err := f.WriteAt(in[:10], 0); err != nil {
		t.Error(err)
	}
	f.Close()
	f.Free(1 << 20)
	f.Empty()
	held(t, b, 0, 0)
	if err := f.WriteAt(in[:10], 0); err != os.ErrClosed {
		t.Errorf("WriteAt to a closed file = %v", err)
	}
}

// TestNothingIsLostWhenAllCloseAtOnce closes spools while they are written to.
func TestNothingIsLostWhenAllCloseAtOnce(t *testing.T) {
	b := NewBudget(256<<10, 8<<20, nil)
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 32 {
		s := New(Config{Dir: dir, Budget: b})
		begun := make(chan struct{})
		all.Go(func() {
			in := io.MultiReader(strings.NewReader("x"), readerFunc(func([]byte) (int, error) { close(begun); return 0, io.EOF }),
				bytes.NewReader(pattern(1<<20)))
			// How it ends depends on who is first.
			_, _ = s.ReadFrom(in)
			s.Close()
		})
		all.Go(func() { <-begun; s.Close() })
	}
	all.Wait()
	held(t, b, 0, 0)
}

// TestPieceIsNobodyElsesWhileItIsRead closes a spool whose writer is in the middle of a Read.
func TestPieceIsNobodyElsesWhileItIsRead(t *testing.T) {
	b := NewBudget(PieceSize, 0, nil)
	s := newSpool(t, Config{Budget: b})
	begun, may := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		_, err := s.ReadFrom(io.MultiReader(bytes.NewReader(pattern(firstRoom)), readerFunc(func(p []byte) (int, error) {
			close(begun)
			<-may
			return len(p), nil
		})))
		done <- err
	}()
	<-begun
	s.Close()
	if b.Take() != nil {
		t.Error("the piece is given back while it is read into")
	}
	close(may)
	if err := <-done; err != os.ErrClosed {
		t.Errorf("ReadFrom = %v", err)
	}
	held(t, b, 0, 0)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// BenchmarkBudget is what 64 KiB more of a file cost.
func BenchmarkBudget(b *testing.B) {
	budget := NewBudget(1<<30, 1<<40, nil)
	f, err := tempFile(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			p := budget.Take()
			budget.Give(p)
		}
	})
	b.Run("disk", func(b *testing.B) {
		for b.Loop() {
			budget.takeDisk(fileStep, 0, f)
			budget.giveDisk(fileStep)
		}
	})
}
