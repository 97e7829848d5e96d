package concordd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"concord/internal/cli"
	"concord/internal/server"
)

// logger writes the server's log.
func logger(w io.Writer, format string, verbose bool) (*slog.Logger, error) {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, cli.Usagef("--log-format is %q, must be text or json", format)
}

// opsAddress is where the operator is answered: a port alone is one of loopback.
func opsAddress(address string) (string, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != "0" && !validPort(port) {
		return "", cli.Usagef("--ops is %q, must be [HOST]:PORT", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// serveWithOps serves, and answers the operator beside it.
func serveWithOps(ctx context.Context, srv *server.Server, ops string, log *slog.Logger, fronts []server.Front) error {
	address, err := opsAddress(ops)
	if err != nil {
		return err
	}
	handler, err := srv.OpsHandler()
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Info("answering the operator", "address", ln.Addr().String())
	web := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(ln) }()
	err = srv.ServeFronts(ctx, fronts...)
	web.Close()
	if end := <-failed; err == nil && !errors.Is(end, http.ErrServerClosed) {
		err = end
	}
	return err
}
