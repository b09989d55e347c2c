package stack

import (
	"net"
	"os"
	"path/filepath"
)

// RedisServer is a Redis on a unix socket.
type RedisServer struct {
	service
	Socket string
}

// RedisTLS is a Redis that speaks TLS only, with a certificate and key in PEM files.
func RedisTLS(t T, password, certFile, keyFile string) (addr string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gw")
	if err != nil {
		t.Fatalf("redis: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	start(t, 1, func(addrs []string) *service {
		addr = addrs[0]
		_, port, _ := net.SplitHostPort(addr)
		return &service{
			name: "redis", log: filepath.Join(dir, "log"), env: os.Environ(),
			argv: []string{
				installed(t, "redis-server"), "--bind", "127.0.0.1", "--port", "0", "--tls-port", port, "--requirepass", password,
				"--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile, "--tls-auth-clients", "no",
				"--save", "", "--appendonly", "no", "--dir", dir,
			},
			ready: func() error {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					return err
				}
				return conn.Close()
			},
		}
	})
	return addr
}

// Redis starts a Redis with a password, which keeps nothing on disk and ends with the test.
func Redis(t T, password string) *RedisServer {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gw")
	if err != nil {
		t.Fatalf("redis: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &RedisServer{Socket: filepath.Join(dir, "redis.sock")}
	start(t, 0, func([]string) *service {
		r.service.name, r.service.log, r.service.env = "redis", filepath.Join(dir, "log"), os.Environ()
		r.service.argv = []string{
			installed(t, "redis-server"), "--port", "0", "--unixsocket", r.Socket, "--requirepass", password,
			"--save", "", "--appendonly", "no", "--dir", dir,
		}
		r.service.ready = func() error {
			conn, err := net.Dial("unix", r.Socket)
			if err != nil {
				return err
			}
			return conn.Close()
		}
		return &r.service
	})
	return r
}
