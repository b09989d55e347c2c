//go:build stack

package fastcgi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// newFPM returns a transport to a pool of its own.
func newFPM(t *testing.T, cfg stack.FPMConfig, edit ...func(*Config)) (*Transport, *stack.Pool) {
	t.Helper()
	pool := stack.FPM(t, cfg)
	c := Config{Network: "unix", Address: pool.Socket}
	if cfg.TCP {
		c.Network, c.Address = "tcp", pool.TCPAddr
	}
	for _, e := range edit {
		e(&c)
	}
	tr, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr, pool
}

// php makes an Env whose front controller is code.
func php(t *testing.T, code string) *Env {
	t.Helper()
	env := newEnv()
	env.Root = t.TempDir()
	if err := os.WriteFile(filepath.Join(env.Root, "index.php"), []byte("<?php\n"+code), 0o644); err != nil {
		t.Fatal(err)
	}
	return env
}

// again is the same Env for another request.
func again(env *Env, params ...Param) *Env {
	e := newEnv()
	e.Root, e.Params = env.Root, params
	return e
}

func TestFPMAnswers(t *testing.T) {
	for name, cfg := range map[string]stack.FPMConfig{"unix": {}, "tcp": {TCP: true}} {
		tr, _ := newFPM(t, cfg)
		env := php(t, `header('X-Script: ' . $_SERVER['SCRIPT_FILENAME']); echo $_SERVER['REQUEST_URI'];`)
		resp, body := send(t, tr, newRequestEnv(t, env, "GET", ""))
		if resp.StatusCode != 200 || body != "/cart?id=7" || resp.Header.Get("X-Script") != env.Root+"/index.php" {
			t.Errorf("%s: %d %q %v", name, resp.StatusCode, body, resp.Header)
		}
	}
}

func TestFPMTakesLargeParams(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	env := php(t, `$n = 0; $i = 0; for (; isset($_SERVER["P$i"]); $i++) $n += strlen($_SERVER["P$i"]); echo "$i $n";`)
	for _, size := range []int{1000, 8000, 32_700, 60_000, maxContent - 8} {
		for _, total := range []int{33_000, 65_528, 70_000, 300_000, 1_030_000} {
			var params []Param
			sum := 0
			for left := total; left > 0; left -= size {
				params = append(params, Param{"P" + strconv.Itoa(len(params)), strings.Repeat("v", min(left, size))})
				sum += min(left, size)
			}
			_, body := send(t, tr, newRequestEnv(t, again(env, params...), "GET", ""))
			if want := fmt.Sprintf("%d %d", len(params), sum); body != want {
				t.Errorf("pairs of %d bytes: PHP has %q, want %q", size, body, want)
			}
		}
	}
	e := refusal(t, tr, newRequestEnv(t, again(env, Param{"P0", strings.Repeat("v", maxContent)}), "GET", ""))
	if !errors.Is(e, ErrParamsTooLarge) {
		t.Errorf("error = %v, want ErrParamsTooLarge", e)
	}
}

func TestFPMSendsALongHeaderLine(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	env := php(t, `header('Link: ' . str_repeat('l', 20480)); setcookie('a', '1'); setcookie('b', '2'); echo 'ok';`)
	resp, body := send(t, tr, newRequestEnv(t, env, "GET", ""))
	if len(resp.Header.Get("Link")) != 20480 || len(resp.Header["Set-Cookie"]) != 2 || body != "ok" {
		t.Errorf("Link has %d bytes, %d cookies, body %q", len(resp.Header.Get("Link")), len(resp.Header["Set-Cookie"]), body)
	}
}

func TestFPMWorkerKilledMidBody(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	for _, head := range []string{"", "header('Content-Length: 100000');"} {
		env := php(t, head+`echo getmypid(), "\n", str_repeat('x', 20000); flush(); sleep(30);`)
		resp, err := tr.RoundTrip(newRequestEnv(t, env, "GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 8000)
		if _, err := io.ReadFull(resp.Body, first); err != nil {
			t.Fatal(err)
		}
		line, _, _ := bytes.Cut(first, []byte("\n"))
		pid, err := strconv.Atoi(string(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, ErrTruncated) {
			t.Errorf("error = %v, want ErrTruncated", err)
		}
		await(t, resp.Body.(*body).Released(), "release")
	}
}

func TestFPMReloadUnderLoad(t *testing.T) {
	for name, kept := range map[string]int{"fresh": 0, "kept": 2} {
		t.Run(name, func(t *testing.T) {
			tr, pool := newFPM(t, stack.FPMConfig{}, keep(kept))
			env := php(t, `usleep(2000); echo 'ok';`)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for !isClosed(stop) {
						if err := fetchRetrying(tr, again(env)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			pool.Reload(t)
			pool.Reload(t)
			close(stop)
			wg.Wait()
		})
	}
}

// fetchRetrying is a GET that is sent once more where that is right: when nothing of it can have been seen, and when a
// reused connection ended before an answer.
func fetchRetrying(tr *Transport, env *Env) error {
	var err error
	for range 3 {
		if err = fetchOnce(tr, env); err == nil {
			return nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.SafeToRetry() && !e.Reused() {
			return err
		}
		tr.CloseIdle()
	}
	return err
}

func fetchOnce(tr *Transport, env *Env) error {
	r, err := http.NewRequestWithContext(WithEnv(context.Background(), env), "GET", "http://shop.example/", nil)
	if err != nil {
		return err
	}
	resp, err := tr.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && string(b) != "ok" {
		err = fmt.Errorf("body = %q", b)
	}
	return err
}

func TestFPMBacklogFull(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{Children: 1, Backlog: 1})
	env := php(t, `sleep(1); echo 'ok';`)
	results := make(chan error, 8)
	for range cap(results) {
		go func() { results <- fetchOnce(tr, again(env)) }()
	}
	busy, served := 0, 0
	for range cap(results) {
		err := <-results
		e, ok := errors.AsType[*Error](err)
		switch {
		case err == nil:
			served++
		case ok && e.Busy() && e.SafeToRetry() && !e.Timeout():
			busy++
		default:
			t.Errorf("error = %v, want busy", err)
		}
	}
	if busy == 0 || served == 0 {
		t.Errorf("%d busy, %d served, want some of each", busy, served)
	}
}

func TestFPMMaxRequestsOnKeptConnections(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{Children: 2, MaxRequests: 3}, keep(1))
	env := php(t, `echo 'ok';`)
	for range 20 {
		if err := fetchRetrying(tr, again(env)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFPMWithoutBody(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	for _, c := range []struct {
		method, code string
		want         int
	}{
		{"HEAD", `header('Content-Length: 5'); echo 'hello';`, 200},
		{"GET", `http_response_code(204);`, 204},
		{"GET", `http_response_code(304); header('ETag: "x"');`, 304},
	} {
		resp, body := send(t, tr, newRequestEnv(t, php(t, c.code), c.method, ""))
		if resp.StatusCode != c.want || body != "" {
			t.Errorf("%s %s: %d %q", c.method, c.code, resp.StatusCode, body)
		}
	}
}

func TestFPMStderr(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	env := php(t, `error_log('before'); echo 'a'; flush(); error_log('after'); echo 'b';`)
	_, body := send(t, tr, newRequestEnv(t, env, "GET", ""))
	lines := strings.Join(env.Stderr(), "\n")
	if body != "ab" || !strings.Contains(lines, "before") || !strings.Contains(lines, "after") {
		t.Errorf("body %q, stderr %q", body, lines)
	}
}

func TestFPMMissingScript(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	env := newEnv()
	env.Root = t.TempDir()
	resp, _ := send(t, tr, newRequestEnv(t, env, "GET", ""))
	if resp.StatusCode != 404 || len(env.Stderr()) == 0 {
		t.Errorf("status = %d, stderr %q, want 404 and a line", resp.StatusCode, env.Stderr())
	}
}

// digest is a script that says what it was sent.
const digest = `$b = file_get_contents('php://input'); echo $_SERVER['CONTENT_LENGTH'], ' ', strlen($b), ' ', hash('sha256', $b);`

func digestOf(b []byte) string {
	return fmt.Sprintf("%d %d %x", len(b), len(b), sha256.Sum256(b))
}

func TestFPMUpload(t *testing.T) {
	page := bytes.Repeat([]byte("0123456789abcde\n"), 20<<16)
	for name, kept := range map[string]int{"fresh": 0, "kept": 1} {
		tr, _ := newFPM(t, stack.FPMConfig{}, keep(kept))
		env := php(t, digest)
		for _, n := range []int{1, 9, smallMessage, smallMessage + 1, 64 << 10, maxContent * 2, len(page)} {
			r := withBody(t, WithEnv(t.Context(), again(env)), "POST", bytes.NewReader(page[:n]))
			if _, body := send(t, tr, r); body != digestOf(page[:n]) {
				t.Errorf("%s: PHP got %q, want %q", name, body, digestOf(page[:n]))
			}
		}
	}
}

func TestFPMAnswersBeforeReading(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	page := bytes.Repeat([]byte("x"), 10<<20)
	env := php(t, `for ($i = 0; $i < 64; $i++) { echo str_repeat('y', 65536); flush(); }`+digest)
	r := withBody(t, WithEnv(t.Context(), env), "POST", bytes.NewReader(page))
	if _, body := send(t, tr, r); len(body) < 4<<20 || body[4<<20:] != digestOf(page) {
		t.Errorf("%d bytes, ending %q", len(body), body[min(len(body), 4<<20):])
	}
	env = php(t, `echo 'unread';`)
	r = withBody(t, WithEnv(t.Context(), env), "POST", bytes.NewReader(page))
	if _, body := send(t, tr, r); body != "unread" {
		t.Errorf("body = %q", body)
	}
}

func TestFPMLingersUntilASilentScriptEnds(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{Children: 1})
	env := php(t, `touch(__DIR__ . '/begun'); usleep(500000); touch(__DIR__ . '/ended'); ignore_user_abort(true); echo 'late';`)
	ctx, cancel := context.WithCancel(WithEnv(t.Context(), env))
	go func() {
		waitUntil(t, func() bool { return exists(env, "begun") })
		cancel()
	}()
	e := refusal(t, tr, withBody(t, ctx, "GET", nil))
	if !errors.Is(e, context.Canceled) || exists(env, "ended") || isClosed(e.Released()) {
		t.Errorf("error = %v, ended %t, released %t", e, exists(env, "ended"), isClosed(e.Released()))
	}
	await(t, e.Released(), "release")
	if !exists(env, "ended") {
		t.Error("released before the script has ended")
	}
}

func exists(env *Env, name string) bool {
	_, err := os.Stat(filepath.Join(env.Root, name))
	return err == nil
}

func TestFPMGetsAllOfAnUploadWhoseClientLeft(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	env := php(t, `touch(__DIR__ . '/begun'); usleep(200000); $n = strlen(file_get_contents('php://input'));
		file_put_contents(__DIR__ . '/length', $n); touch(__DIR__ . '/ended');`)
	ctx, cancel := context.WithCancel(WithEnv(t.Context(), env))
	go func() {
		waitUntil(t, func() bool { return exists(env, "begun") })
		cancel()
	}()
	page := bytes.Repeat([]byte("x"), 20<<20)
	e := refusal(t, tr, withBody(t, ctx, "POST", bytes.NewReader(page)))
	await(t, e.Released(), "release")
	waitUntil(t, func() bool { return exists(env, "ended") })
	if got, _ := os.ReadFile(filepath.Join(env.Root, "length")); string(got) != strconv.Itoa(len(page)) {
		t.Errorf("the script ran with %s of %d bytes", got, len(page))
	}
}

func TestFPMStreams(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{})
	env := php(t, `while (ob_get_level()) ob_end_flush(); for ($i = 0; $i < 3; $i++) { echo "line $i\n"; flush();
		while (!file_exists(__DIR__ . "/seen$i")) { usleep(1000); clearstatcache(); } }`)
	resp, err := tr.RoundTrip(newRequestEnv(t, env, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i := range 3 {
		line := make([]byte, 7)
		if _, err := io.ReadFull(resp.Body, line); err != nil || string(line) != fmt.Sprintf("line %d\n", i) {
			t.Fatalf("line %d = %q, %v", i, line, err)
		}
		if err := os.WriteFile(filepath.Join(env.Root, fmt.Sprintf("seen%d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFPMTerminateTimeout(t *testing.T) {
	tr, _ := newFPM(t, stack.FPMConfig{TerminateTimeout: time.Second})
	e := refusal(t, tr, newRequestEnv(t, php(t, `sleep(30);`), "GET", ""))
	if !errors.Is(e, ErrTruncated) || e.SafeToRetry() {
		t.Errorf("error = %v, safe %t, want ErrTruncated, false", e, e.SafeToRetry())
	}
}
