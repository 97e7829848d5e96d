package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/linalg"
	"concord/wire"
)

// buffer is a log that may be written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const namedYAML = `
name: Zebrafish
parties: 2
features: [haemoglobin, creatinine, leukocytes]
label: {name: relapse, levels: [vanished, returned], positive: returned}
basis: {kind: svd, dim: 2}
`

// TestLogsCarryNoData: a whole study, with everything that is refused in it, is
// logged in full, and the log holds no value, no name of a feature, a label or a
// level, no secret and nothing that a client wrote.
func TestLogsCarryNoData(t *testing.T) {
	log := new(buffer)
	w := newLoggedWorld(t, namedYAML, slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx := t.Context()
	guess := newIdentity(t, identity.RoleParty, "Guess")
	_, _, err := w.as(guess).Join(ctx, []byte("a secret that is wrong"), guess.Statement.Encode())
	wantRefusal(t, "a wrong secret", err, api.CodeForbidden, "")
	w.join()
	a, b := w.parties[0], w.parties[1]

	rnd := rand.NewChaCha8([32]byte{7})
	x, anchor := linalg.Normal(20, 2, rnd), linalg.Normal(w.contract.Anchor.Rows, 2, rnd)
	labels := make([]int64, 20)
	send := func(d func(*bundle.Draft)) error {
		_, err := w.as(a).Send(ctx, w.sealed(a, bundle.KindContribution, []*identity.Statement{w.analyst.Statement}, members(x, anchor, labels), d))
		return err
	}
	for _, from := range []struct{ from, to *identity.Identity }{{a, b}, {b, a}} {
		if _, err := w.as(from.from).Send(ctx, w.setup(from.from, from.to)); err != nil {
			t.Fatal(err)
		}
	}
	// The refusal names a level to the party, and must not to the log.
	wantRefusal(t, "a level without rows", send(nil), api.CodeRefused, "returned")
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	wantRefusal(t, "another epoch", send(func(d *bundle.Draft) { d.Epoch = wire.Hash{3} }), api.CodeRefused, "epoch")
	hc := w.rawClient(b)
	for _, path := range []string{"/haemoglobin", "/v1/studies/creatinine/status", api.Path(api.PathBundles, w.study) + "/leukocytes"} {
		w.ask(hc, "GET", path, nil, nil)
	}
	w.ask(hc, "POST", api.Path(api.PathConfirmations, w.study), nil, strings.NewReader(`"relapse vanished`))
	if err := send(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as(b).Send(ctx, w.contribution(b, nil)); err != nil {
		t.Fatal(err)
	}
	deadline, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	for !strings.Contains(log.String(), `"msg":"released"`) {
		if deadline.Err() != nil {
			t.Fatalf("the study was not released:\n%s", log)
		}
		time.Sleep(10 * time.Millisecond)
	}
	text := log.String()
	for _, want := range []string{`"msg":"joined"`, `"msg":"refused"`, `"msg":"answered"`, `"msg":"stored"`, "the content of the contribution", `"address":"127.0.0.1"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not hold %s: it says too little", want)
		}
	}
	var secrets []string
	for _, id := range append(w.parties, w.analyst, guess) {
		keys, err := id.EncodeSecret()
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(keys.Reveal(), &fields); err != nil {
			t.Fatal(err)
		}
		for name, v := range fields {
			if s, ok := v.(string); ok && name != "statement" && len(s) > 20 {
				secrets = append(secrets, s)
			}
		}
	}
	if len(secrets) < 8 {
		t.Fatalf("%d secrets of four identities are looked for", len(secrets))
	}
	for _, s := range append(w.secrets, []byte("a secret that is wrong")) {
		secrets = append(secrets, string(s), base64.StdEncoding.EncodeToString(s), hex.EncodeToString(s), wire.HashOf(s).String(), wire.HashOf(s).Short())
	}
	for i := range 20 {
		for j := range 2 {
			v := x.At(i, j)
			secrets = append(secrets, fmt.Sprint(v), fmt.Sprintf("%.8f", v))
		}
	}
	for _, s := range append(secrets, "haemoglobin", "creatinine", "leukocytes", "relapse", "vanished", "returned", "Zebrafish") {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("the log holds %q: …%s…", s, text[max(0, i-200):min(len(text), i+200)])
		}
	}
}
