package proxy

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"gateway/upstream/spool"
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
	counted bool             // the first burst is of the budget as well
	buffer  *[burstSize]byte // of the first burst, and what is read into after it

	mu       sync.Mutex // guards phase, gathered and taken
	phase    phase
	gathered []byte
	taken    int           // bytes of gathered that the backlog has
	written  chan struct{} // closed when the relay's goroutine has ended
	writeErr error         // of that goroutine; read after written is closed
	broken   bool          // the answer broke off; set before the backlog ends
}

// newRelay returns a relay to w, the answer to r. What the client has not taken waits in storage.
//
// On a connection the kernel takes a short answer, whatever its client does. On a stream of HTTP/2 the client says how
// much, which may be nothing on hundreds of them, so there the first burst counts.
func newRelay(w http.ResponseWriter, r *http.Request, status int, storage storage) *relay {
	return &relay{
		client:  clientWriter{w: w, control: *http.NewResponseController(w), status: status},
		backlog: backlog{storage: storage},
		counted: r.ProtoMajor > 1,
	}
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
		return r.finish(r.pump(src, make([]byte, eventSize), nil, nil))
	}
	buffer := r.takeBuffer()
	if buffer == nil {
		return r.copy(src, true)
	}
	var timer *time.Timer
	for have := 0; ; {
		n, err := src.Read(buffer[have:])
		have += n
		switch r.gather(buffer[:have], err) {
		case streaming:
			backendErr, putErr := r.pump(src, buffer[:], buffer[r.taken:have], err)
			r.giveBuffer() // a slow client shall not keep it
			return r.finish(backendErr, putErr)
		case settled:
			if timer != nil {
				timer.Stop()
			}
			if backendErr = err; err == io.EOF {
				backendErr, clientErr = nil, r.client.writeWhole(buffer[:have])
			}
			r.giveBuffer()
			return backendErr, clientErr
		}
		if timer == nil && have > 0 {
			timer = time.AfterFunc(pause, r.paused)
		}
	}
}

// takeBuffer returns nil when the budget is asked and has none.
func (r *relay) takeBuffer() *[burstSize]byte {
	if r.counted {
		r.buffer = (*[burstSize]byte)(r.backlog.budget.Take())
	} else {
		r.buffer = bursts.Get().(*[burstSize]byte)
	}
	return r.buffer
}

func (r *relay) giveBuffer() {
	switch {
	case r.buffer == nil:
	case r.counted:
		r.backlog.budget.Give((*spool.Piece)(r.buffer))
	default:
		bursts.Put(r.buffer)
	}
	r.buffer = nil
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
	r.backlog.open()
	// An empty backlog takes a burst without waiting for anybody.
	_ = r.backlog.put(r.gathered)
	go r.write()
}

// pump reads src into the backlog, from late, which came before the goroutine took over, to the end. Buffer is read
// into, and may hold late.
func (r *relay) pump(src io.Reader, buffer, late []byte, err error) (backendErr, putErr error) {
	for putErr = r.backlog.put(late); err == nil && putErr == nil; {
		var n int
		n, err = src.Read(buffer)
		putErr = r.backlog.put(buffer[:n])
	}
	return err, putErr
}

// finish ends the backlog and waits until the client has all of it.
func (r *relay) finish(backendErr, putErr error) (error, error) {
	if backendErr == io.EOF {
		backendErr = nil
	}
	r.broken = backendErr != nil
	r.backlog.finish()
	<-r.written
	switch {
	case errors.Is(r.writeErr, errSpooled):
		return r.writeErr, nil // the client must see it, and is not to blame
	case r.writeErr == nil:
		r.writeErr = putErr
	}
	return backendErr, r.writeErr
}

// close gives back what the relay holds. After a panic its goroutine may be at work still, on memory that nobody else
// may have before it has ended, which it does with the connection.
func (r *relay) close() {
	r.mu.Lock()
	written := r.written
	r.phase = settled
	r.mu.Unlock()
	r.giveBuffer()
	if written == nil {
		return
	}
	select {
	case <-written:
		r.backlog.close()
	default:
		r.backlog.finish()
		go func() {
			<-written
			r.backlog.close()
		}()
	}
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
