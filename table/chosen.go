package table

// chosen is the columns of a source, and those of them that are read. Every source
// embeds it.
type chosen struct {
	columns []Column
	wanted  []int // indices of columns, in the order of a record's cells
}

// add adds a column, which is read unless Select says otherwise.
func (c *chosen) add(column Column) {
	c.wanted = append(c.wanted, len(c.columns))
	c.columns = append(c.columns, column)
}

// Columns are those of every row, in their order.
func (c *chosen) Columns() []Column { return c.columns }

// Select says which of the columns are read, by their indices, in the order of a
// record's cells.
func (c *chosen) Select(columns []int) { c.wanted = columns }

// room makes the cells of r as many as the columns that are read.
func (c *chosen) room(r *Record) {
	if len(r.Cells) != len(c.wanted) {
		r.Cells = make([]Cell, len(c.wanted))
	}
}
