// Package upload measures how fast one large contribution travels from a party to the
// server, and in how much memory, beside curl -T of the same file. [Run] plays a study of
// two parties with the real programs, each a process of its own.
package upload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"concord/test/chaos"
)

// Options say what is measured.
type Options struct {
	Programs chaos.Programs
	// Size is that of X in the contribution, in bytes.
	Size int64
	// Dir holds everything that is written, about four times Size.
	Dir string
	// Say is told what is under way.
	Say func(format string, args ...any)
}

// Record is what Run has measured. The whole contribution has Size bytes.
type Record struct {
	Size           int64   `json:"size_bytes"`
	ApproveSeconds float64 `json:"approve_seconds"`
	SealSeconds    float64 `json:"seal_seconds"`
	UploadSeconds  float64 `json:"upload_seconds"`
	CheckSeconds   float64 `json:"check_seconds"`
	SendSeconds    float64 `json:"send_seconds"`
	CurlSeconds    float64 `json:"curl_seconds"`
	Ratio          float64 `json:"ratio"`
	RatioWithCheck float64 `json:"ratio_with_check"`
	PeakRSS        RSS     `json:"peak_rss_bytes"`
}

// RSS are the largest resident sets of the processes, in bytes; 0 where the system does not say.
type RSS struct {
	Approve int64 `json:"approve"`
	Seal    int64 `json:"seal"`
	Send    int64 `json:"send"`
	Server  int64 `json:"server"`
}

// Run measures.
func Run(ctx context.Context, opt Options) (Record, error) {
	s := &play{programs: opt.Programs, dir: opt.Dir, say: opt.Say}
	defer s.stopServer()
	return s.measure(ctx, opt.Size)
}

// measure plays the study up to the receipt.
func (s *play) measure(ctx context.Context, size int64) (r Record, err error) {
	s.say("setting up a study of two parties in %s", s.dir)
	if err := s.setUp(ctx, size); err != nil {
		return r, err
	}
	s.say("drawing a contribution of %d MiB", size>>20)
	manifest, err := s.plant(size)
	if err != nil {
		return r, err
	}
	s.say("approving, sealing")
	approve, err := s.concord(ctx, 0, "approve", manifest[:16])
	if err != nil {
		return r, err
	}
	// Without a server send seals and then gives up.
	s.stopServer()
	sealed := filepath.Join(s.party(0), "outbox", "contribution.bundle")
	began := time.Now()
	seal, err := s.concord(ctx, 0, "send")
	if err == nil {
		return r, errors.New("concord send found a server where none is")
	}
	info, err := os.Stat(sealed)
	if err != nil {
		return r, fmt.Errorf("concord send sealed nothing: %s", seal.text)
	}
	// The file is renamed into its place when it is whole; its last change is before.
	r.SealSeconds = info.ModTime().Sub(began).Seconds()
	if err := s.startServer(); err != nil {
		return r, err
	}
	s.say("sending %d bytes with curl -T, with concord, with curl -T", info.Size())
	before, err := s.curl(ctx, sealed)
	if err != nil {
		return r, err
	}
	send, err := s.concord(ctx, 0, "send")
	if err != nil {
		return r, err
	}
	r.PeakRSS.Server = s.serverRSS()
	after, err := s.curl(ctx, sealed)
	if err != nil {
		return r, err
	}
	r.Size = info.Size()
	r.ApproveSeconds, r.SendSeconds, r.CurlSeconds = approve.took.Seconds(), send.took.Seconds(), min(before, after).Seconds()
	begun, arrived, stored, err := s.log.times()
	if err != nil {
		return r, err
	}
	r.UploadSeconds, r.CheckSeconds = arrived.Sub(begun).Seconds(), stored.Sub(arrived).Seconds()
	r.Ratio, r.RatioWithCheck = r.CurlSeconds/r.UploadSeconds, r.CurlSeconds/(r.UploadSeconds+r.CheckSeconds)
	r.PeakRSS.Approve, r.PeakRSS.Seal, r.PeakRSS.Send = approve.rss, seal.rss, send.rss
	return r, nil
}
