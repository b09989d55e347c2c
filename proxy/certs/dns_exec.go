package certs

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	acmelib "github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"
)

const (
	hookTimeout = 5 * time.Minute // a hook may wait until its record is seen
	hookOutput  = 1000            // bytes of what it wrote that an error tells
)

// hook lets a program of the operator's set and remove the record: for DNS servers that have no provider here.
type hook struct {
	command string
	logger  *zap.Logger
}

// Present runs "COMMAND present NAME VALUE". The record has to be there when the program ends.
func (h *hook) Present(ctx context.Context, challenge acmelib.Challenge) error {
	return h.run(ctx, "present", challenge)
}

// CleanUp runs "COMMAND cleanup NAME VALUE", also when the order was given up.
func (h *hook) CleanUp(ctx context.Context, challenge acmelib.Challenge) error {
	return h.run(context.WithoutCancel(ctx), "cleanup", challenge)
}

func (h *hook) run(ctx context.Context, verb string, challenge acmelib.Challenge) error {
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	name := challenge.DNS01TXTRecordName()
	cmd := exec.CommandContext(ctx, h.command, verb, name, challenge.DNS01KeyAuthorization())
	cmd.WaitDelay = time.Second // what it started may hold its output open
	out, err := cmd.CombinedOutput()
	out = bytes.TrimSpace(out)
	if err != nil {
		return fmt.Errorf("%s %s %s: %w: %s", h.command, verb, name, err, out[:min(len(out), hookOutput)])
	}
	h.logger.Info("dns hook ran", zap.String("verb", verb), zap.String("name", name))
	return nil
}
