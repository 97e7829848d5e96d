// Package experiment runs declarative experiments: the files in the folder
// experiments, which hold settings and the figures that a paper published for them.
//
// Start with [Load], then [Experiment.Run], which gives a [Report]: every figure of
// ours, the published one where there is one, and their difference in standard
// errors. [Report.Write] makes the files: CSV, JSON, HTML, Markdown and SVG.
//
// A file is read strictly: an unknown key is an error. Where data are missing an
// experiment fails; it never leaves anything out by itself.
package experiment
