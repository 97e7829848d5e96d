package release

// Members of the bundles, without the .npy that bundle adds to matrices.
const (
	// Of a contribution: X̃ᵢ (n × l), Ãᵢ (a × l), and the labels: n class
	// indices (int64) or n × 1 numbers.
	MemberX = "X"
	MemberA = "A"
	MemberY = "Y"
	// Of a result: Gᵢ (l × d), the model h as ONNX, what the analyst measured.
	MemberG       = "G"
	MemberModel   = "h.onnx"
	MemberMetrics = "metrics.json"
	// After the first round, what the model was made of (Round).
	MemberRound = "round.json"
	// Of a result under nri, in place of G and h: the answers for the anchor, a
	// class indices (int64), or a × k scores.
	MemberAnswers = "answers"
)
