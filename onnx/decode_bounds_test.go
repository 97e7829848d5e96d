package onnx

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"concord/onnx/internal/onnxpb"
)

// TestDecodeWork bounds what a row may cost: one constant used over and over.
func TestDecodeWork(t *testing.T) {
	const w = 1024
	g := &Graph{inputs: w, constants: []constant{newConstant("m", []int{w, w}, make([]float32, w*w))}}
	last := inputName
	for i := range 300 {
		out := fmt.Sprint(i)
		g.nodes = append(g.nodes, node{op: "MatMul", in: []string{last, "m"}, out: []string{out}})
		last = out
	}
	g.nodes = append(g.nodes, node{op: "Identity", in: []string{last}, out: []string{scoresName}})
	if err := g.check(); err == nil || !strings.Contains(err.Error(), "node 257: a row takes more than") {
		t.Errorf("error %v, want too many multiplications", err)
	}
}

// TestDecodeBytes damages files below the level of messages.
func TestDecodeBytes(t *testing.T) {
	good := every().Encode()
	field := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	varint := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	graph := func(content []byte) []byte { return append(varint(1, 8), field(7, content)...) }
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "0 bytes"},
		{"text", []byte("hello"), "onnx: "},
		{"cut", good[:len(good)-1], "damaged"},
		{"training", append(bytes.Clone(good), field(20, nil)...), "field 20 (training information) of ModelProto is not allowed"},
		{"functions", append(bytes.Clone(good), field(25, nil)...), "(functions)"},
		{"unknown", append(bytes.Clone(good), field(1000, nil)...), "field 1000 of ModelProto"},
		{"second graph", append(bytes.Clone(good), field(7, nil)...), "ModelProto has the field graph twice"},
		{"second number", append(bytes.Clone(good), varint(1, 8)...), "ModelProto has the field ir_version twice"},
		{"bytes for a number", field(1, nil), "ir_version of ModelProto has wire type 2, want 0"},
		{"group", protowire.AppendTag(nil, 7, protowire.StartGroupType), "wire type 3, want 2"},
		{"field 0", []byte{0}, "damaged"},
		{"subgraph", graph(field(1, field(5, field(6, nil)))), "field 6 (a subgraph) of AttributeProto"},
		{"external data", graph(field(5, field(13, nil))), "field 13 (external data) of TensorProto"},
		{"float_data", graph(field(5, field(4, make([]byte, 4)))), "field 4 (numbers outside raw_data) of TensorProto"},
		{"packed name", graph(field(5, varint(8, 1))), "name of TensorProto has wire type 0, want 2"},
		{"sparse", graph(field(15, nil)), "(sparse constants)"},
		{"sequence", graph(field(11, field(2, field(4, nil)))), "field 4 (a sequence) of TypeProto"},
		{"many fields", bytes.Repeat(field(8, nil), maxFields+1), "more than 262144 fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(c.data)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
		t.Fatal(err)
	}
	m.MetadataProps = nil // the end, which may be missing
	for _, good := range [][]byte{good, marshal(t, m)} {
		for i := range good {
			if _, err := Decode(good[:i]); err == nil {
				t.Fatalf("the first %d of %d bytes were read", i, len(good))
			}
		}
	}
	if _, err := Decode(make([]byte, MaxBytes+1)); err == nil || !strings.Contains(err.Error(), "268435457 bytes, want 1 to 268435456") {
		t.Errorf("too many bytes: error %v", err)
	}
}

// TestDecodeMemory: a file of empty nodes, the worst there is, makes no more
// than a bounded multiple.
func TestDecodeMemory(t *testing.T) {
	nodes := bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), nil), maxFields-2)
	data := protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), nodes)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Decode(data); err == nil {
		t.Error("read")
	}
	runtime.ReadMemStats(&after)
	// 2¹⁸ messages of some 200 bytes, and the growth of the list.
	if made := after.TotalAlloc - before.TotalAlloc; made > 128<<20 {
		t.Errorf("%d bytes allocated for a file of %d", made, len(data))
	}
}

// TestDecodeTreesMemory: few bytes make no many numbers, be it of leaves that lie
// far apart, of targets, or of lists.
func TestDecodeTreesMemory(t *testing.T) {
	list := func(n int, v func(i int) int64) []int64 {
		all := make([]int64, n)
		for i := range all {
			all[i] = v(i)
		}
		return all
	}
	const leaves = 64 // trees of one leaf, whose numbers are MaxWidth apart
	one := func(name string, ints []int64) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: &name, Ints: ints, Type: onnxpb.AttributeProto_INTS.Enum()}
	}
	zero := func(int) int64 { return 0 }
	index := func(i int) int64 { return int64(i) }
	half := func(i int) int64 { return int64(i / 2) }
	modes := make([][]byte, leaves)
	for i := range modes {
		modes[i] = []byte("LEAF")
	}
	weights := make([]float32, 2*leaves)
	for i := range weights {
		weights[i] = float32(i + 1)
	}
	wide := []*onnxpb.AttributeProto{
		{Name: proto.String("n_targets"), I: proto.Int64(MaxWidth), Type: onnxpb.AttributeProto_INT.Enum()},
		{Name: proto.String("nodes_values"), Floats: make([]float32, leaves), Type: onnxpb.AttributeProto_FLOATS.Enum()},
		{Name: proto.String("nodes_modes"), Strings: modes, Type: onnxpb.AttributeProto_STRINGS.Enum()},
		{Name: proto.String("target_weights"), Floats: weights, Type: onnxpb.AttributeProto_FLOATS.Enum()},
		one("nodes_treeids", list(leaves, index)), one("nodes_nodeids", list(leaves, zero)), one("nodes_featureids", list(leaves, zero)),
		one("nodes_truenodeids", list(leaves, zero)), one("nodes_falsenodeids", list(leaves, zero)),
		one("target_treeids", list(2*leaves, half)), one("target_nodeids", list(2*leaves, zero)),
		one("target_ids", list(2*leaves, func(i int) int64 { return int64(i % 2 * (MaxWidth - 1)) })),
	}
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
		t.Fatal(err)
	}
	m.Graph.Node[13].Attribute = wide
	file := func(attribute []byte) []byte {
		for _, number := range []protowire.Number{5, 1, 7} { // of a node, of the graph, of the model
			attribute = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), attribute)
		}
		return attribute
	}
	for _, c := range []struct {
		name string
		data []byte
		most uint64 // bytes
		want string
	}{
		// The first row for each target.
		{"wide leaves", marshal(t, m), 8*MaxWidth + 1<<20, "targets and leaves have more than 16777216 different numbers together"},
		{"words", file(bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 9, protowire.BytesType), nil), maxTreeNodes+1)), 1 << 20,
			"file has more than 4194304 words in lists"},
		{"numbers", file(protowire.AppendBytes(protowire.AppendTag(nil, 8, protowire.BytesType), make([]byte, maxElements+1))), 1 << 20,
			"file has more than 67108864 numbers in lists"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(c.data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > c.most {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.name, made, len(c.data))
		}
	}
}

// FuzzDecode: any bytes give a graph or an error. A graph encodes to a file
// that decodes to the same, and runs on a row or says why not.
func FuzzDecode(f *testing.F) {
	f.Add(every().Encode())
	f.Add(chosen().Encode())
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) == 0 {
		f.Fatal("no frozen models", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Decode(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "onnx: ") {
				t.Fatalf("error %q does not say who speaks", err)
			}
			return
		}
		encoded := g.Encode()
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("the encoded graph is refused: %v", err)
		}
		if !bytes.Equal(again.Encode(), encoded) {
			t.Fatal("encoding is not stable")
		}
		src := rand.New(rand.NewPCG(uint64(len(data)), 1))
		x := mat.NewDense(1, g.Inputs(), nil)
		x.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, x)
		out, err := g.Run(x)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "onnx: row 1") {
				t.Fatalf("Run: %v", err)
			}
			return
		}
		if r, c := out.Scores.Dims(); r != 1 || c != g.Outputs() {
			t.Fatalf("scores are %d × %d", r, c)
		}
		if g.Classes() != nil && (out.Labels[0] < 0 || out.Labels[0] >= len(g.Classes())) {
			t.Fatalf("label %d of %d classes", out.Labels[0], len(g.Classes()))
		}
	})
}
