package meter

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	p, err := parseStat("42 (a) R (b)) S 7 1 1 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 3 0 1711525 3133440 380\n")
	want := process{identity: identity{42, 1711525}, name: "a) R (b)", parent: 7, own: 23 * tick, reaped: 27 * tick}
	if err != nil || p != want {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
}

func TestParseSockets(t *testing.T) {
	v6, err := parseTCP("0: 000080FE000000000000000000000001:0050 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 77 1")
	if err != nil || v6.local != netip.MustParseAddrPort("[fe80::100:0]:80") || !v6.listening || v6.inode != 77 {
		t.Errorf("%+v, %v", v6, err)
	}
	v4, err := parseTCP("  12: 0100007F:990B 0200000A:0CEA 01 00000000:00000000 00:00000000 00000000   0   0 30720636 2 0 100 0 0 10 0")
	if err != nil || v4.remote != netip.MustParseAddrPort("10.0.0.2:3306") || !v4.connected || v4.listening {
		t.Errorf("%+v, %v", v4, err)
	}
	bound, err := parseUnix("000000001846bb1a: 00000002 00000000 00010000 0001 01   563 /run/php/a  b.sock\n")
	if err != nil || bound != (socket{path: "/run/php/a  b.sock", inode: 563, listening: true}) {
		t.Errorf("%+v, %v", bound, err)
	}
	nameless, err := parseUnix("000000001846bb1a: 00000003 00000000 00000000 0001 03   564\n")
	if err != nil || nameless != (socket{inode: 564, connected: true}) {
		t.Errorf("%+v, %v", nameless, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("42 (a) R (b)) S 7 1 1 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 3 0 1711525 3133440 380\n")
	f.Add("1 () S")
	f.Fuzz(func(t *testing.T, line string) {
		if p, err := parseStat(line); err == nil && (p.pid < 1 || p.own < 0 || p.reaped < 0 || !strings.Contains(line, p.name)) {
			t.Errorf("%q: %+v", line, p)
		}
	})
}

func FuzzParseSockets(f *testing.F) {
	f.Add("  12: 0100007F:990B 0200000A:0CEA 01 00000000:00000000 00:00000000 00000000   0   0 30720636 2 0 100 0 0 10 0")
	f.Add("000000001846bb1a: 00000002 00000000 00010000 0001 01   563 /run/php/a  b.sock\n")
	f.Fuzz(func(t *testing.T, line string) {
		if s, err := parseTCP(line); err == nil && (!s.local.IsValid() || !s.remote.IsValid() || s.listening && s.connected) {
			t.Errorf("%q: %+v", line, s)
		}
		if s, err := parseUnix(line); err == nil && !strings.HasSuffix(strings.TrimSuffix(line, "\n"), s.path) {
			t.Errorf("%q: %+v", line, s)
		}
	})
}

func FuzzParseFigures(f *testing.F) {
	f.Add("some avg10=32.25 avg60=48.59 avg300=74.14 total=4952919346\nfull avg10=0.00 total=0\n")
	f.Add("Rss:  1728 kB\nPss:   263 kB\nPss_Anon:  112 kB\nPss_Shmem: 0 kB\n")
	f.Add("usage_usec 12\nthrottled_usec 3\n")
	f.Add("150000 100000\n")
	f.Add("cpu  100 1 50 800 10 0 9 30 7 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parsePressure(text); err == nil && !(p.avg10 >= 0 && p.avg10 <= 1 && p.total >= 0) {
			t.Errorf("pressure of %q: %+v", text, p)
		}
		if m, err := parseSmaps(text); err == nil && (m.PSS < 0 || m.PSSAnon < 0 || m.PSSShmem < 0 || m.RSS < 0) {
			t.Errorf("memory of %q: %+v", text, m)
		}
		if values, err := parseKeyed(text); err == nil && len(values) > strings.Count(text, "\n")+1 {
			t.Errorf("values of %q: %v", text, values)
		}
		if quota, err := parseQuota(text); err == nil && !(quota >= 0) {
			t.Errorf("quota of %q: %v", text, quota)
		}
		var m Machine
		if err := m.parseCPU(text); err == nil && (m.Busy < 0 || m.Idle < 0 || m.Stolen < 0 || m.Steal() > 1) {
			t.Errorf("machine of %q: %+v", text, m)
		}
	})
}

func FuzzParseFPMConfig(f *testing.F) {
	f.Add("[www] ; the only one\n")
	f.Add("listen = \"/run/php/$pool.sock\" ; comment\n")
	f.Fuzz(func(t *testing.T, line string) {
		section, key, value := parseSetting(line)
		if section != "" && (key != "" || value != "") || key != strings.TrimSpace(key) {
			t.Errorf("%q: %q, %q, %q", line, section, key, value)
		}
	})
}

func TestFPMConfiguration(t *testing.T) {
	f := newFake()
	f.process(11, 1, "php-fpm8.2", "php-fpm: master process (/etc/php/fpm.conf)   ")
	f.write("proc/11/root/etc/php/fpm.conf", "[global]\npid = /run/x\ninclude=/etc/php/pool.d/*.conf\ninclude=/etc/php/fpm.conf\n")
	f.write("proc/11/root/etc/php/pool.d/a.conf", "; first\n[shop]\nlisten = /run/$pool.sock\npm = static\npm.max_children = 7 ; enough\n")
	f.write("proc/11/root/etc/php/pool.d/b.conf", "[blog]\nlisten = 9000\n[wiki]\nlisten = \"127.0.0.1:9001\"\n")
	h, err := f.host().opened()
	if err != nil {
		t.Fatal(err)
	}
	pools := h.fpmPools(11)
	find := func(name string) pool {
		i := slices.IndexFunc(pools, func(p pool) bool { return p.Name == name })
		if i < 0 {
			t.Fatalf("no pool %s in %v", name, pools)
		}
		return pools[i]
	}
	if p := find("shop"); p.Listen() != "/run/shop.sock" || p.settings["pm.max_children"] != "7" {
		t.Errorf("shop: %v", p)
	}
	for addr, want := range map[string]string{"127.0.0.1:9000": "blog", "127.0.0.1:9001": "wiki", "127.0.0.1:9002": ""} {
		a, err := parseAddress("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range pools {
			if p.listensAt(a) {
				got = p.Name
				break
			}
		}
		if got != want {
			t.Errorf("%s: pool %q, want %q", addr, got, want)
		}
	}
}
