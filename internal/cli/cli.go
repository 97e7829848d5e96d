// Package cli is what Concord's programs have in common: how they run a
// command, how they report an error, and their exit statuses.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"concord/internal/build"
	"concord/wire"

	"github.com/spf13/cobra"
)

// Exit statuses of all programs.
const (
	StatusDone    = 0
	StatusFailed  = 1
	StatusUsage   = 2
	StatusWaiting = 3 // nothing is wrong; others have their turn
)

// UsageError marks wrong arguments.
type UsageError struct{ Err error }

// Error returns the message of the cause.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Run executes a root command and returns the exit status. Errors go to stderr
// as "concord: error: …", cures as "concord: hint: …".
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = build.Program()
	root.AddCommand(versionCommand(root.Name()))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &UsageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
	})
	strict(root)
	err := root.ExecuteContext(ctx)
	return report(err, stderr)
}

// strict makes a command with subcommands refuse words that are none of them,
// and turns argument errors into usage errors.
func strict(cmd *cobra.Command) {
	if cmd.HasSubCommands() && cmd.Run == nil && cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return Usagef("unknown command %q for %s (see %s --help)", args[0], cmd.CommandPath(), cmd.CommandPath())
		}
		cmd.Args = cobra.ArbitraryArgs
	} else if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return Usagef("%w (usage: %s)", err, cmd.UseLine())
			}
			return nil
		}
	}
	if cmd.RunE != nil && cmd.PreRunE == nil {
		cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateRequiredFlags(); err != nil {
				return Usagef("%w (usage: %s)", err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

func report(err error, stderr io.Writer) int {
	if err == nil {
		return StatusDone
	}
	var waiting *wire.Waiting
	if errors.As(err, &waiting) {
		fmt.Fprintf(stderr, "concord: %s\n", waiting)
		return StatusWaiting
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(stderr, "concord: error: %s\n", line)
	}
	if hint := wire.Hint(err); hint != "" {
		fmt.Fprintf(stderr, "concord: hint: %s\n", hint)
	}
	var usage *UsageError
	if errors.As(err, &usage) {
		return StatusUsage
	}
	return StatusFailed
}

// Main runs a program's Run with the process's own streams until it ends or is
// interrupted.
func Main(run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what does not look at ctx
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
