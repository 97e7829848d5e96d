// Package lab is the laboratory: it simulates whole studies on data that it sees
// at once, which nobody in a real study may, and so answers whether a
// collaboration would be worth it. Nothing here runs at a party or at an analyst.
//
// Start with a [Setting], which says how rows are divided, which secrets are made,
// how the analyst aligns and what is trained; [Setting.Repeat] draws it anew many
// times and returns [Results] with intervals and paired tests. [Setting.Trial] is
// one draw.
//
// A number depends on the data, the setting, the seed and the repeat alone, not on
// the order of repeats, the number of workers or an interruption: every use of
// randomness has a stream of its own (see [Stream]).
//
// Data are read by package lab/dataset and divided by lab/split. The published
// experiments are settings in the folder experiments, run by lab/experiment.
//
// The laboratory uses the same bases, anchors, alignments and learners as the
// programs of a study, but no contract, network or bundle, and its randomness is
// seeded: what it makes is no secret.
package lab
