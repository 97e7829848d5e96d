package concordd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/identity"
	"concord/internal/cli"
	"concord/internal/store"
	"concord/release"
	"concord/wire"
)

func (p *program) studyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "study", Short: "Make and show studies"}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "create STUDY.yaml",
			Short: "Resolve study.yaml into a contract and offer it",
			Args:  cobra.ExactArgs(1),
			RunE:  func(cmd *cobra.Command, args []string) error { return p.createStudy(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use:   "show [STUDY]",
			Short: "Print a contract as it is stored",
			Args:  cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				_, st, s, err := p.openStudy(cmd.Context(), strings.Join(args, ""))
				if err != nil {
					return err
				}
				defer st.Close()
				_, err = p.out.Write(s.Contract)
				return err
			},
		},
	)
	cmd.AddCommand(&cobra.Command{
		Use:   "drop STUDY",
		Short: "Forget a study that no party has joined, and its invites",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, st, s, err := p.openStudy(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer st.Close()
			if err := st.DropStudy(cmd.Context(), s.Hash); err != nil {
				return err
			}
			fmt.Fprintf(p.out, "dropped %s\n", s.Hash.Short())
			return nil
		},
	})
	return cmd
}

func (p *program) createStudy(ctx context.Context, path string) error {
	_, _, _, st, err := p.open()
	if err != nil {
		return err
	}
	defer st.Close()
	yaml, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c, err := contract.ParseYAMLWith(yaml, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return &studyFileError{path, err}
	}
	agreed, err := c.Encode()
	if err != nil {
		return err
	}
	hash, err := st.AddStudy(ctx, agreed)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s\nstudy %s\n", release.Describe(c), hash)
	fmt.Fprintf(p.out, "next: concordd invite --for NAME, once for each of the %d parties; then concordd serve\n", c.Parties)
	return nil
}

// studyFileError is an error of package contract, which calls the file study.yaml, with the
// name that the file has.
type studyFileError struct {
	path string
	err  error
}

// Error begins every line with the file.
func (e *studyFileError) Error() string {
	var out []string
	for line := range strings.SplitSeq(e.err.Error(), "\n") {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "contract: "), "study.yaml: ")
		out = append(out, e.path+": "+strings.TrimPrefix(line, "study.yaml "))
	}
	return strings.Join(out, "\n")
}

// Unwrap returns the error of package contract, which may have a hint.
func (e *studyFileError) Unwrap() error { return e.err }

// openStudy opens the folder and finds a study in it, as pick does.
func (p *program) openStudy(ctx context.Context, prefix string) (*identity.Identity, *store.Store, store.Study, error) {
	_, id, _, st, err := p.open()
	if err != nil {
		return nil, nil, store.Study{}, err
	}
	s, err := pick(ctx, st, prefix)
	if err != nil {
		st.Close()
		return nil, nil, store.Study{}, err
	}
	return id, st, s, nil
}

// meant reports whether who is a participant's name, or at least 12 first digits of its
// fingerprint.
func meant(who, name string, fingerprint wire.Hash) bool {
	return who == name || len(who) >= 12 && strings.HasPrefix(fingerprint.String(), who)
}

// pick finds a study by the first digits of its hash; none are needed when
// there is only one.
func pick(ctx context.Context, st *store.Store, prefix string) (store.Study, error) {
	all, err := st.Studies(ctx)
	if err != nil {
		return store.Study{}, err
	}
	var found []store.Study
	for _, s := range all {
		if strings.HasPrefix(s.Hash.String(), prefix) {
			found = append(found, s)
		}
	}
	switch {
	case len(all) == 0:
		return store.Study{}, wire.WithHint(fmt.Errorf("there is no study yet"), "run concordd study create study.yaml")
	case len(found) == 0:
		return store.Study{}, fmt.Errorf("no study begins with %q", prefix)
	case len(found) > 1:
		return store.Study{}, wire.WithHint(cli.Usagef("%d studies fit; name one by the first digits of its hash", len(found)), "concordd status lists them")
	}
	return found[0], nil
}
