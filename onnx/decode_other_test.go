package onnx

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"concord/onnx/internal/onnxpb"
)

// TestDecodeOther reads a file as another writer would make it: explicit
// defaults, the other spelling of the domain and of the last axis.
func TestDecodeOther(t *testing.T) {
	m := parse(t)
	m.OpsetImport[0].Domain = proto.String("ai.onnx")
	*m.OpsetImport[0].Version = 17
	for _, n := range m.Graph.Node {
		n.Domain = proto.String("")
		n.Name = nil
		switch n.GetOpType() {
		case "Gemm":
			for name, v := range map[string]float32{"alpha": 1, "beta": 1} {
				n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: &name, F: &v, Type: onnxpb.AttributeProto_FLOAT.Enum()})
			}
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: proto.String("transB"), I: proto.Int64(0), Type: onnxpb.AttributeProto_INT.Enum()})
		case "ArgMax":
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: proto.String("select_last_index"), I: proto.Int64(0), Type: onnxpb.AttributeProto_INT.Enum()})
		case "Softmax":
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: proto.String("axis"), I: proto.Int64(-1), Type: onnxpb.AttributeProto_INT.Enum()})
		}
	}
	g, err := Decode(marshal(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Encode(), every().Encode()) {
		t.Error("the same graph written otherwise encodes to other bytes")
	}
}

// TestDecodeOtherTrees reads trees as another writer would make them: lists that
// are not packed, attributes that say nothing, and zeros in leaves.
func TestDecodeOtherTrees(t *testing.T) {
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
		t.Fatal(err)
	}
	*m.OpsetImport[1].Version = 1
	m.OpsetImport[0], m.OpsetImport[1] = m.OpsetImport[1], m.OpsetImport[0]
	trees := m.Graph.Node[13]
	for _, a := range trees.Attribute {
		switch a.GetName() { // the leaf of zeros says all of them
		case "target_treeids":
			a.Ints = slices.Insert(a.Ints, 4, 0, 0)
		case "target_nodeids":
			a.Ints = slices.Insert(a.Ints, 4, 4, 4)
		case "target_ids":
			a.Ints = slices.Insert(a.Ints, 4, 1, 2)
		case "target_weights":
			a.Floats = slices.Insert(a.Floats, 4, 0, 0)
		}
	}
	for name, word := range map[string]string{"aggregate_function": "SUM", "post_transform": "NONE"} {
		trees.Attribute = append(trees.Attribute, &onnxpb.AttributeProto{Name: &name, S: []byte(word), Type: onnxpb.AttributeProto_STRING.Enum()})
	}
	trees.Attribute = append(trees.Attribute,
		&onnxpb.AttributeProto{Name: proto.String("nodes_hitrates"), Floats: []float32{1, 1, 1, 1, 1, 1}, Type: onnxpb.AttributeProto_FLOATS.Enum()},
		&onnxpb.AttributeProto{Name: proto.String("nodes_missing_value_tracks_true"), Ints: make([]int64, 6), Type: onnxpb.AttributeProto_INTS.Enum()})
	for _, a := range trees.Attribute {
		var loose []byte
		for _, v := range a.Floats {
			loose = protowire.AppendFixed32(protowire.AppendTag(loose, 7, protowire.Fixed32Type), math.Float32bits(v))
		}
		for _, v := range a.Ints {
			loose = protowire.AppendVarint(protowire.AppendTag(loose, 8, protowire.VarintType), uint64(v))
		}
		a.Floats, a.Ints = nil, nil
		a.ProtoReflect().SetUnknown(loose)
	}
	g, err := Decode(marshal(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Encode(), chosen().Encode()) {
		t.Error("the same graph written otherwise encodes to other bytes")
	}
}
