package table_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"concord/table"
)

// TestAbsurdSizes holds that a header of some bytes that says it has billions of columns
// is refused before room is made for them: what Go cannot allocate ends the program.
func TestAbsurdSizes(t *testing.T) {
	pictures := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 2, 0, 0, 0, 1}, 64<<20)
	parquet := func(meta []byte) []byte {
		b := append([]byte("PAR1"), meta...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(meta)))
		return append(b, "PAR1"...)
	}
	list := binary.AppendUvarint([]byte{0x15, 0x02, 0x19, 0xfc}, 1<<31-1)   // version 1, a list of so many columns
	text := binary.AppendUvarint([]byte{0x15, 0x02, 0x19, 0x18}, 1<<31-1)   // a list of one text of so many bytes
	deep := append([]byte{0x15, 0x02}, bytes.Repeat([]byte{0x1c}, 1000)...) // structs in structs
	for name, content := range map[string][]byte{
		"pictures": pictures, "columns": parquet(append(list, make([]byte, 20)...)),
		"text": parquet(append(text, make([]byte, 20)...)), "depth": parquet(deep), "footer": parquet(nil),
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := table.Open(path, newContract(), table.Options{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: error %v", name, err)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 32<<20 {
			t.Errorf("%s: %d MB were made", name, made>>20)
		}
	}
}
