package compare

// hunk is a stretch that is not common to both: a0 to a1 of the one stands where b0 to b1 of the other does. A hunk whose
// parts are equal covers what is common; see diff.
type hunk struct{ a0, a1, b0, b1 int }

// maxEdits is how many insertions and deletions are looked for. Beyond, what is between the first and the last of them is
// taken for different as a whole.
const maxEdits = 200

// diff pairs two sequences of hashes: it returns hunks that cover both, in their order. What is common comes as hunks of
// equal lengths, item by item, since equal hashes may still hide something that is to be counted.
func diff(a, b []uint64) []hunk {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var all []hunk
	if head > 0 {
		all = append(all, hunk{0, head, 0, head})
	}
	for _, h := range myers(a[head:len(a)-tail], b[head:len(b)-tail]) {
		all = append(all, hunk{h.a0 + head, h.a1 + head, h.b0 + head, h.b1 + head})
	}
	if tail > 0 {
		all = append(all, hunk{len(a) - tail, len(a), len(b) - tail, len(b)})
	}
	return all
}

// myers finds the fewest edits (Myers 1986), up to maxEdits, in time and memory that depend on those and the lengths.
func myers(a, b []uint64) []hunk {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	var trace [][]int
	// reach[k+offset] is how far along a the diagonal k = x-y can be followed.
	const offset = maxEdits + 1
	reach := make([]int, 2*offset+1)
	for edits := 0; edits <= maxEdits; edits++ {
		trace = append(trace, append([]int(nil), reach[offset-edits-1:offset+edits+2]...))
		for k := -edits; k <= edits; k += 2 {
			x := reach[offset+k-1] + 1
			if k == -edits || k != edits && reach[offset+k-1] < reach[offset+k+1] {
				x = reach[offset+k+1]
			}
			for x < len(a) && x-k >= 0 && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(trace, len(a), len(b))
			}
		}
	}
	return []hunk{{0, len(a), 0, len(b)}}
}

// backtrack follows the trace from the end, and joins edits that touch.
func backtrack(trace [][]int, x, y int) []hunk {
	var steps []hunk // from the last to the first, of one edit or one common stretch
	for edits := len(trace) - 1; edits >= 0; edits-- {
		at := func(k int) int { return trace[edits][k+edits+1] }
		k := x - y
		from := k - 1
		if k == -edits || k != edits && at(k-1) < at(k+1) {
			from = k + 1
		}
		fromX := at(from)
		if edits == 0 {
			fromX, from = 0, 0
		}
		fromY := fromX - from
		// The common stretch comes after the edit.
		startX, startY := fromX, fromY
		if edits > 0 && from < k {
			startX++
		} else if edits > 0 {
			startY++
		}
		if x > startX {
			steps = append(steps, hunk{startX, x, startY, y})
		}
		if edits > 0 {
			steps = append(steps, hunk{fromX, startX, fromY, startY})
		}
		x, y = fromX, fromY
	}
	return joined(steps)
}

// joined turns the steps round and makes one hunk of edits that follow each other.
func joined(steps []hunk) (all []hunk) {
	edit := func(h hunk) bool { return h.a1 == h.a0 || h.b1 == h.b0 }
	open := false
	for i := len(steps) - 1; i >= 0; i-- {
		h := steps[i]
		if open && edit(h) {
			all[len(all)-1].a1, all[len(all)-1].b1 = h.a1, h.b1
			continue
		}
		open = edit(h)
		all = append(all, h)
	}
	return all
}
