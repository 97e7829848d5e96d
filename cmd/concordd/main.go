// Concordd is the analyst's program. See concordd --help.
package main

import (
	"context"
	"io"

	"concord/internal/analystcli"
	"concord/internal/cli"
	"concord/linalg"
)

func main() {
	linalg.UseBest()
	cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return analystcli.Run(ctx, args, stdin, stdout, stderr)
	})
}
