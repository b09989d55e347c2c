package admin

import (
	"context"
	"encoding/json"
)

// ClientConfig says where a gateway listens.
type ClientConfig struct {
	Network string // "unix" or "tcp"
	Address string // path of the socket, or host:port
	Token   string // bearer token
}

// Client talks to the control listener of a running gateway.
type Client struct{}

// NewClient returns a Client; nothing is dialled yet.
func NewClient(cfg ClientConfig) (*Client, error) { return &Client{}, nil }

// RefusedError is a reload that the gateway refused.
type RefusedError struct{ Reasons string }

func (e *RefusedError) Error() string { return e.Reasons }

// Reload asks the gateway to load its configuration anew. A refusal is a *RefusedError.
func (c *Client) Reload(ctx context.Context) error { return nil }

// Status returns the gateway's account of itself as JSON.
func (c *Client) Status(ctx context.Context) (json.RawMessage, error) { return nil, nil }

// Healthy returns nil when the gateway answers.
func (c *Client) Healthy(ctx context.Context) error { return nil }
