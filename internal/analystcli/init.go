package analystcli

import (
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"concord/internal/cli"
)

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

func (p *program) initCommand() *cobra.Command {
	var name, address, listen string
	cmd := &cobra.Command{
		Use:   "init --name NAME --address HOST:PORT",
		Short: "Make the analyst's keys and folder",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			host, port, err := net.SplitHostPort(address)
			if err != nil || host == "" || !validPort(port) {
				return cli.Usagef("--address is %q, must be host:port as the parties reach it, with a port from 1 to 65535", address)
			}
			if listen == "" {
				listen = ":" + port
				if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
					listen = address // nobody else is meant to reach it
				}
			}
			id, err := (&folder{p.dir}).create(name, config{Format: 1, Address: address, Listen: listen})
			if err != nil {
				return err
			}
			fmt.Fprintf(p.out, "made %s\nfingerprint %s\nparties reach the server at %s, it listens on %s\n",
				p.dir, id.Statement.Fingerprint(), address, listen)
			fmt.Fprintf(p.out, "next: concordd study create study.yaml\n")
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call the analyst; stands in every roster")
	cmd.Flags().StringVar(&address, "address", "", "host:port as the parties reach the server")
	cmd.Flags().StringVar(&listen, "listen", "", "host:port to listen on (default: the port of --address on every interface, or only loopback if --address is)")
	cmd.MarkFlagRequired("name")
	cmd.MarkFlagRequired("address")
	return cmd
}
