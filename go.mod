module concord

go 1.26.0

// Every direct dependency, and why.
require (
	filippo.io/age v1.3.2 // sealing to post-quantum recipients, random access while reading
	github.com/ebitengine/purego v0.11.3 // OpenBLAS, MKL, Accelerate at run time without cgo
	github.com/goccy/go-yaml v1.19.2 // study.yaml with positions; we read its syntax tree, not its values
	github.com/jackc/pgx/v5 v5.12.0 // rows from PostgreSQL, as they come
	github.com/parquet-go/parquet-go v0.32.0 // Parquet tables
	github.com/prometheus/client_golang v1.25.0 // what the server counts, for Prometheus
	github.com/spf13/cobra v1.10.2 // commands, flags, help
	golang.org/x/crypto v0.58.0 // scrypt, for the roster's phrase
	golang.org/x/sys v0.49.0 // which instructions the processor has
	golang.org/x/time v0.16.0 // requests of one key or address over time
	gonum.org/v1/gonum v0.17.0 // matrices and their pure Go decompositions
	google.golang.org/protobuf v1.36.12 // the ONNX file format
	modernc.org/sqlite v1.61.1 // the server's metadata, durable, without cgo; rows from SQLite
)

// For tests.
require (
	github.com/google/go-cmp v0.7.0 // readable differences
	github.com/rogpeppe/go-internal v1.16.0 // testscript: sessions as documentation
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // what travels is what openapi.json says
	pgregory.net/rapid v1.3.0 // property tests
)

require (
	filippo.io/hpke v0.4.0 // indirect
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
