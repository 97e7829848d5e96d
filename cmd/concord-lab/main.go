// Concord-lab is the laboratory. See concord-lab --help.
package main

import (
	"context"
	"io"

	"concord/internal/cli"
	"concord/internal/cli/lab"
)

func main() {
	cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return lab.Run(ctx, args, stdin, stdout, stderr)
	})
}
