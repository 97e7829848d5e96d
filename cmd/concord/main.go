// Concord is a data holder's program. See concord --help.
package main

import (
	"context"
	"io"

	"concord/internal/cli"
	"concord/internal/partycli"
	"concord/linalg"
)

func main() {
	linalg.UseBest()
	cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return partycli.Run(ctx, args, stdin, stdout, stderr)
	})
}
