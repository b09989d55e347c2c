//go:build stack

package meter

import (
	"strings"
	"testing"

	"gateway/testdata/stack"
)

func TestFingerprintOfRealBackends(t *testing.T) {
	b, pool := theFPM(t, stack.FPMConfig{Children: 3, PM: "dynamic", MaxRequests: 70, Env: map[string]string{"APP_DEBUG": "1"}})
	server := stack.Resident(t, 2)
	franken := stack.FrankenPHP(t)
	b.ask(1)
	tree, err := FindByAddress("unix", pool.Socket)
	if err != nil {
		t.Fatal(err)
	}
	application := stack.App(t).Source + "/laravel"
	told := func(i Inspection, want map[string]string) {
		t.Helper()
		got := i.Fingerprint(t.Context())
		for key, value := range want {
			if got[key] != value && !(strings.HasSuffix(value, "*") && strings.HasPrefix(got[key], strings.TrimSuffix(value, "*"))) {
				t.Errorf("%s of %s = %q, want %q", key, i.Address, got[key], value)
			}
		}
	}
	i := Inspection{Network: "unix", Address: pool.Socket, Tree: tree, Application: application}
	outside := map[string]string{KeyKind: "fpm", KeyPHP: "8.2", KeyOPcache: "on", KeyOPcacheMemory: "128", KeyJIT: "off", KeyXdebug: "off",
		KeyManager: "dynamic", KeyMaxChildren: "3", KeyMaxRequests: "70", KeyProbe: "not asked", KeySAPI: Unknown}
	told(i, outside)
	i.Scripts = newScripts(t, "unix", pool.Socket)
	outside[KeyPHP], outside[KeySAPI], outside[KeyOPcacheValidate], outside[KeyProbe] = "8.2.*", "fpm-fcgi", "off", "answered"
	told(i, outside)
	if p, err := runProbe(t.Context(), i.Scripts, ""); err != nil || p.Environment["APP_DEBUG"] != "1" {
		t.Errorf("%+v, %v; want the environment of the pool", p, err)
	}
	for address, want := range map[string]map[string]string{
		server.Addr:  {KeyKind: "php", KeyPHP: "8.2", KeyOPcache: "on", KeyOPcacheMemory: "128", KeyJIT: "off", KeyWorkers: "2"},
		franken.Addr: {KeyKind: "frankenphp", KeyPHP: "8.2", KeyOPcache: "on", KeyXdebug: "off", KeyWorkers: Unknown},
	} {
		if tree, err = FindByAddress("tcp", address); err != nil {
			t.Fatal(err)
		}
		told(Inspection{Network: "tcp", Address: address, Tree: tree}, want)
	}
}

func TestRealStatusPage(t *testing.T) {
	_, pool := theFPM(t, stack.FPMConfig{Children: 3})
	for _, socket := range []string{pool.Socket, strings.TrimPrefix(pool.StatusAddr, "unix:")} {
		s, err := ReadFPMStatus(t.Context(), newScripts(t, "unix", socket), "/fpm-status")
		if err != nil || s.Pool != "www" || s.Manager != "static" || s.Processes != 3 || s.Accepted == 0 {
			t.Errorf("%s: %+v, %v; want three children of www", socket, s, err)
		}
		if _, err := ReadFPMStatus(t.Context(), newScripts(t, "unix", socket), "/no-such-page"); err == nil {
			t.Errorf("%s: no error for another page", socket)
		}
	}
}
