package meter

import (
	"maps"
	"testing"
	"time"
)

func machine() fake {
	f := newFake()
	f.write("proc/stat", "cpu  100 1 50 800 10 0 9 30 7 0\ncpu0 100 1 50 800 10 0 9 30 7 0\nintr 1\n")
	f.write("proc/vmstat", "nr_free_pages 1\npswpin 5\npswpout 7\n")
	f.write("proc/pressure/cpu", "some avg10=32.25 avg60=48.59 avg300=74.14 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	f.write("proc/pressure/memory", "some avg10=50.00 avg60=0.87 avg300=1.11 total=2\n")
	f.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A Fast One\n\nprocessor\t: 1\nmodel name\t: A Fast One\n")
	f.write("proc/meminfo", "MemTotal:       24683652 kB\nMemFree: 1 kB\n")
	f.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
	f.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
	f.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n")
	f.write("sys/devices/system/cpu/cpufreq/scaling_governor", "no processor's\n")
	f.write("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n")
	f.write("sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: usercopy\n")
	f.write("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Vulnerable\n")
	return f
}

func readMachine(t *testing.T, h *Host) Machine {
	t.Helper()
	m, err := h.ReadMachine()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMachineBetweenTwoReadings(t *testing.T) {
	f := machine()
	before := readMachine(t, f.host())
	f.write("proc/stat", "cpu  140 1 60 820 10 0 9 60 7 0\n")
	f.write("proc/vmstat", "pswpin 9\n")
	f.write("proc/pressure/cpu", "some avg10=50.00 avg60=0 avg300=0 total=1500000\n")
	f.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")
	m := readMachine(t, f.host()).Since(before)
	if m.Busy != 500*time.Millisecond || m.Idle != 200*time.Millisecond || m.Stolen != 300*time.Millisecond || m.Steal() != 0.3 {
		t.Errorf("busy %v, idle %v, stolen %v (%v)", m.Busy, m.Idle, m.Stolen, m.Steal())
	}
	if m.SwapIns != 4 || m.Stalled.CPU != 500*time.Millisecond || m.Pressure.CPU != 0.5 || m.Pressure.Memory != 0.5 {
		t.Errorf("swap-ins %d, stalled %v, pressure %+v", m.SwapIns, m.Stalled, m.Pressure)
	}
	if want := "performance, powersave, then performance"; m.Governor != want {
		t.Errorf("governor = %q, want %q", m.Governor, want)
	}
	if m.Took <= 0 || m.StalledCPU() <= 0 || (Machine{}).Steal() != 0 || (Machine{}).StalledCPU() != 0 {
		t.Errorf("took %v", m.Took)
	}
}

func TestFacts(t *testing.T) {
	facts, err := machine().host().Facts()
	want := map[string]string{"cpu": "A Fast One", "processors": "2", "memory": "24683652 kB", "kernel": "6.1.0-18-amd64",
		"governor": "performance, powersave", "mitigations": "1 on, vulnerable: spectre_v2"}
	if err != nil || !maps.Equal(facts, want) {
		t.Errorf("%v, %v; want %v", facts, err, want)
	}
	facts, err = newFake().host().Facts()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range facts {
		if value != Unknown {
			t.Errorf("%s of an empty machine = %q, want unknown", name, value)
		}
	}
}

func TestMachineThatCannotBeRead(t *testing.T) {
	for _, file := range []string{"proc/stat", "proc/vmstat", "proc/pressure/cpu"} {
		f := machine()
		f.write(file, "nonsense\n")
		if _, err := f.host().ReadMachine(); err == nil {
			t.Errorf("no error for a bad %s", file)
		}
	}
}
