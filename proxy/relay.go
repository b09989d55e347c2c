package proxy

import (
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// burstSize is how many bytes of an answer gather before any leave; most pages fit and leave in one write.
	burstSize = 32 << 10
	// eventSize is the piece in which an answer is read that is passed on at once.
	eventSize = 4 << 10
	// pause is how long a backend may be silent before what has gathered is passed on.
	pause = 10 * time.Millisecond
)

var bursts = sync.Pool{New: func() any { return new([burstSize]byte) }}

// relay copies a backend's answer to the client. The backend is read at its own speed, so that a slow
// client never holds a worker: a short answer gathers in one buffer and leaves in one write; once it
// outgrows the buffer, or the backend pauses, a goroutine of the relay writes from a backlog and flushes
// whenever that runs empty.
type relay struct {
	client  clientWriter
	backlog backlog

	mu       sync.Mutex // guards phase, gathered and taken
	phase    phase
	gathered []byte
	taken    int           // bytes of gathered that the backlog has
	written  chan struct{} // closed when the relay's goroutine has ended
	writeErr error         // of that goroutine; read after written is closed
	broken   bool          // the answer broke off; set before the backlog ends
}

// newRelay returns a relay to w. Up to limit bytes that the client has not taken wait in a temp file.
func newRelay(w http.ResponseWriter, status int, limit int64) *relay {
	r := &relay{client: clientWriter{w: w, control: http.NewResponseController(w), status: status}}
	r.backlog.init("", limit)
	return r
}

type phase int

const (
	gathering phase = iota
	streaming       // the goroutine writes from the backlog
	settled         // the answer ended or failed before anything was sent
)

// copy relays all of src, in pieces as they come if atOnce, and returns the error of either side.
func (r *relay) copy(src io.Reader, atOnce bool) (backendErr, clientErr error) {
	if atOnce {
		r.stream()
		return r.pump(src, nil, eventSize, nil)
	}
	buffer := bursts.Get().(*[burstSize]byte)
	defer bursts.Put(buffer)
	var timer *time.Timer
	for have := 0; ; {
		n, err := src.Read(buffer[have:])
		have += n
		switch r.gather(buffer[:have:have], err) {
		case streaming:
			return r.pump(src, buffer[r.taken:have], burstSize, err)
		case settled:
			if timer != nil {
				timer.Stop()
			}
			if err != io.EOF {
				return err, nil
			}
			return nil, r.client.writeWhole(buffer[:have])
		}
		if timer == nil && have > 0 {
			timer = time.AfterFunc(pause, r.paused)
		}
	}
}

// gather notes all that has come so far and decides how to go on.
func (r *relay) gather(all []byte, err error) phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == streaming {
		return streaming
	}
	r.gathered = all
	if err != nil {
		r.phase = settled
	} else if len(all) == burstSize {
		r.stream()
	}
	return r.phase
}

// paused runs when the backend has been silent for a while after its first bytes.
func (r *relay) paused() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == gathering {
		r.stream()
	}
}

// stream hands what has gathered to a goroutine that writes from now on.
func (r *relay) stream() {
	r.phase, r.taken, r.written = streaming, len(r.gathered), make(chan struct{})
	if r.taken > 0 {
		// An empty backlog takes the first burst without waiting and without the disk.
		_ = r.backlog.put(r.gathered)
	}
	go r.write()
}

// pump reads src into the backlog, from late, which came before the goroutine took over, to the end, and
// waits until the client has all of it.
func (r *relay) pump(src io.Reader, late []byte, size int, err error) (backendErr, clientErr error) {
	putErr := r.put(late)
	buffer := make([]byte, size)
	for err == nil && putErr == nil {
		var n int
		n, err = src.Read(buffer)
		putErr = r.put(buffer[:n])
	}
	r.broken = err != nil && err != io.EOF
	r.backlog.finish()
	<-r.written
	if err == io.EOF {
		err = nil
	}
	if r.writeErr == nil {
		r.writeErr = putErr
	}
	return err, r.writeErr
}

func (r *relay) put(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	return r.backlog.put(append([]byte(nil), p...))
}

// write sends what the backlog has until that ends, and flushes whenever it is empty.
func (r *relay) write() {
	defer close(r.written)
	defer r.backlog.abandon()
	for {
		p, end, err := r.backlog.take()
		switch {
		case end && r.broken:
			// What came is the client's, and that it is not all must be seen after it.
			err = r.client.flush()
			fallthrough
		case err != nil || end:
			r.writeErr = err
			return
		case p != nil:
			err = r.client.write(p)
		default:
			if err = r.client.flush(); err == nil {
				r.backlog.wait()
			}
		}
		if err != nil {
			r.writeErr = err
			r.client.giveUp()
			return
		}
	}
}
