// Concord-stress puts studies, a server and an upload under stress. See concord-stress --help.
package main

import (
	"concord/internal/cli"
	"concord/test/stress"
)

func main() { cli.Main(stress.Run) }
