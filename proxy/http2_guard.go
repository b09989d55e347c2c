package proxy

import (
	"errors"
	"sync"
	"time"
)

// What a client may send that costs us and brings nothing. A browser that scrolls through a gallery cancels what it no
// longer shows, and one on a fast line acknowledges every few kilobytes; both stay far below.
const (
	resetBurst, resetRate     = 400, 40   // streams that end before their answer does, by either side; per second
	controlBurst, controlRate = 1000, 100 // frames without a request or a body in them; per second
	controlPerRequest         = 8         // of these, that a request allows besides
	controlPerData            = 2         // that each piece of an answer allows, and each KiB of it one
	continuations             = 64        // frames of one head
)

var (
	errResetFlood        = errors.New("too many streams were reset")
	errControlFlood      = errors.New("too many frames without content")
	errContinuationFlood = errors.New("a head in too many frames")
)

// http2Guard counts the frames of one connection. net/http bounds what it keeps for a client, but not how often it lets
// a client make it work for nothing.
type http2Guard struct {
	mu       sync.Mutex // guards what both directions use
	resets   bucket
	controls bucket

	in, out frameScanner // each belongs to its direction
	frames  int          // that have come
	heads   int          // of requests, and trailers
	inHead  bool         // a head has begun whose last frame is still to come
	pieces  int          // frames of that head
}

func newHTTP2Guard(now time.Time) *http2Guard {
	return &http2Guard{
		resets:   newResets(now),
		controls: bucket{level: controlBurst, most: controlBurst, rate: controlRate, at: now},
		in:       frameScanner{skip: prefaceSize},
	}
}

// read notes what the client sent. An error means that the connection has to end.
func (g *http2Guard) read(p []byte, now time.Time) error {
	return g.in.scan(p, func(f frameHead) error { return g.received(f, now) })
}

func (g *http2Guard) received(f frameHead, now time.Time) error {
	g.frames++
	switch {
	case f.kind == frameHeaders:
		g.heads++
		g.inHead, g.pieces = f.flags&flagEndHeaders == 0, 1
		g.allow(controlPerRequest)
		return nil
	case f.kind == frameContinuation:
		g.inHead = f.flags&flagEndHeaders == 0
		if g.pieces++; g.pieces > continuations {
			return errContinuationFlood
		}
		return nil
	case f.kind == frameData && (f.length > 0 || f.flags&flagEndStream != 0):
		return nil
	case (f.kind == frameSettings || f.kind == framePing) && f.flags&flagAck != 0:
		return nil // the answers to ours, which are few
	case f.kind == frameReset:
		return g.reset(now)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.controls.take(now) {
		return errControlFlood
	}
	return nil
}

// unfinished returns a number for the head, be it a request's or a frame's, that has come in part. It is another number
// for another head, and zero when there is none.
func (g *http2Guard) unfinished() int {
	kind := g.in.head[3]
	switch {
	case g.inHead, g.in.skip > 0 && (kind == frameHeaders || kind == frameContinuation):
		return g.heads
	case g.in.have > 0:
		return -1 - g.frames
	}
	return 0
}

// wrote notes what was sent to the client: a stream can be made to fail by us as well as it can be reset.
func (g *http2Guard) wrote(p []byte, now time.Time) error {
	return g.out.scan(p, func(f frameHead) error {
		switch f.kind {
		case frameReset:
			return g.reset(now)
		case frameData:
			g.allow(controlPerData + f.length>>10)
		}
		return nil
	})
}

func (g *http2Guard) reset(now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.resets.take(now) {
		return errResetFlood
	}
	return nil
}

func (g *http2Guard) allow(frames int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.controls.level = min(g.controls.most, g.controls.level+float64(frames))
}

// bucket holds what may be taken at once, and fills at a rate.
type bucket struct {
	level, most float64
	rate        float64 // per second
	at          time.Time
}

func newResets(now time.Time) bucket {
	return bucket{level: resetBurst, most: resetBurst, rate: resetRate, at: now}
}

func (b *bucket) take(now time.Time) bool {
	b.level = min(b.most, b.level+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.level < 1 {
		return false
	}
	b.level--
	return true
}
