package proxy

// tunnelBuffer is what one direction of a tunnel reads into: little, since most tunnels are idle most of the time,
// and one of bursts while more arrives than that takes.
type tunnelBuffer struct {
	idle  [512]byte
	burst *[burstSize]byte // nil while idle will do
}

func (b *tunnelBuffer) bytes() []byte {
	if b.burst != nil {
		return b.burst[:]
	}
	return b.idle[:]
}

// resize makes room after a read that filled what there was, and gives it back after one that did not.
func (b *tunnelBuffer) resize(n int) {
	switch {
	case n < len(b.bytes()):
		b.free()
	case b.burst == nil:
		b.burst = bursts.Get().(*[burstSize]byte)
	}
}

func (b *tunnelBuffer) free() {
	if b.burst != nil {
		bursts.Put(b.burst)
		b.burst = nil
	}
}
