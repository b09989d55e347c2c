package meter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Machine is what the whole machine has done since it began, or with Since between two readings.
type Machine struct {
	Took time.Duration `json:"took_ns"` // between the readings; zero for one alone
	// Busy, Idle and Stolen add up over all processors. Stolen is what the virtual machine wanted and others had.
	Busy    time.Duration `json:"busy_ns"`
	Idle    time.Duration `json:"idle_ns"`
	Stolen  time.Duration `json:"stolen_ns"`
	SwapIns int64         `json:"swap_ins"` // pages
	Stalled Stalled       `json:"stalled"`
	// Pressure is that of the ten seconds before the (second) reading.
	Pressure Pressure `json:"pressure"`
	Governor string   `json:"governor"`

	at time.Time
}

// ReadMachine reads what the machine has done.
func (h *Host) ReadMachine() (Machine, error) {
	o, err := h.opened()
	if err != nil {
		return Machine{}, err
	}
	m := Machine{at: time.Now(), Governor: o.governor()}
	text, err := o.text("proc/stat")
	if err == nil {
		err = m.parseCPU(text)
	}
	if err != nil {
		return m, fmt.Errorf("read the machine: %w", err)
	}
	if m.SwapIns, err = o.swapIns(); err != nil {
		return m, fmt.Errorf("read the machine: %w", err)
	}
	m.Pressure, m.Stalled, err = o.pressures("proc/pressure/cpu", "proc/pressure/memory", "proc/pressure/io")
	return m, err
}

// parseCPU reads the first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. Guests' time is
// in that of user and nice.
func (m *Machine) parseCPU(text string) error {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return fmt.Errorf("stat begins with %.80q", line)
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 38) // eight of them do not overflow in nanoseconds
		if err != nil || n < 0 {
			return fmt.Errorf("stat begins with %.80q", line)
		}
		spent := time.Duration(n) * tick
		switch i {
		case 3, 4:
			m.Idle += spent
		case 7:
			m.Stolen = spent
		default:
			m.Busy += spent
		}
	}
	return nil
}

// swapIns counts the pages that were read back from disk.
func (h *host) swapIns() (int64, error) {
	all, err := h.keyed("proc/vmstat")
	return all["pswpin"], err
}

// governor says how the speed of the processors is chosen; several where they differ.
func (h *host) governor() string {
	return h.eachCPU("cpufreq/scaling_governor")
}

// Since is what the machine did between an earlier reading and m.
func (m Machine) Since(before Machine) Machine {
	m.Took = m.at.Sub(before.at)
	m.Busy -= before.Busy
	m.Idle -= before.Idle
	m.Stolen -= before.Stolen
	m.SwapIns -= before.SwapIns
	m.Stalled = m.Stalled.minus(before.Stalled)
	if m.Governor != before.Governor {
		m.Governor = before.Governor + ", then " + m.Governor
	}
	return m
}

// Steal is the share of the processors' time, 0 to 1, that others had.
func (m Machine) Steal() float64 {
	all := m.Busy + m.Idle + m.Stolen
	if all <= 0 {
		return 0
	}
	return float64(m.Stolen) / float64(all)
}

// StalledCPU is the share of the time between two readings, 0 to 1, in which some process waited for a processor.
func (m Machine) StalledCPU() float64 {
	if m.Took <= 0 {
		return 0
	}
	return float64(m.Stalled.CPU) / float64(m.Took)
}
