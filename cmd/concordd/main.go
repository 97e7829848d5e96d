// Concordd is the analyst's program. See concordd --help.
package main

import (
	"context"
	"io"

	"concord/internal/cli"
	"concord/internal/cli/concordd"
)

func main() {
	cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return concordd.Run(ctx, args, stdin, stdout, stderr)
	})
}
