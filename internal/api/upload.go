package api

import (
	"strings"

	"concord/wire"
)

// A bundle that is larger than a part comes in parts, by the tus resumable upload
// protocol 1.0.0 with its extensions creation, creation-with-upload, expiration and
// termination (https://tus.io/protocols/resumable-upload):
//
//	POST   PathUploads  Upload-Length, body: the envelope line and any more. 201, Location
//	HEAD   PathUpload   Upload-Offset: the bytes that are on the server's disk
//	PATCH  PathUpload   Upload-Offset, body: the bytes from there on. 204, Upload-Offset
//	DELETE PathUpload   gives the upload up
//	GET    PathUpload   200 and the receipt; 202 while the server checks the whole
//
// The request that creates an upload must hold the whole envelope line, by which it
// is judged; of its body only the line is kept. Creating an upload with the same
// line again gives the one that is under way, and 200 with the receipt if the
// bundle is stored.

// Names and values of the tus protocol.
const (
	TusVersion       = "1.0.0"
	TusExtensions    = "creation,creation-with-upload,expiration,termination"
	PartMediaType    = "application/offset+octet-stream"
	HeaderResumable  = "Tus-Resumable"
	HeaderVersions   = "Tus-Version"
	HeaderExtensions = "Tus-Extension"
	HeaderMaxSize    = "Tus-Max-Size"
	HeaderLength     = "Upload-Length"
	HeaderOffset     = "Upload-Offset"
	HeaderExpires    = "Upload-Expires"
	HeaderOverride   = "X-HTTP-Method-Override"
)

// Checking answers GET PathUpload while the server checks an upload.
type Checking struct {
	State string `json:"state"` // InCheck
}

// InCheck says that all bytes are there and that their check goes on.
const InCheck = "checking"

// UploadPath is the path of an upload.
func UploadPath(study wire.Hash, id string) string {
	return strings.Replace(Path(PathUpload, study), "{upload}", id, 1)
}
