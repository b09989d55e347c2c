package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"go.uber.org/zap"
)

func newHandler(cfg Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		serveStatus(w, cfg)
	})
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, _ *http.Request) {
		serveReload(w, cfg)
	})
	if cfg.Token == "" {
		return mux
	}
	return requireToken(cfg.Token, cfg.Logger, mux)
}

func serveStatus(w http.ResponseWriter, cfg Config) {
	body, err := json.MarshalIndent(cfg.Status(), "", "  ")
	if err != nil {
		cfg.Logger.Error("status cannot be sent as JSON", zap.Error(err))
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(body, '\n'))
}

func serveReload(w http.ResponseWriter, cfg Config) {
	if err := cfg.Reload(); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// requireToken compares digests: they have one length, so that not even the token's length shows in the time.
func requireToken(token string, logger *zap.Logger, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(sent))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			logger.Warn("admin call without the token", zap.String("client", r.RemoteAddr))
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
