package api

import _ "embed"

// OpenAPI describes every path, message and error of the API, as an OpenAPI 3.1
// document. Tests of package server hold routes and answers against it: who adds a
// path, a field or a code describes it there.
//
//go:embed openapi.json
var OpenAPI []byte
