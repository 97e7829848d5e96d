// Package parcel is the file that carries what one visit has to say between a site and
// the analyst where no network does: on a USB stick, by courier, through a guarded
// gateway. It holds the same messages and bundles that the API takes and gives.
//
// Whoever writes calls [Write]. Whoever takes calls [Open], then [Parcel.Unseal] with
// its keys, then [Parcel.Verify] with the sender's signing key, and only then reads
// items. What the items mean, and whether an older parcel may follow a newer one, is for
// the caller to say.
//
// A parcel of format 1 is
//
//	line, "\n", payload
//
// The line is canonical JSON that a person can read: the [Head]. Its first field tells a
// parcel from a bundle. The payload is an age file to the recipient's hybrid key; only
// that of a join, written before the analyst's key is known, lies open and holds nothing
// secret. In it stands, without compression, names or gaps,
//
//	index line, "\n", item, item, ...
//
// The index repeats what the line says of study, sender, recipient and number, so that a
// line with another sender's signature fits no payload but its own, and gives kind and
// size of each item. The signature of the line covers the SHA-256 of the payload: one
// bit that changed on the way, or a file that was cut, is refused before anything is
// read from it.
//
// An observer learns who writes to whom in which study (as fingerprints), when, and how
// much; of a join also the site's identity statement, which holds its name.
package parcel
