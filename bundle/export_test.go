package bundle

// FromMatrixBlocks is FromMatrix with small blocks.
var FromMatrixBlocks = fromMatrix
