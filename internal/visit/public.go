package visit

import (
	"fmt"
	"os"

	"concord/audit"
	"concord/wire"
)

// KeepPublic keeps a copy of the public file that the anchor is made of, if it is that file.
func (v *Visit) KeepPublic(path string) error {
	want, ok := v.Contract.PublicFile()
	if !ok {
		return misusef("the anchor of this study is %s, which needs no public file", v.Contract.Anchor.Kind)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if got := wire.HashOf(b); got != want {
		return wire.WithHint(fmt.Errorf("%s has the SHA-256 %s, the contract's public file has %s", path, got.Short(),
			want.Short()), "ask the analyst for the file that the contract means")
	}
	if _, err := v.readPublic(path); err != nil {
		return err
	}
	if err := v.noteOnce(audit.Event{Kind: audit.Received, File: want,
		Note: "the public file that the anchor is made of"}); err != nil {
		return err
	}
	return v.site.PutPublic(b)
}
