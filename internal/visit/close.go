package visit

import (
	"errors"

	"concord/wire"
)

// CloseStudy forgets what the parties agreed in secret, if people here say yes, who are asked
// unless it is forgotten already.
func (v *Visit) CloseStudy(yes func() bool) error {
	if !v.site.HasModel() {
		return wire.WithHint(errors.New("this site has no model yet; without the anchor it could not finish"),
			"run concord status to see whose turn it is, or concord withdraw to leave")
	}
	if !v.site.Closed() && !yes() {
		return wire.WithHint(errors.New("not closed; nothing was deleted"),
			"run the command again and type yes, or give --yes")
	}
	if err := v.noteClosed(); err != nil {
		return err
	}
	return v.site.Close()
}
