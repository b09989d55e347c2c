package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds what a client reads, in bytes.
const maxAnswer = 16 << 20

// ClientConfig says where a gateway listens.
type ClientConfig struct {
	Network string // "unix" or "tcp"
	Address string // path of the socket, or host:port
	Token   string // bearer token; empty sends none
}

// Client talks to the control listener of a running gateway. It is safe for concurrent use.
type Client struct {
	cfg  ClientConfig
	http *http.Client
}

// NewClient returns a Client. Nothing is dialled yet.
func NewClient(cfg ClientConfig) (*Client, error) {
	if cfg.Network != "unix" && cfg.Network != "tcp" {
		return nil, fmt.Errorf("admin: unknown network %q; want unix or tcp", cfg.Network)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, cfg.Network, cfg.Address)
	}
	// One connection a call: a command makes one call and ends.
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	return &Client{cfg: cfg, http: &http.Client{Transport: transport}}, nil
}

// RefusedError is a reload that the gateway refused; it goes on with the configuration it had.
type RefusedError struct {
	Reasons string // one or several lines, as the gateway gave them
}

func (e *RefusedError) Error() string { return e.Reasons }

// Reload asks the gateway to load its configuration anew, and returns when that serves. A refusal is a
// *RefusedError.
func (c *Client) Reload(ctx context.Context) error {
	status, body, err := c.call(ctx, http.MethodPost, "/reload")
	if err != nil {
		return err
	}
	if status == http.StatusUnprocessableEntity {
		return &RefusedError{Reasons: strings.TrimSpace(string(body))}
	}
	return c.expect(status, http.StatusNoContent, body)
}

// Status returns the gateway's account of itself as JSON.
func (c *Client) Status(ctx context.Context) (json.RawMessage, error) {
	status, body, err := c.call(ctx, http.MethodGet, "/status")
	if err != nil {
		return nil, err
	}
	if err := c.expect(status, http.StatusOK, body); err != nil {
		return nil, err
	}
	if !json.Valid(body) {
		return nil, fmt.Errorf("ask %s for its status: the answer is not JSON", c.cfg.Address)
	}
	return body, nil
}

// Healthy returns nil when the gateway answers.
func (c *Client) Healthy(ctx context.Context) error {
	status, body, err := c.call(ctx, http.MethodGet, "/healthz")
	if err != nil {
		return err
	}
	return c.expect(status, http.StatusOK, body)
}

func (c *Client) call(ctx context.Context, method, path string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, nil)
	if err != nil {
		return 0, nil, err
	}
	if c.cfg.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("ask the gateway at %s: %w", c.cfg.Address, cause(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("read the answer of %s: %w", c.cfg.Address, err)
	}
	return resp.StatusCode, body, nil
}

func (c *Client) expect(status, want int, body []byte) error {
	if status == want {
		return nil
	}
	return fmt.Errorf("the gateway at %s answered %d: %s", c.cfg.Address, status, strings.TrimSpace(string(body)))
}

// cause takes off the made-up address that net/http puts before the error.
func cause(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}
