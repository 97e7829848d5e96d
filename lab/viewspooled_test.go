package lab_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/lab"
	"concord/party"
	"concord/pooled"
	"concord/secret"
	"concord/table"
)

// TestViewsPooled: eight parties of two views that pool figures and draw a gaussian anchor of
// them, from files to models. Gaps are filled and columns scaled by the rows of those who have
// them; every party ranks new rows far better than chance; and the anchor relates what no
// party has together, so that the notes say so.
func TestViewsPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	text := strings.Replace(viewsYAML, "parties: 4", "parties: 8", 1)
	text = strings.Replace(text, "name: d, range: [-4, 4]", "name: d, range: [-4, 4], missing: mean", 1)
	text = strings.Replace(text, "levels: [x, y, z]", "levels: [x, y, z], missing: common", 1)
	c, err := contract.ParseYAML([]byte(text + "standardise: pooled\nanchor: {kind: gaussian, rows: 400}\nalignment: {method: ls}\n"))
	if err != nil {
		t.Fatal(err)
	}
	seed := seeded(t)
	rnd := rand.New(rand.NewPCG(8, 1))
	var views []*contract.Contract
	var names, files []string
	var open []pooled.Rows
	for i := range 8 {
		v, err := c.Through(c.ViewNames()[i%2])
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(rowsOf(v, 100+20*i, rnd), "\n")
		gap := slices.IndexFunc(v.Features, func(f contract.Feature) bool {
			return f.Missing == contract.MissingMean || f.Missing == contract.MissingCommon
		})
		for k := 1; k < len(rows)-1; k += 9 {
			cells := strings.Split(rows[k], ",")
			cells[gap] = ""
			rows[k] = strings.Join(cells, ",")
		}
		files = append(files, strings.Join(rows, "\n"))
		views, names = append(views, v), append(names, v.ViewOf())
		open = append(open, pooled.MatrixRows(tableOf(t, v, files[i]).X().Reveal()))
	}
	pool, err := pooled.InClear(c, seed, open, names...)
	if err != nil {
		t.Fatal(err)
	}
	moments, ok := pool.Moments()
	if !ok {
		t.Fatal("no moments")
	}
	figures := pool.Figures()
	if n := figures.Features; n[0].Missing != 0 || n[2].Missing == 0 || n[4].Missing == 0 || n[2].Count+n[2].Missing != figures.Views[0] {
		t.Fatalf("the figures are not of the rows that have a feature")
	}
	agreed := party.Agreed{Seed: seed, Figures: figures, Moments: secret.NewMatrix(mat.DenseCopyOf(moments))}
	p := play(t, c, views, agreed, func(i int) *table.Table { return tableOf(t, views[i], files[i]) })
	if notes := strings.Join(p.trained.Outcome.Notes, "\n"); !strings.Contains(notes, "are seen by both, with cosines from") || strings.Contains(notes, "NOTHING RELATES") {
		t.Errorf("the notes say of the views:\n%s", notes)
	}
	for i, v := range views {
		model := p.model(t, i)
		test := tableOf(t, v, rowsOf(v, 400, rnd))
		out, err := model.Run(test.X().Reveal())
		if err != nil {
			t.Fatal(err)
		}
		// As in TestViewsStudy: guessing has 0.5 with a deviation of 0.03.
		if got, err := lab.Judge(c, out.Scores, test, "roc_auc"); err != nil || got[0] < 0.8 {
			t.Errorf("party %d of view %s: ROC-AUC %.3f, %v", i+1, v.ViewOf(), got, err)
		}
	}
}
