package server

import (
	"context"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"concord/internal/api"
	"concord/internal/limit"
)

// metrics are what the server counts of itself, for Prometheus. No label carries
// what a client wrote, nor a name of a study or a party.
type metrics struct {
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	refusals  *prometheus.CounterVec
	limited   *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	underWay  prometheus.Gauge
	jobs      *prometheus.HistogramVec
	listeners listeners
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &metrics{
		requests: counter("concord_requests_total", "Requests answered, by route and status.", "route", "status"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "concord_request_seconds", Help: "Time from a request's header to the end of its answer, by route.",
			Buckets: []float64{0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600, 3600},
		}, []string{"route"}),
		refusals: counter("concord_refusals_total", "Answers that are not a success, by their code.", "code"),
		limited:  counter("concord_limited_total", "What a limit kept out: requests by key, address or wrong, and connections.", "limit"),
		bytes:    counter("concord_bytes_total", "Bytes of bodies, received and sent.", "way"),
		underWay: prometheus.NewGauge(prometheus.GaugeOpts{Name: "concord_requests_under_way", Help: "Requests that are being answered."}),
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "concord_job_seconds", Help: "Time of a look at a study that is complete: aligning, training, sealing. Outcome is released, failed or trouble.",
			Buckets: []float64{0.1, 1, 10, 60, 600, 3600, 36000},
		}, []string{"outcome"}),
	}
}

// Register makes the server's metrics known to a registry.
func (s *Server) Register(r prometheus.Registerer) error {
	m := s.metrics
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "concord_build_info", Help: "1, with the version of the program and of the API.",
		ConstLabels: prometheus.Labels{"version": programVersion(), "api": strconv.Itoa(api.Version)},
	})
	build.Set(1)
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.refusals, m.limited, m.bytes, m.underWay, m.jobs, build, &gauges{s}} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// gauges are looked up when somebody asks.
type gauges struct{ s *Server }

var (
	connections   = prometheus.NewDesc("concord_connections", "Connections that are open.", nil, nil)
	storedBundles = prometheus.NewDesc("concord_stored_bundles", "Bundles in the store, by kind.", []string{"kind"}, nil)
	storedBytes   = prometheus.NewDesc("concord_stored_bytes", "Bytes of the bundles in the store, by kind.", []string{"kind"}, nil)
	freeBytes     = prometheus.NewDesc("concord_disk_free_bytes", "Bytes that are free on the store's disk.", nil, nil)
	reserveBytes  = prometheus.NewDesc("concord_disk_reserve_bytes", "Bytes of the disk that bundles do not take.", nil, nil)
	studies       = prometheus.NewDesc("concord_studies", "Studies by their state.", []string{"state"}, nil)
	ready         = prometheus.NewDesc("concord_ready", "1 if the server can take a bundle now.", nil, nil)
)

// Describe lists the gauges.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{connections, storedBundles, storedBytes, freeBytes, reserveBytes, studies, ready} {
		ch <- d
	}
}

// lookTime bounds what a scrape asks of the store.
const lookTime = 5 * time.Second

// Collect looks them up; what cannot be is missing.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(connections, float64(g.s.metrics.listeners.open()))
	gauge(reserveBytes, float64(g.s.guard.ReserveBytes))
	if free, err := g.s.guard.room(g.s.store.Dir()); err == nil {
		gauge(freeBytes, float64(free))
	}
	if kinds, err := g.s.store.Stored(ctx); err == nil {
		for name, k := range kinds {
			gauge(storedBundles, float64(k.Bundles), name)
			gauge(storedBytes, float64(k.Bytes), name)
		}
	}
	if all, err := g.s.store.Studies(ctx); err == nil {
		states := map[api.State]int{}
		for _, st := range all {
			if status, err := g.s.Status(ctx, st.Hash); err == nil {
				states[status.State]++
			}
		}
		for state, n := range states {
			gauge(studies, float64(n), string(state))
		}
	}
	up := 0.0
	if g.s.Ready(ctx) == nil {
		up = 1
	}
	gauge(ready, up)
}

// listeners are those whose connections are counted.
type listeners struct {
	mu  sync.Mutex
	all []*limit.Listener
}

func (l *listeners) add(ln *limit.Listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, ln)
}

func (l *listeners) open() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.all {
		n += ln.Open()
	}
	return n
}

// measured is an answer whose status and size are known at its end.
type measured struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController reach the connection.
func (m *measured) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// WriteHeader keeps the first status.
func (m *measured) WriteHeader(status int) {
	if m.status == 0 {
		m.status = status
	}
	m.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (m *measured) Write(p []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	n, err := m.ResponseWriter.Write(p)
	m.bytes += int64(n)
	return n, err
}

// counted is a body whose bytes are counted.
type counted struct {
	body  io.ReadCloser
	bytes int64
}

func count(body io.ReadCloser) *counted {
	if body == nil {
		body = http.NoBody
	}
	return &counted{body: body}
}

// Read counts bytes.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	c.bytes += int64(n)
	return n, err
}

// Close closes the body.
func (c *counted) Close() error { return c.body.Close() }

// answered counts a request and its answer.
func (m *metrics) answered(route string, w *measured, body *counted, took time.Duration) {
	status := w.status
	if status == 0 {
		status = http.StatusOK
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
	m.bytes.WithLabelValues("received").Add(float64(body.bytes))
	m.bytes.WithLabelValues("sent").Add(float64(w.bytes))
}
