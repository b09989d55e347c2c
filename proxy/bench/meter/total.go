package meter

import "sync"

// Total adds up what a tree uses from one look to the next, so that what is counted between two looks that are further
// apart holds as well: a worker that was replaced in each of ten stretches was replaced ten times. It may be used
// concurrently.
type Total struct {
	tree *Tree

	mu   sync.Mutex // guards the fields below
	last Usage
	sum  Usage
}

// NewTotal begins to count.
func NewTotal(t *Tree) (*Total, error) {
	u, err := t.Read()
	return &Total{tree: t, last: u}, err
}

// Look returns what was used since NewTotal, sizes and numbers of processes as they are now, and in Peak the greatest.
func (t *Total) Look() (Usage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, err := t.tree.Read()
	if err != nil {
		return Usage{}, err
	}
	d := now.Since(t.last)
	t.last = now
	d.Took += t.sum.Took
	d.CPU += t.sum.CPU
	d.CPUMixed = d.CPUMixed || t.sum.CPUMixed
	d.Peak = max(d.Peak, t.sum.Peak)
	d.Started += t.sum.Started
	d.Ended += t.sum.Ended
	d.Restarts += t.sum.Restarts
	d.Throttled += t.sum.Throttled
	d.OOMKills += t.sum.OOMKills
	d.Stalled = d.Stalled.plus(t.sum.Stalled)
	t.sum = d
	return d, nil
}
