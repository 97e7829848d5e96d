// Concord-lab is the laboratory. See concord-lab --help.
package main

import (
	"context"
	"io"

	"concord/internal/cli"
	"concord/internal/cli/lab"
	"concord/linalg"
)

func main() {
	linalg.UseBest()
	cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return lab.Run(ctx, args, stdin, stdout, stderr)
	})
}
