package visit

import (
	"os"
	"path/filepath"
	"testing"

	"concord/internal/reviewpage"
	"concord/internal/site"
)

// TestMayWritePage: a page replaces a page only, and stays out of the site's folder by
// whatever name it is called.
func TestMayWritePage(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, d := range []string{at("site", "contribution", "leaves"), at("folder.html")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"data.csv": "age\n1\n", "empty.html": "", "other.html": "<!DOCTYPE html>\n",
		"page.html":      "<!-- concord review page, format 1 -->\n",
		"site/page.html": "<!-- concord review page, format 1 -->\n",
	} {
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"way-in": at("site"), "link.html": at("page.html"),
		"nowhere.html": at("missing")} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	v := &Visit{site: &site.Site{Dir: at("site")}}
	for path, want := range map[string]bool{
		at("new.html"): true, at("page.html"): true, at("site", "..", "new.html"): true,
		"": false, "-": false,
		at("data.csv"): false, at("empty.html"): false, at("other.html"): false, at("folder.html"): false,
		at("link.html"): false, at("nowhere.html"): false, at("missing", "new.html"): false,
		at("site", "new.html"): false, at("site", "page.html"): false, at("site", "policy.yaml"): false,
		at("site", "contribution", "leaves", "new.html"): false, at("way-in", "new.html"): false,
		at("way-in", "contribution", "new.html"): false,
	} {
		if err := v.mayWritePage(path, "review", reviewpage.Marked); (err == nil) != want {
			t.Errorf("%s: %v, want allowed %v", path, err, want)
		}
	}
	// A relative name is one in the folder where the command runs.
	t.Chdir(at("site", "contribution"))
	if err := v.mayWritePage("new.html", "review", reviewpage.Marked); err == nil {
		t.Error("a page may be written into the site's folder by a relative name")
	}
}
