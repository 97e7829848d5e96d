package contract

import (
	"slices"

	anchorspec "concord/anchor/spec"
	basisspec "concord/basis/spec"
)

// fillIn sets what study.yaml left out (see ParseYAML) and what follows from
// the rest.
func (c *Contract) fillIn() {
	setDefault(&c.Protocol, "dc")
	c.fillInRows()
	c.fillInProjection()
	c.fillInAlignment()
	c.fillInModels()
	c.fillInFloors()
	setNumber(&c.MaxRows, 1_000_000)
	c.Expect = c.expect()
}

// fillInRows sets what becomes of features and what the label is.
func (c *Contract) fillInRows() {
	if c.Standardise == "" {
		c.Standardise = "range"
		if slices.ContainsFunc(c.Features, func(f Feature) bool { return f.Range == nil && f.Ranged() }) {
			c.Standardise = "none"
		}
	}
	if c.Label.Type == "" {
		c.Label.Type = "number"
		if len(c.Label.Levels) > 0 {
			c.Label.Type = "class"
		}
	}
}

// fillInProjection sets anchor, basis, and what is pooled for them.
func (c *Contract) fillInProjection() {
	m := c.Width()
	if c.Protocol == "nri" {
		setDefault(&c.Anchor.Kind, anchorspec.Normal)
		setDefault(&c.Basis.Kind, basisspec.Perturbed)
	}
	setDefault(&c.Anchor.Kind, anchorspec.Orthonormal)
	setNumber(&c.Anchor.Rows, c.Anchor.Defaults(m, 0).Rows)
	setDefault(&c.Basis.Kind, basisspec.PCA)
	c.fillInViews()
	b := c.Basis.Defaults(c.free())
	setNumber(&c.Basis.Dim, b.Dim)
	setNumber(&c.Basis.Delta, b.Delta)
	c.fillInPooling()
	a := c.Anchor.Defaults(m, c.Basis.Dim)
	setNumber(&c.Anchor.Rank, a.Rank)
	setNumber(&c.Anchor.Delta, a.Delta)
	setNumber(&c.Anchor.Neighbours, a.Neighbours)
}

// fillInViews sets the dimension of each view, and where there are any that of the basis
// and the alignment.
func (c *Contract) fillInViews() {
	widest := unset
	for i := range c.Views {
		columns := 0
		for _, f := range c.Features {
			if slices.Contains(c.Views[i].Features, f.Name) {
				columns += f.free()
			}
		}
		setNumber(&c.Views[i].Dim, c.Basis.Defaults(columns).Dim)
		widest = max(widest, c.Views[i].Dim)
	}
	if len(c.Views) > 0 {
		setNumber(&c.Basis.Dim, widest)
		setDefault(&c.Alignment.Method, "ls")
	}
}

// fillInAlignment sets how the analyst finds the Gᵢ.
func (c *Contract) fillInAlignment() {
	setDefault(&c.Alignment.Method, "odc")
	if c.Alignment.Method == "ls" {
		setDefault(&c.Alignment.Target, "sigma")
	}
	setDefault(&c.Alignment.Target, "identity")
	if c.Alignment.Method == "consensus" && c.Alignment.Dim == 0 && c.Basis.Dim > 0 && c.Parties > 0 {
		c.Alignment.Dim = min((3*c.Basis.Dim+1)/2, c.Anchor.Rows, c.Parties*c.Basis.Dim)
	}
}

// fillInModels sets models, metrics and the answers of nri, by the label.
func (c *Contract) fillInModels() {
	if c.Protocol == "nri" {
		if c.Label.Type == "number" {
			setDefault(&c.Answers, "soft")
		}
		setDefault(&c.Answers, "hard")
	}
	if c.Label.Type == "class" {
		setDefault(&c.Model.Kind, "logistic")
		if c.Metrics == nil {
			c.Metrics = []string{"accuracy"}
			if len(c.Label.Levels) == 2 {
				c.Metrics = []string{"roc_auc", "accuracy"}
			}
		}
	} else {
		setDefault(&c.Model.Kind, "ridge")
		if c.Metrics == nil {
			c.Metrics = []string{"rmse", "r2"}
		}
	}
	c.Model.fillIn()
	if c.Protocol == "nri" && c.LocalModel == nil {
		local := c.Model
		if slices.Contains(rowKinds, local.Kind) {
			local = unsetModel()
		}
		c.LocalModel = &local
	}
	if c.LocalModel != nil {
		kind := "ridge"
		if c.Label.Type == "class" {
			kind = "logistic"
		}
		setDefault(&c.LocalModel.Kind, kind)
		c.LocalModel.fillIn()
	}
}

// fillInFloors sets the least figures of a contribution.
func (c *Contract) fillInFloors() {
	setNumber(&c.Floors.Rows, max(10, c.Basis.Dim+1))
	if c.Label.Type == "class" {
		setNumber(&c.Floors.PerClass, 3)
	}
	setNumber(&c.Floors.PerClass, 0)
	if c.Subject != "" {
		setNumber(&c.Floors.People, min(10, c.Floors.Rows))
	}
	setNumber(&c.Floors.People, 0)
	setNumber(&c.Floors.Eps, 0)
}

// fillInPooling sets what pooling has where something is pooled.
func (c *Contract) fillInPooling() {
	if c.Pooling == nil {
		if !c.pools() {
			return
		}
		c.Pooling = &Pooling{Colluders: unset, Sketch: unset, Power: unset}
	}
	p := c.Pooling
	setNumber(&p.Colluders, 1)
	if c.Basis.Pooled() {
		setDefault(&p.Weights, "rows")
		if c.M() > MomentColumns && c.Anchor.Kind != anchorspec.Gaussian {
			setNumber(&p.Sketch, min(c.M(), 2*c.Basis.Dim+10))
		}
		if p.Sketch > 0 {
			setNumber(&p.Power, 2)
		}
	}
	setNumber(&p.Sketch, 0)
	setNumber(&p.Power, 0)
}
