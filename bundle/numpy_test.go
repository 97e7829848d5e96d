package bundle_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"concord/bundle"
)

// inspect opens a zip as a person would, and as a strict zip program does.
const inspect = `
import json, sys, zipfile
import numpy as np
path, members = sys.argv[1], sys.argv[2:]
with np.load(path, allow_pickle=False) as z:
    assert z["X"].dtype == np.float64 and z["X"].shape == (3, 2), z["X"]
    assert z["X"].tolist() == [[1.5, -2.0], [0.1, 3e300], [5e-324, 6.0]], z["X"]
    assert z["Y"].dtype == np.int64 and z["Y"].tolist() == [0, 1, 1], z["Y"]
    assert z["report.txt"] == b"three rows\n", z["report.txt"]
    manifest = json.loads(z["manifest.json"])
    assert manifest["kind"] == "contribution" and manifest["members"][0]["shape"] == [3, 2], manifest
with zipfile.ZipFile(path) as z:
    assert z.testzip() is None
    assert z.namelist() == members, z.namelist()
    assert all(i.date_time == (1980, 1, 1, 0, 0, 0) and i.compress_type == 0 and not i.extra and not i.comment for i in z.infolist())
print("read by NumPy", np.__version__)
`

// TestNumPyOpens: whoever wants to see what leaves, or what came, opens it with
// numpy.load. Needs python3-numpy.
func TestNumPyOpens(t *testing.T) {
	d := draft(bob())
	var unsealed, opened bytes.Buffer
	if err := bundle.WriteUnsealed(&unsealed, describe(t, d), d.Members); err != nil {
		t.Fatal(err)
	}
	r, err := open(sealed(t, d, bob()), expect(bundle.KindContribution, bob()), bob())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.WriteTo(&opened); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		b       []byte
		members []string
	}{
		{"draft.zip", unsealed.Bytes(), []string{"manifest.json", "X.npy", "Y.npy", "report.txt"}},
		{"opened.zip", opened.Bytes(), []string{"manifest.json", "manifest.sig", "approval.json", "X.npy", "Y.npy", "report.txt"}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.b, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("/usr/bin/python3", append([]string{"-c", inspect, path}, c.members...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", c.name, err, out)
		}
	}
}
