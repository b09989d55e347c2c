package proxy

import (
	"context"
	"errors"
	"os"
	"sync"

	"gateway/conf"
	"gateway/proxy/bench"
	"gateway/proxy/bench/meter"
)

// meters reads what the processes behind an arm use, from when it was opened on.
type meters struct {
	trees []*meter.Tree

	mu      sync.Mutex // guards what follows
	last    []meter.Usage
	machine meter.Machine
	total   bench.Usage
}

var errOurselves = errors.New("it is this process")

// meterOf returns the meter for the processes behind some backends. An error says why nobody can tell what they use: they
// are on another machine, or another user's.
func meterOf(backends []conf.Endpoint) (*meters, error) {
	m := new(meters)
	seen := map[int]bool{}
	for _, backend := range backends {
		tree, err := meter.FindByAddress(backend.Network, backend.Address)
		if err != nil {
			return nil, err
		}
		switch pid := tree.Pid(); {
		case pid == os.Getpid():
			return nil, errOurselves
		case seen[pid] && tree.Kind != meter.KindFPM:
			continue // one server at several addresses; pools of FPM share their master alone
		default:
			seen[pid] = true
		}
		usage, err := tree.Read()
		if err != nil {
			return nil, err
		}
		m.trees, m.last = append(m.trees, tree), append(m.last, usage)
	}
	var err error
	m.machine, err = meter.ReadMachine()
	return m, err
}

// look is what has been used since the meter began, but for memory and for the shares of the machine's time: those are of
// now, and since the look before.
func (m *meters) look(context.Context) (bench.Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total.Memory, m.total.Processes = 0, 0
	for i, tree := range m.trees {
		now, err := tree.Read()
		if err != nil {
			return bench.Usage{}, err
		}
		m.add(now, now.Since(m.last[i]))
		m.last[i] = now
	}
	machine, err := meter.ReadMachine()
	if err != nil {
		return bench.Usage{}, err
	}
	meanwhile := machine.Since(m.machine)
	m.machine = machine
	m.total.Stolen, m.total.Pressure = meanwhile.Steal(), meanwhile.StalledCPU()
	return m.total, nil
}

// add takes in one tree as it is now and what it has used since it was looked at last. Its memory is the proportional one
// whatever its group says, so that arms with and without a group can be compared.
func (m *meters) add(now, since meter.Usage) {
	m.total.Source = now.Source
	m.total.CPU += since.CPU
	m.total.Restarts += since.Restarts
	m.total.OOMKills += int(since.OOMKills)
	m.total.Memory += now.PSS
	m.total.Processes += now.Processes
}
