package server

import (
	"encoding/json"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Paths of what is for the operator, on a listener of its own.
const (
	PathMetrics = "/metrics" // for Prometheus
	PathLive    = "/livez"   // 200 while the process answers
	PathReady   = "/readyz"  // 200 if a bundle would be taken now, else 503 with the reason
)

// OpsHandler answers the operator. It needs no key and says nothing about any party:
// its listener is for the machine itself or a network of machines that may know.
func (s *Server) OpsHandler() (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := s.Register(registry); err != nil {
		return nil, err
	}
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+PathMetrics, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET "+PathLive, func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "live", "") })
	mux.HandleFunc("GET "+PathReady, func(w http.ResponseWriter, r *http.Request) {
		if err := s.Ready(r.Context()); err != nil {
			say(w, http.StatusServiceUnavailable, "not ready", err.Error())
			return
		}
		say(w, http.StatusOK, "ready", "")
	})
	return mux, nil
}

func say(w http.ResponseWriter, status int, word, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Status string `json:"status"`
		Reason string `json:"reason,omitempty"`
	}{word, reason})
}
