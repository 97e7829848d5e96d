package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/contract"
	"concord/internal/api"
	"concord/internal/build"
	"concord/linalg"
)

// version is what the build recorded of itself, and what computes in this
// process: that is found out here, and not by --version.
func version() string { return build.Program() + "\nlinear algebra by " + linalg.Backend().String() }

// versionCommand says what a program is and what it understands.
func versionCommand(name string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which versions of program, API and files this is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Program  string `json:"program"`
				Version  string `json:"version"`
				API      int    `json:"api"`
				Reads    int    `json:"api_reads_from"`
				Contract int    `json:"contract_format"`
				Bundle   int    `json:"bundle_format"`
				System   string `json:"system"`
			}{name, version(), api.Version, api.Oldest, contract.Format, bundle.Format, runtime.GOOS + "/" + runtime.GOARCH}
			out := cmd.OutOrStdout()
			if asJSON {
				return json.NewEncoder(out).Encode(v)
			}
			_, err := fmt.Fprintf(out, "%s %s\nAPI version %d, reads from version %d\ncontract format %d, bundle format %d\n%s\n",
				v.Program, v.Version, v.API, v.Reads, v.Contract, v.Bundle, v.System)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
