package concordd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"concord/identity"
	"concord/internal/durable"
	"concord/internal/server"
	"concord/secret"
	"concord/wire"
)

// folder is the analyst's folder on the disk: identity.secret, config.json, and
// what package store keeps there.
type folder struct{ dir string }

// config is config.json.
type config struct {
	Format int `json:"format"`
	// Address is host:port as parties reach the server by tls pinned; invites carry
	// it. Empty if that way is not offered.
	Address string `json:"address"`
	// Listen is host:port on which serve answers.
	Listen string `json:"listen"`
	// Web is the way by tls webpki, if it is offered.
	Web *web `json:"web,omitempty"`
	// Ops is host:port for the operator: metrics and health; empty for none.
	Ops string `json:"ops,omitempty"`
	// Limits bound what parties and addresses may take of the server.
	Limits server.Limits `json:"limits,omitzero"`
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// create makes the folder with a new identity; an existing one is left alone.
func (f *folder) create(name string, cfg config) (*identity.Identity, error) {
	if _, err := os.Stat(f.path("config.json")); err == nil {
		return nil, wire.WithHint(fmt.Errorf("the folder %s is set up already", f.dir),
			"to change the address, run concordd reach; invites given before name the old one")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	id, err := identity.New(identity.RoleAnalyst, name, nil)
	if err != nil {
		return nil, err
	}
	keys, err := id.EncodeSecret()
	if err != nil {
		return nil, err
	}
	defer keys.Erase()
	if err := durable.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	if err := durable.KeepOutOfGit(f.dir); err != nil {
		return nil, err
	}
	if err := durable.WriteFile(f.path("identity.secret"), keys.Reveal(), 0o600); err != nil {
		return nil, err
	}
	// The configuration comes last, and makes the folder.
	return id, f.putConfig(cfg)
}

func (f *folder) putConfig(cfg config) error {
	b, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(f.path("config.json"), append(b, '\n'), 0o644)
}

func (f *folder) config() (config, error) {
	var cfg config
	b, err := os.ReadFile(f.path("config.json"))
	if err != nil {
		return cfg, err
	}
	if err := json.Unmarshal(b, &cfg); err != nil {
		return cfg, fmt.Errorf("%s: %w", f.path("config.json"), err)
	}
	if cfg.Format != 1 {
		return cfg, &wire.FormatError{What: f.path("config.json"), Theirs: cfg.Format, Newest: 1}
	}
	if err := cfg.Limits.Check(); err != nil {
		return cfg, fmt.Errorf("%s: %w", f.path("config.json"), err)
	}
	return cfg, nil
}

func (f *folder) identity() (*identity.Identity, error) {
	b, err := os.ReadFile(f.path("identity.secret"))
	if err != nil {
		return nil, err
	}
	keys := secret.NewBytes(b)
	defer keys.Erase()
	return identity.Decode(keys)
}
