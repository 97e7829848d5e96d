// Concord is a data holder's program. See concord --help.
package main

import (
	"context"
	"io"

	"concord/internal/cli"
	"concord/internal/cli/concord"
)

func main() {
	cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return concord.Run(ctx, args, stdin, stdout, stderr)
	})
}
