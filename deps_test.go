package concord

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// order is the import policy. A package may import only packages that stand in
// lines above its own: the order is that of the data's way, from matrices to
// programs. It is policy: a build that breaks it is mended, not the policy.
var order = [][]string{
	{"wire", "secret", "internal/field", "internal/build", "internal/repeatable", "internal/freeport", "internal/zonetest", "internal/limit", "internal/sitepage"},
	{"anchor/spec", "basis/spec"},
	{"linalg/internal/kernel", "linalg/internal/guard"},
	{"linalg/internal/lanes", "linalg/internal/symeig", "linalg/internal/native"},
	{"linalg/internal/engine"},
	{"linalg"},
	{"linalg/linalgtest"},
	{"manifold"},
	{"metric"},
	{"npy"},
	{"internal/lastline", "internal/durable", "internal/ahead", "internal/proxytest", "internal/onnxruntimetest", "internal/chart"},
	{"lab/page"},
	{"anchor", "basis"},
	{"align"},
	{"learn/internal/smo", "learn/internal/trees", "learn/internal/neural"},
	{"learn"},
	{"onnx/internal/onnxpb"},
	{"onnx"},
	{"privacy"},
	{"identity"},
	{"contract"},
	{"member"},
	{"release"},
	{"audit"},
	{"bundle", "masked"},
	{"table"},
	{"table/profile", "table/draft"},
	{"party"},
	{"pooled"},
	{"analyst"},
	{"lab/dataset", "lab/split", "lab/fedavg", "lab/tables", "experiments"},
	{"lab"},
	{"lab/experiment", "lab/faces", "lab/patients"},
	{"internal/api", "internal/parcel", "internal/pinned", "internal/signed", "internal/report", "internal/reviewpage", "internal/checkpage"},
	{"internal/cli"},
	{"internal/store", "internal/client", "internal/site"},
	{"internal/doctor", "internal/auditlog", "internal/analysis", "internal/dossier"},
	{"internal/replay"},
	{"internal/server", "internal/post", "internal/visit/event"},
	{"internal/visit"},
	{"internal/cli/concord", "internal/cli/concordd"},
	{"internal/demo"},
	{"internal/cli/lab"},
	{"cmd/concord", "cmd/concordd", "cmd/concord-lab"},
	{"scripts/mutate"},
	// The module in test/, which the product's module cannot import.
	{"test/powercut", "test/load"},
	{"test/chaos"},
	{"test/upload"},
	{"test/stress"},
	{"test/cmd/concord-stress"},
}

// modules are where they are: the product's, and the one that puts it under stress.
var modules = []string{".", "test"}

// partySide is what the analyst's program must not be able to link: whoever
// makes anchors or bases, or reads rows. The party's program in turn has no use
// for the analyst's store.
var borders = []struct {
	program   string
	mayNotUse []string
}{
	{"cmd/concordd", []string{"anchor", "basis", "masked", "party", "pooled", "table", "lab", "internal/site", "internal/visit", "internal/cli/concord", "linalg/linalgtest"}},
	{"cmd/concord", []string{"analyst", "lab", "internal/store", "internal/server", "internal/cli/concordd", "linalg/linalgtest"}},
}

// TestCommandsAlone makes sure that flags stay in the packages of commands: what others
// import can be used without them.
func TestCommandsAlone(t *testing.T) {
	const flags = "github.com/spf13/cobra"
	commands, module := 0, modulePath(t)
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...") {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(words[0], module+"/")
		if !slices.Contains(words[1:], flags) {
			continue
		}
		commands++
		if pkg != "internal/cli" && !strings.HasPrefix(pkg, "internal/cli/") {
			t.Errorf("%s imports %s", pkg, flags)
		}
	}
	if commands == 0 {
		t.Fatal("no package imports " + flags + ": the check sees nothing")
	}
}

// goList runs go list in the product's module.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	return goListIn(t, ".", args...)
}

// goListIn runs go list in the module of a folder.
func goListIn(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v in %s: %v", args, dir, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// modulePath is the path in go.mod: the one place where it stands, but for the import
// declarations that scripts/rename-module.sh renames.
func modulePath(t *testing.T) string {
	t.Helper()
	return goList(t, "-m")[0]
}

func TestImportOrder(t *testing.T) {
	module := modulePath(t)
	level := map[string]int{}
	for i, line := range order {
		for _, name := range line {
			level[module+"/"+name] = i + 1
		}
	}
	var lines []string
	for _, dir := range modules {
		lines = append(lines, goListIn(t, dir, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")...)
	}
	for _, line := range lines {
		words := strings.Fields(line)
		pkg := words[0]
		if pkg == module {
			continue // the documentation, and this test
		}
		at, ok := level[pkg]
		if !ok {
			t.Errorf("%s has no place in the import order", pkg)
			continue
		}
		for _, imported := range words[1:] {
			if strings.HasPrefix(imported, module+"/") && level[imported] >= at {
				t.Errorf("%s imports %s, which does not stand above it", pkg, imported)
			}
		}
	}
}

// TestSpecsAreData holds that what a contract is composed of links nothing but the standard
// library and the error that says which field is wrong.
func TestSpecsAreData(t *testing.T) {
	for _, name := range []string{"anchor/spec", "basis/spec"} {
		module := modulePath(t)
		own := []string{module + "/" + name, module + "/internal/field"}
		deps := goList(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+name)
		slices.Sort(deps)
		if deps = slices.DeleteFunc(deps, func(d string) bool { return d == "" }); !slices.Equal(deps, own) {
			t.Errorf("%s links %v, want %v alone", name, deps, own)
		}
	}
}

func TestTrustBorders(t *testing.T) {
	module := modulePath(t)
	for _, b := range borders {
		deps := goList(t, "-deps", "./"+b.program)
		if !slices.Contains(deps, module+"/contract") {
			t.Fatalf("go list -deps %s gives no package of ours: the check sees nothing", b.program)
		}
		for _, name := range b.mayNotUse {
			if slices.Contains(deps, module+"/"+name) {
				t.Errorf("%s can link %s", b.program, name)
			}
		}
	}
}
