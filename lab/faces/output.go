package faces

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"concord/internal/chart"
	"concord/lab/page"
)

// Figure is the grid of pictures. What collusion gives without the mean is what is
// kept, to rounding, and not drawn again.
func (r *Report) Figure() chart.Images {
	c := chart.Images{Title: "What leaves, what is kept, what collusion gives back", Width: r.Width, Height: r.Height}
	for _, row := range r.Rows {
		if row.Kind != Collusion {
			c.Rows = append(c.Rows, row.Name)
			c.Cells = append(c.Cells, row.cells)
		}
	}
	for k := range r.Rows[0].cells {
		c.Columns = append(c.Columns, strconv.Itoa(k+1))
	}
	return c
}

// JSON writes the settings and the table. Its names are stable.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// HTML writes the page as one file with its figure.
func (r *Report) HTML(w io.Writer) error {
	return r.page().HTML(w)
}

// Markdown writes the page with its figure by the name faces.svg.
func (r *Report) Markdown(w io.Writer) error {
	return r.page().Markdown(w)
}

// page is the report in either form.
func (r *Report) page() page.Page {
	dims := make([]string, len(r.Asked))
	for i, l := range r.Asked {
		dims[i] = strconv.Itoa(l)
	}
	p := page.Page{
		Title: "What leaves, and what it gives away: faces",
		Lead:  "The l numbers that leave a party for each picture mean nothing to the eye. Whoever has the anchor as well sees faces: that the eye cannot read what leaves protects nobody.",
		Facts: [][2]string{
			{"Data", fmt.Sprintf("%s, %d × %d grey pixels from 0 to 1, m = %d", r.Data, r.Width, r.Height, r.Features)},
			{"Parties", fmt.Sprintf("%d of %d pictures each, drawn at random; party %d is attacked by the analyst with party %d", r.Parties, r.PartyRows, Attacked, Colluding)},
			{"Dimensions l", strings.Join(dims, ", ")},
			{"Bases", "F = V E, E Haar, V the leading right singular vectors of all parties' rows (common span) or of the party's own (own span)"},
			{"Anchor", fmt.Sprintf("uniform, %d rows", r.AnchorRows)},
			{"Noise", fmt.Sprintf("Gaussian, δ = %g, analytic calibration, sensitivity %g for a pixel; for a picture it would be √m = %.4g", r.Delta, r.Sensitivity, r.PictureSensitivity)},
			{"Seed", strconv.FormatUint(r.Seed, 10)},
		},
		Notes: []string{
			fmt.Sprintf("The (ε, δ) of the noise is that of one pixel, as pictures that can be recognised at ε = 8 imply; ODC2 does not state its sensitivity. It is not differential privacy of a picture: a picture has m = %d pixels and sensitivity √m = %.4g, so the same guarantee for a picture takes %.4g times the noise. Many pixels together outweigh the noise of each, which is why noised pictures that nobody can make out still lead to their originals. Cleaned: the linear guess of least mean square from mean and covariance of the colluding party's pictures, which may show the same people.", r.Features, r.PictureSensitivity, r.PictureSensitivity),
			"The projections are not differentially private at all. The analyst alone is not helpless either: orthonormal bases keep distances, and known rows, or a second sample of the kind, give guesses without the anchor. The threat model says which, and a site's own report measures them.",
			"A basis of a party's own rows keeps those rows better than a common one of the same l, and all of them at l = n, however many pixels there are: what counts is l against what the rows span. The mean adds nothing here: the bases are of rows that are not centred, so they hold what matters of it.",
			"The attacks are simple ones, and others may guess better. Nobody can make out the projected pictures of ODC2, so they are likely to be the numbers that leave and not what the basis keeps; its pictures have colour and 128 × 128 pixels.",
		},
	}
	if r.Command != "" {
		p.Facts = append([][2]string{{"Command", r.Command}}, p.Facts...)
	}
	p.Notes = append(p.Notes, r.Notes...)
	if r.StandIn != "" {
		p.Notes = append(p.Notes, "Data: "+r.StandIn+".")
	}
	p.Sections = []page.Section{
		{Title: "In pictures", Figures: []page.Figure{{Name: "faces.svg", Chart: r.Figure(), Caption: "Pictures of the attacked party, after ODC2 figures 2 and 5. What leaves: the l numbers of a picture as squares, black the smallest and white the largest of the row. Kept: X F F⁺; collusion alone gives the same, and is not drawn again. Collusion and mean: where the basis says nothing, the mean. Noise: (ε, δ) of a pixel and not of a picture; what is beyond black and white is cut."}}},
		{
			Title: "In numbers",
			Text:  "1 − R²: 0 is every pixel exact, 1 as good as guessing the mean picture, more is worse. Linked: the share of guesses that are nearest to their own original among the party's pictures, pixels in units of their deviations; " + fmt.Sprintf("chance is %.3g.", r.Chance) + " Place: the median place of the own original in that order. What leaves is no guess of pixels, so it has neither.",
			Table: r.table(),
		},
	}
	return p
}

func (r *Report) table() *page.Table {
	t := &page.Table{
		Columns: []string{"Row", "Who sees it, and what it takes", "σ", "1 − R²", "Linked", "Place"},
		Numeric: []bool{false, false, true, true, true, true},
	}
	for _, row := range r.Rows {
		cells := []string{row.Name, row.Knows, "", "-", "-", "-"}
		if row.Sigma > 0 {
			cells[2] = fmt.Sprintf("%.3f", row.Sigma)
		}
		if g := row.Guess; g != nil {
			cells[3], cells[4], cells[5] = unexplained(g.Unexplained), fmt.Sprintf("%.2f", g.Linked), fmt.Sprintf("%.4g", g.Median)
		}
		t.Rows = append(t.Rows, page.Row{Cells: cells})
	}
	return t
}

// exact is below what rounding leaves of R², some 1e-20 for the anchors used here, and
// far below what could be seen.
const exact = 1e-12

func unexplained(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < exact:
		return "0 to rounding"
	case v < 100:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}
