package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"concord/bundle"
	"concord/internal/api"
)

// Sizes of the parts in which a large bundle goes. They adapt: a part that something
// between does not let pass, or that takes long, is followed by a smaller one.
const (
	maxPart   = 32 << 20
	minPart   = 256 << 10
	firstPart = 8 << 20
	// slowPart is how long a part may take before the next one is smaller: proxies
	// give a request a minute, often.
	slowPart = 20 * time.Second
	fastPart = 5 * time.Second
	// onePart is the most that goes in one request from the start.
	onePart = 4 << 20
	// checkTime bounds the wait for the server to check what it has received.
	checkTime = time.Hour
)

// codeBegin says that an upload is not there any more; it is begun again.
const codeBegin = "begin"

// Send hands over the sealed bundle in a file and returns the server's receipt. A large
// one goes in parts, and where a transfer breaks off it goes on from there, in this
// call or in a later one: the server says how much it has.
func (c *Client) Send(ctx context.Context, path string) (receipt []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	u := &upload{c: c, file: f, size: info.Size(), most: maxPart, part: firstPart, whole: onePart}
	if most := c.target.PartBytes; most > 0 {
		u.most, u.part, u.whole = most, min(most, firstPart), min(most, onePart)
	}
	err = (&retry{c: c, where: u.where}).run(ctx, func() int64 { return u.arrived }, func() (err error) {
		receipt, err = u.round(ctx)
		return err
	})
	return receipt, err
}

// upload is a bundle on its way to the server.
type upload struct {
	c    *Client
	file *os.File
	size int64
	// part is the size of the next part, at most most; whole is up to which size a
	// bundle goes in one request.
	part, most, whole int64
	arrived           int64 // bytes that the server has on its disk
}

func (u *upload) where() string {
	if u.arrived == 0 {
		return "nothing has arrived yet"
	}
	return fmt.Sprintf("%d of %d bytes have arrived", u.arrived, u.size)
}

// round sends what the server has not got, and waits for the receipt.
func (u *upload) round(ctx context.Context) ([]byte, error) {
	if u.size <= u.whole || u.c.ServerVersion() == 1 { // version 1 has no uploads
		receipt, err := u.inOne(ctx)
		var between *Interference
		if errors.As(err, &between) && between.Status == http.StatusRequestEntityTooLarge && u.c.ServerVersion() != 1 {
			u.whole = 0
		} else {
			return receipt, err
		}
	}
	location, receipt, err := u.begin(ctx)
	if receipt != nil || err != nil {
		return receipt, err
	}
	for u.arrived < u.size {
		if err := u.send(ctx, location); err != nil {
			return nil, err
		}
		u.c.progress("sent", u.arrived, u.size)
	}
	return u.receipt(ctx, location)
}

// inOne sends the whole bundle in one request.
func (u *upload) inOne(ctx context.Context) ([]byte, error) {
	body, err := u.c.do(ctx, http.MethodPut, api.Path(api.PathBundles, u.c.study), api.BundleMediaType, u.file, u.size)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readAll(body, api.MaxMessageBytes)
}

// begin shows the server the envelope line and learns where the rest goes and how
// much is there already; or gets the receipt, if all of it is.
func (u *upload) begin(ctx context.Context) (location string, receipt []byte, err error) {
	_, line, err := bundle.ReadEnvelope(io.NewSectionReader(u.file, 0, u.size))
	if err != nil {
		return "", nil, err
	}
	resp, err := u.c.exchange(ctx, http.MethodPost, api.Path(api.PathUploads, u.c.study), http.Header{
		api.HeaderResumable: {api.TusVersion}, api.HeaderLength: {strconv.FormatInt(u.size, 10)}, "Content-Type": {api.PartMediaType},
	}, io.NewSectionReader(u.file, 0, int64(len(line))), int64(len(line)))
	if err != nil {
		return "", nil, err
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		defer resp.Body.Close()
		receipt, err = readAll(resp.Body, api.MaxMessageBytes)
		return "", receipt, err
	case resp.StatusCode == http.StatusNotFound && u.c.ServerVersion() == 1:
		resp.Body.Close()
		receipt, err = u.inOne(ctx)
		return "", receipt, err
	case resp.StatusCode != http.StatusCreated:
		return "", nil, refusal(resp)
	}
	defer resp.Body.Close()
	// Only the last part of the location counts: where the server is, this client knows.
	location = resp.Header.Get("Location")
	location = location[strings.LastIndexByte(location, '/')+1:]
	if err := u.offset(resp); err != nil {
		return "", nil, err
	}
	if location == "" || len(location) > 64 || strings.Trim(location, "0123456789abcdef") != "" {
		return "", nil, fmt.Errorf("the server names no place for the upload that this program understands")
	}
	if u.arrived > int64(len(line)) {
		u.c.notice("going on where the transfer stopped: %s", u.where())
	}
	return api.UploadPath(u.c.study, location), nil, nil
}

// offset takes over from an answer how much has arrived.
func (u *upload) offset(resp *http.Response) error {
	n, err := strconv.ParseInt(resp.Header.Get(api.HeaderOffset), 10, 64)
	if err != nil || n < 0 || n > u.size {
		return fmt.Errorf("the server does not say how much of the upload has arrived (%s); does a proxy remove headers?", api.HeaderOffset)
	}
	u.arrived = n
	return nil
}

// send sends one part.
func (u *upload) send(ctx context.Context, location string) error {
	n := min(u.part, u.size-u.arrived)
	began := time.Now()
	resp, err := u.c.exchange(ctx, http.MethodPatch, location, http.Header{
		api.HeaderResumable: {api.TusVersion}, api.HeaderOffset: {strconv.FormatInt(u.arrived, 10)}, "Content-Type": {api.PartMediaType},
	}, io.NewSectionReader(u.file, u.arrived, n), n)
	if err == nil && resp.StatusCode != http.StatusNoContent {
		err = refusal(resp)
		if u.capped(err) {
			return nil
		}
		return u.refused(err)
	}
	if err != nil && u.capped(err) {
		return nil
	}
	if err != nil {
		u.smaller()
		return err
	}
	resp.Body.Close()
	before := u.arrived
	if err := u.offset(resp); err != nil {
		return err
	}
	if u.arrived <= before {
		return &Refusal{Status: resp.StatusCode, Code: api.CodeOffset, Reason: "it took nothing of a part"}
	}
	switch took := time.Since(began); {
	case took > slowPart:
		u.smaller()
	case took < fastPart:
		u.part = min(2*u.part, u.most)
	}
	return nil
}

func (u *upload) smaller() { u.part = max(u.part/2, min(minPart, u.most/8), 1) }

// capped reports whether something between refuses a part for its size and smaller
// ones are left to try: no later part will be as large.
func (u *upload) capped(err error) bool {
	var between *Interference
	if !errors.As(err, &between) || between.Status != http.StatusRequestEntityTooLarge {
		return false
	}
	last := min(u.part, u.size-u.arrived)
	u.part = last
	u.smaller()
	u.most = u.part
	if u.part >= last {
		return false
	}
	u.c.notice("a proxy lets no part of %d bytes pass; trying %d", last, u.part)
	return true
}

// refused says what an answer to a part means for the next one.
func (u *upload) refused(err error) error {
	var r *Refusal
	var between *Interference
	switch {
	case errors.As(err, &r) && r.Status == http.StatusNotFound:
		// The upload has ended: it is begun again, or the receipt is there.
		return &Refusal{r.Status, codeBegin, r.Reason, r.Advice}
	case errors.As(err, &between):
		u.smaller()
	}
	return err
}

// receipt waits until the server has checked the whole.
func (u *upload) receipt(ctx context.Context, location string) ([]byte, error) {
	for began := time.Now(); ; {
		resp, err := u.c.exchange(ctx, http.MethodGet, location, http.Header{api.HeaderResumable: {api.TusVersion}}, nil, 0)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusAccepted {
			body, err := success(resp)
			if err != nil {
				return nil, u.refused(err)
			}
			defer body.Close()
			return readAll(body, api.MaxMessageBytes)
		}
		resp.Body.Close()
		waited := time.Since(began).Round(time.Second)
		if waited > checkTime {
			return nil, fmt.Errorf("everything has arrived, but the server has not finished checking it after %v; ask the analyst, and repeat the command later", waited)
		}
		u.c.notice("everything has arrived; the server checks it (%v)", waited)
		select { // a server that answers at once is not asked at once again
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(u.c.firstPause()):
		}
	}
}
