// Package concord is Data Collaboration analysis: institutions that may not pool their
// rows train one model together, without iterating and without sending a raw row. The
// package itself holds this page and examples; the work is in the packages below.
//
// # The pipeline
//
//	X   rows of a party (n × m), read by table, prepared as the contract says
//	F   its secret basis (m × l), by basis; X̃ = X F leaves, F stays
//	A   the anchor (a × m), by anchor, of a seed that the parties share and the analyst
//	    lacks; Ã = A F leaves
//	G   changes of basis (l × d), one a party, by align, from the Ã of all parties alone
//	h   a model, by learn, of the stacked X̃ G and their labels; by onnx a file
//	    x ↦ h(((x − c)/s) F G), which scores new rows at the party
//
// Package party has a site's steps and package analyst the analyst's, as pure functions
// on matrices and a contract. docs/methods.md is the mathematics, docs/threat-model.md
// says what is protected against whom, ARCHITECTURE.md draws the whole.
//
// Whoever has NumPy files begins with package align (examples Align and Train), whoever
// wants the steps of a study with packages party and analyst (example Study), and whoever
// wants to take part in one with the program concord (README.md).
//
// # What is public
//
// Nothing is promised about packages below internal/ and cmd/, nor about what the three
// programs print for people. JSON that a command prints with --json, and the formats of
// docs/formats.md, have versions of their own.
//
//	package          what it is                                        promise
//	linalg           BLAS and LAPACK chosen at run time                stable
//	linalg/linalgtest  tests with every engine                         laboratory
//	manifold         matrices with orthonormal rows or columns         stable
//	align            changes of basis                                  stable
//	learn            models                                            stable
//	onnx             models as files                                   stable
//	metric           how good, and how sure                            stable
//	privacy          attacks on one's own rows, noise                  stable
//	npy              NumPy files                                       stable
//	secret           values that do not print                          stable
//	anchor/spec      which anchor, as data                             may change before 1.0
//	anchor           the secret anchor                                 may change before 1.0
//	basis/spec       which basis, as data                              may change before 1.0
//	basis            secret bases, random Fourier features             may change before 1.0
//	wire             hashes, signatures, errors with a cure            may change before 1.0
//	identity         keys and statements                               may change before 1.0
//	contract         what all agree on, and how rows are prepared      may change before 1.0
//	member           rosters, invites, receipts                        may change before 1.0
//	release          what leaves and comes back, in words              may change before 1.0
//	table            rows from files and databases                     may change before 1.0
//	table/profile    what looks wrong in a file                        may change before 1.0
//	table/draft      a first contract from a file                      may change before 1.0
//	bundle           signed and sealed files                           may change before 1.0
//	audit            logs that cannot be changed unseen                may change before 1.0
//	masked           sums that show no summand                         may change before 1.0
//	pooled           what is summed, and what follows                  may change before 1.0
//	party            a site's steps                                    may change before 1.0
//	analyst          the analyst's steps                               may change before 1.0
//	lab              simulated studies                                 laboratory
//	lab/dataset      the published data sets                           laboratory
//	lab/split        partitions                                        laboratory
//	lab/fedavg       federated averaging, to compare with              laboratory
//	lab/experiment   the published experiments                         laboratory
//	lab/faces        what pictures of faces give away                  laboratory
//	lab/patients     what published patients give away                 laboratory
//	lab/tables       tables with defects, to try programs on           laboratory
//	lab/page         reports                                           laboratory
//	experiments      the experiments' files                            laboratory
//
// stable: a name is not removed and does not change its meaning before a new major
// version; before 1.0 a change comes with a line in CHANGELOG.md that says what to do
// instead. Results may differ in their last bits between versions, never by more than
// the documented tolerances. may change before 1.0: a minor version may change names;
// CHANGELOG.md says so. laboratory: for the experiments of this repository, without a
// promise.
//
// Wherever a public function outside the laboratory takes or returns a type, it is one that importers can name: a
// test holds that, and that this table has every package.
package concord
