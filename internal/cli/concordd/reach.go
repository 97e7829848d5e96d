package concordd

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/member"
	"concord/wire"
)

// web says how parties reach the server by tls webpki.
type web struct {
	// URL is https://host[:port][/prefix] as parties reach it; invites carry it.
	URL string `json:"url"`
	// Listen is host:port on which serve answers.
	Listen string `json:"listen"`
	// Cert and Key are files in PEM with the public certificate, its chain and its
	// key; read again when they change. Without them serve speaks plain HTTP, for a
	// reverse proxy on the same machine.
	Cert string `json:"cert,omitempty"`
	Key  string `json:"key,omitempty"`
	// Plain lets serve speak plain HTTP on another address than loopback.
	Plain bool `json:"plain,omitempty"`
}

// defaultWebListen is where serve answers a reverse proxy on the same machine.
const defaultWebListen = "127.0.0.1:8480"

// ways are the flags that say how parties reach the server.
type ways struct {
	tls, address, listen, url, webListen, cert, key string
	plain                                           bool
}

func (w *ways) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.tls, "tls", "", "pinned: parties connect to the analyst's own key; webpki: requests are signed, and TLS ends at a public certificate, a reverse proxy or a party's inspecting proxy (default: webpki if only --url is given)")
	f.StringVar(&w.address, "address", "", "host:port as the parties reach the server by tls pinned")
	f.StringVar(&w.listen, "listen", "", "host:port to listen on (default: the port of --address on every interface, or only loopback if --address is)")
	f.StringVar(&w.url, "url", "", "https://host[:port][/prefix] as the parties reach the server by tls webpki")
	f.StringVar(&w.webListen, "web-listen", "", "host:port to listen on for webpki, where both are offered (default "+defaultWebListen+", or the port of --url with --cert)")
	f.StringVar(&w.cert, "cert", "", "a public certificate with its chain in PEM, for webpki without a reverse proxy")
	f.StringVar(&w.key, "key", "", "the private key of --cert in PEM")
	f.BoolVar(&w.plain, "plain", false, "speak plain HTTP also on an address that is not loopback, where the way to the reverse proxy is safe")
}

// given reports whether any of the flags is.
func (w *ways) given() bool { return *w != ways{} }

// config checks the flags and resolves them.
func (w ways) config() (config, error) {
	cfg := config{Format: 1}
	switch w.tls {
	case "":
	case member.TLSPinned:
		if w.address == "" && w.url != "" {
			address, prefix, err := member.ParseServerURL(w.url)
			if err != nil {
				return cfg, &cli.UsageError{Err: err}
			}
			if prefix != "" {
				return cfg, cli.Usagef("--url has the path %s; a server of tls pinned has none, since no proxy stands before it", prefix)
			}
			w.address, w.url = address, ""
		}
	case member.TLSWebPKI:
		if w.url == "" && w.address != "" {
			w.address, w.url = "", "https://"+w.address
		}
		if w.url == "" {
			return cfg, cli.Usagef("--tls webpki needs --url https://host[:port][/prefix]")
		}
	default:
		return cfg, cli.Usagef("--tls is %q, must be pinned or webpki", w.tls)
	}
	if w.address == "" && w.url == "" {
		return cfg, cli.Usagef("--address host:port (tls pinned) or --url https://host (tls webpki) is needed")
	}
	if w.address != "" {
		host, port, err := net.SplitHostPort(w.address)
		if err != nil || host == "" || !validPort(port) {
			return cfg, cli.Usagef("--address is %q, must be host:port as the parties reach it, with a port from 1 to 65535", w.address)
		}
		cfg.Address, cfg.Listen = w.address, w.listen
		if cfg.Listen == "" {
			cfg.Listen = ":" + port
			if loopback(w.address) {
				cfg.Listen = w.address // nobody else is meant to reach it
			}
		}
	}
	if w.url == "" {
		if w.cert != "" || w.key != "" || w.webListen != "" || w.plain {
			return cfg, cli.Usagef("--cert, --key, --web-listen and --plain are for tls webpki: give --url")
		}
		return cfg, nil
	}
	if w.webListen == "" && w.address == "" {
		w.webListen = w.listen
	}
	way, err := w.web()
	cfg.Web = way
	return cfg, err
}

func (w ways) web() (*web, error) {
	address, _, err := member.ParseServerURL(w.url)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	if (w.cert == "") != (w.key == "") {
		return nil, cli.Usagef("--cert and --key go together")
	}
	way := &web{URL: w.url, Listen: w.webListen, Cert: w.cert, Key: w.key, Plain: w.plain}
	if way.Cert != "" {
		if _, err := (&certificate{cert: way.Cert, key: way.Key}).get(nil); err != nil {
			return nil, err
		}
	}
	if way.Listen == "" {
		way.Listen = defaultWebListen
		if way.Cert != "" {
			_, port, _ := net.SplitHostPort(address)
			way.Listen = ":" + port
		}
	}
	return way, way.check(way.Listen)
}

// check refuses plain HTTP on an address that others reach, unless somebody said
// that it is meant.
func (w *web) check(listen string) error {
	if w.Cert != "" || w.Plain || loopback(listen) {
		return nil
	}
	return wire.WithHint(cli.Usagef("without a certificate plain HTTP is spoken, and %s is not only loopback", listen),
		"listen on 127.0.0.1 behind a reverse proxy, give --cert and --key, or say --plain if the way to the proxy is safe")
}

// loopback reports whether only this machine reaches an address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// invite begins an invite that leads to the server, by the way that tls names or
// else by the one there is; pinned if there are both.
func (c config) invite(tls string, contract, analyst wire.Hash) (member.Invite, error) {
	switch {
	case tls == "" && c.Address == "", tls == member.TLSWebPKI:
		if c.Web == nil {
			return member.Invite{}, wire.WithHint(errors.New("this server does not offer tls webpki"), "run concordd reach --url https://host[:port][/prefix] and begin serve anew")
		}
		address, prefix, err := member.ParseServerURL(c.Web.URL)
		v := member.NewInvite(address, contract, analyst)
		v.TLS, v.Prefix = member.TLSWebPKI, prefix
		return v, err
	case tls == "" || tls == member.TLSPinned:
		if c.Address == "" {
			return member.Invite{}, wire.WithHint(errors.New("this server does not offer tls pinned"), "run concordd reach --address host:port and begin serve anew")
		}
		return member.NewInvite(c.Address, contract, analyst), nil
	}
	return member.Invite{}, cli.Usagef("--tls is %q, must be pinned or webpki", tls)
}

// describe says in a line each how parties reach the server.
func (c config) describe() string {
	text := ""
	if c.Address != "" {
		text += fmt.Sprintf("parties reach the server at %s, it listens on %s\n", c.Address, c.Listen)
	}
	if w := c.Web; w != nil {
		how := "in plain HTTP, for a reverse proxy"
		if w.Cert != "" {
			how = "with the certificate " + w.Cert
		}
		text += fmt.Sprintf("parties reach the server at %s (tls webpki), it listens on %s %s\n", w.URL, w.Listen, how)
	}
	return text
}

func (p *program) reachCommand() *cobra.Command {
	var w ways
	cmd := &cobra.Command{
		Use:   "reach",
		Short: "Show or change how parties reach the server",
		Long: `Shows how parties reach the server, or with flags replaces it. A server can offer
both ways at once; concordd invite --tls says which one an invite takes.

  pinned  Parties connect to the analyst's own key, nothing may stand between. A
          forward proxy that only passes bytes on (CONNECT) is no hindrance.
  webpki  Every request is signed by the party and every answer by the analyst.
          TLS ends at a public certificate: at concordd itself (--cert, --key), at
          a reverse proxy before it, or at a party's inspecting proxy. Who stands
          there reads names, sizes and times, and can change nothing unseen;
          bundles are sealed in either way.

A party that has joined goes over to another way or address with concord join and
a new invite to the same study. concordd serve must be begun anew.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f := &folder{p.dir}
			cfg, err := p.config()
			if err != nil {
				return err
			}
			if w.given() {
				if cfg, err = w.config(); err != nil {
					return err
				}
				if err := f.putConfig(cfg); err != nil {
					return err
				}
			}
			fmt.Fprint(p.out, cfg.describe())
			if w.given() {
				fmt.Fprintf(p.out, "next: begin concordd serve anew; invites given before name the old way\n")
			}
			return nil
		},
	}
	w.flags(cmd)
	return cmd
}
