package client

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"concord/internal/api"
	"concord/wire"
)

// Fetch copies a bundle to w, at most limit bytes. Where the transfer breaks off it
// goes on from there.
func (c *Client) Fetch(ctx context.Context, manifest wire.Hash, w io.Writer, limit int64) (int64, error) {
	var n int64
	where := func() string { return fmt.Sprintf("%d bytes have arrived", n) }
	err := (&retry{c: c, where: where}).run(ctx, func() int64 { return n }, func() error {
		resp, err := c.from(ctx, api.Path(api.PathBundle, c.study, manifest), n)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		total := n + resp.ContentLength
		for {
			k, err := io.CopyN(w, resp.Body, min(1<<20, limit+1-n))
			n += k
			c.progress("fetched", n, max(n, total))
			switch {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			case n > limit:
				return fmt.Errorf("the server sent more than %d bytes", limit)
			}
		}
	})
	return n, err
}

// from asks for a bundle from its n-th byte on.
func (c *Client) from(ctx context.Context, path string, n int64) (*http.Response, error) {
	header := http.Header{}
	if n > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", n))
	}
	resp, err := c.exchange(ctx, http.MethodGet, path, header, nil, 0)
	if err != nil {
		return nil, err
	}
	var first int64
	switch {
	case resp.StatusCode == http.StatusOK: // from the beginning, as version 1 does
		if resp.ContentLength > 0 {
			resp.ContentLength = max(0, resp.ContentLength-n)
		}
		_, err = io.CopyN(io.Discard, resp.Body, n)
	case resp.StatusCode == http.StatusPartialContent && n > 0:
		if _, err = fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &first); err == nil && first != n {
			err = fmt.Errorf("the server sends from byte %d, asked for was %d", first, n)
		}
	default:
		return nil, refusal(resp)
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}
