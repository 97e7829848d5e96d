module concord

go 1.26.0

// Every direct dependency, and why.
require (
	filippo.io/age v1.3.2 // sealing to post-quantum recipients, random access while reading
	github.com/ebitengine/purego v0.11.3 // OpenBLAS, MKL, Accelerate at run time without cgo
	github.com/goccy/go-yaml v1.19.2 // study.yaml with positions; we read its syntax tree, not its values
	github.com/spf13/cobra v1.10.2 // commands, flags, help
	golang.org/x/crypto v0.58.0 // scrypt, for the roster's phrase
	golang.org/x/sys v0.49.0 // which instructions the processor has
	gonum.org/v1/gonum v0.17.0 // matrices and their pure Go decompositions
	google.golang.org/protobuf v1.36.12 // the ONNX file format
	modernc.org/sqlite v1.61.1 // the server's metadata, durable, without cgo
)

// For tests only.
require (
	github.com/google/go-cmp v0.7.0 // readable differences
	github.com/rogpeppe/go-internal v1.16.0 // testscript: sessions as documentation
	pgregory.net/rapid v1.3.0 // property tests
)

require (
	filippo.io/hpke v0.4.0 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/tools v0.52.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
