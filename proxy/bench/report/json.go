package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
)

// mostBytes is the largest file that is read.
const mostBytes = 256 << 20

// mostBlocks is how many blocks a file may have; a run has some dozens.
const mostBlocks = 10_000

// ErrLater is a result that a later version of the gateway has written.
var ErrLater = errors.New("written by a later gateway")

var errResult = errors.New("not the result of a bench")

// Write writes a result as JSON, in one line. Read gives it back as it was.
func Write(w io.Writer, r *bench.Result) error { return json.NewEncoder(w).Encode(r) }

// Read reads what Write wrote, up to 256 MiB. It returns an error wrapping ErrLater for a later schema than bench.Schema, and
// one that says what is wrong with anything that is no result, so that who reads it may rely on its indices and sums.
func Read(source io.Reader) (*bench.Result, error) {
	text, err := io.ReadAll(io.LimitReader(source, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", errResult, mostBytes)
	}
	var head struct{ Schema int }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", errResult, err)
	}
	switch {
	case head.Schema > bench.Schema:
		return nil, fmt.Errorf("%w: schema %d; this one knows up to %d", ErrLater, head.Schema, bench.Schema)
	case head.Schema < 1:
		return nil, fmt.Errorf("%w: it has no schema", errResult)
	}
	r := new(bench.Result)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%w: %w", errResult, err)
	}
	if err := check(r); err != nil {
		return nil, fmt.Errorf("%w: %w", errResult, err)
	}
	return r, nil
}

// check says what of a result does not fit together.
func check(r *bench.Result) error {
	arms := len(r.Arms)
	switch v := r.Verdict; {
	case arms < 1 || arms > 2:
		return fmt.Errorf("%d arms", arms)
	case len(r.Blocks) > mostBlocks:
		return fmt.Errorf("%d blocks", len(r.Blocks))
	case !(r.Settings.Confidence > 0 && r.Settings.Confidence < 1):
		return fmt.Errorf("confidence %g", r.Settings.Confidence)
	case colors[v.State] == "":
		return fmt.Errorf("verdict %q", v.State)
	case v.Winner < -1 || v.Winner >= arms || v.Winner >= 0 && v.State != bench.Valid:
		return fmt.Errorf("%s, and arm %d wins", v.State, v.Winner)
	}
	for _, f := range r.Figures {
		if len(f.Of) != 0 && len(f.Of) != arms || len(f.Of) == 0 && f.Empty == "" {
			return fmt.Errorf("figure %s of %d arms", f.Name, len(f.Of))
		}
	}
	for _, f := range r.Findings {
		if f.Arm < -1 || f.Arm >= arms {
			return fmt.Errorf("a finding about arm %d", f.Arm)
		}
	}
	for i := range r.Blocks {
		if err := checkBlock(&r.Blocks[i], arms, len(r.Routes)); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

func checkBlock(b *bench.Block, arms, routes int) error {
	switch {
	case b.Block == nil:
		return errors.New("nothing in it")
	case b.Arm < 0 || b.Arm >= arms || b.Position < 0 || b.Position > 1:
		return fmt.Errorf("arm %d at position %d", b.Arm, b.Position)
	case !addsUp(b.Counts) || !addsUp(b.Warmup):
		return fmt.Errorf("requests issued, %+v and %+v of the warm-up, do not add up", b.Counts, b.Warmup)
	case b.Response.Count() > b.Good:
		return fmt.Errorf("%d response times of %d good answers", b.Response.Count(), b.Good)
	case len(b.Routes) > routes:
		return fmt.Errorf("%d routes of %d", len(b.Routes), routes)
	}
	return nil
}

// addsUp says whether every request that was issued ended in one way.
func addsUp(c load.Counts) bool {
	return min(c.Issued, c.Good, c.Bad, c.Hung, c.Failed) >= 0 && c.Issued == c.Good+c.Bad+c.Hung+c.Failed
}
