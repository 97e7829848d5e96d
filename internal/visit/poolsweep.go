package visit

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"concord/bundle"
	"concord/internal/durable"
	"concord/masked"
	"concord/secret"
)

// sweepPool deletes what nobody needs any more of stages whose sums are here: this site's own
// numbers, the masked words of all parties, and the messages in which they came. What was
// said stays in the stage's file, with all signatures; what was refused stays as it came. It
// may be cut short anywhere: the next call goes on.
func (v *Visit) sweepPool() error {
	words, err := filepath.Glob(v.site.Pool("*.words"))
	if err != nil {
		return err
	}
	inbox, err := filepath.Glob(v.site.Path("inbox", bundle.KindPool+"-*.bundle"))
	if err != nil {
		return err
	}
	if len(words) == 0 && len(inbox) == 0 {
		return nil
	}
	came := make(map[string]bool)
	for _, path := range inbox {
		came[path] = true
	}
	for i := range v.Whole.Stages() {
		sums, err := v.site.ReadPool(sumsFile(i + 1))
		if err != nil {
			return err
		}
		kept, err := v.site.ReadPool(stageFile(i + 1))
		if err != nil {
			return err
		}
		if sums == nil || kept == nil {
			continue
		}
		gone, err := v.spentFiles(i+1, kept, came)
		if err != nil {
			return err
		}
		if err := durable.Remove(gone...); err != nil {
			return err
		}
	}
	return nil
}

// spentFiles are those of a stage that is done, of what its file says.
func (v *Visit) spentFiles(stage int, kept []byte, came map[string]bool) ([]string, error) {
	gone := []string{v.site.Pool(vectorFile(stage))}
	var k keptRound
	if err := json.Unmarshal(kept, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", v.site.Pool(stageFile(stage)), err)
	}
	bodies, err := masked.Bodies(secret.NewBytes(k.State))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.site.Pool(stageFile(stage)), err)
	}
	for _, h := range bodies {
		gone = append(gone, v.site.Pool(wordsFile(h)))
	}
	for _, name := range k.Taken {
		if path := v.site.Path("inbox", name+".bundle"); came[path] {
			gone = append(gone, path)
		}
	}
	return gone, nil
}
