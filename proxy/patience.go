package proxy

import "time"

// patience is for how long a client is still waited for. Only waiting uses it up, and only enough bytes restore it: as
// many as rate asks for in the full time. So a pause may be as long as that, but not one after each byte.
type patience struct {
	full time.Duration
	rate int64 // bytes a second; zero means that any byte is enough
	left time.Duration
	got  int64 // bytes since it was full
}

func (p *patience) restore() { p.left, p.got = p.full, 0 }

// spend takes what has been waited since begun for n bytes.
func (p *patience) spend(begun time.Time, n int64) {
	if p.got += n; n > 0 && p.got >= p.enough() {
		p.restore()
		return
	}
	p.left -= time.Since(begun)
}

// enough is how many bytes restore it.
func (p *patience) enough() int64 { return int64(p.full.Seconds() * float64(p.rate)) }
