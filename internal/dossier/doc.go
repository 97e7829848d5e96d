// Package dossier is the file that an analyst seals to an auditor: everything of one
// study, so that the auditor can verify it and compute the results again.
//
// Whoever exports calls [NewWriter], [Writer.Add] for every file and [Writer.Close].
// Whoever replays calls [Open] and [Dossier.Verify]; package replay does the rest.
//
// A dossier is an age file to the auditor's hybrid key. In it lies a zip with stored
// members, of any order and number, and export.json at the end: the [Index], which the
// analyst signs and which names every other member with its SHA-256. After age -d any
// zip program opens it.
//
// Bundles stand in it byte for byte as they came, with the sender's signature. What
// opens them for the auditor is beside them: the file keys of their age payloads, which
// the analyst has and gives ([Keys]), never the analyst's own key. So an auditor who
// is given one study can read nothing else that was sealed to the analyst.
package dossier
