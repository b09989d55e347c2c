package main

import (
	"testing"

	"gateway/conf"
	"gateway/proxy"
)

func TestExampleCanBeBuilt(t *testing.T) {
	cfg, err := conf.Load("../../gateway.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Check(cfg); err != nil {
		t.Error(err)
	}
}
