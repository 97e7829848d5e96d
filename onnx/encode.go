package onnx

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"concord/onnx/internal/onnxpb"
)

// What the format calls the types used here.
const (
	typeFloat = 1 // TensorProto.FLOAT
	typeInt64 = 7 // TensorProto.INT64
)

// What is written; decode.go says what is read.
const (
	irVersion    = 8
	opsetVersion = 13
	mlVersion    = 3
	producer     = "concord"
	metadataKey  = "concord"
	batchName    = "N"
)

// Encode is the graph as an ONNX file, at most MaxBytes. The same graph gives
// the same bytes; Decode gives the graph back.
func (g *Graph) Encode() []byte {
	meta, err := json.Marshal(g.meta)
	if err != nil {
		panic("onnx: metadata: " + err.Error()) // strings only, checked
	}
	pb := &onnxpb.GraphProto{Name: proto.String(producer)}
	for i := range g.nodes {
		pb.Node = append(pb.Node, g.nodes[i].encode())
	}
	for i := range g.constants {
		pb.Initializer = append(pb.Initializer, g.constants[i].encode())
	}
	pb.Input = []*onnxpb.ValueInfoProto{valueInfo(inputName, typeFloat, g.inputs)}
	pb.Output = []*onnxpb.ValueInfoProto{valueInfo(scoresName, typeFloat, g.outputs)}
	if g.labelled {
		pb.Output = append(pb.Output, valueInfo(labelName, typeInt64, 0))
	}
	var sets []*onnxpb.OperatorSetIdProto
	for _, domain := range g.domains() {
		version := map[string]int64{"": opsetVersion, mlDomain: mlVersion}[domain]
		sets = append(sets, &onnxpb.OperatorSetIdProto{Domain: proto.String(domain), Version: proto.Int64(version)})
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(&onnxpb.ModelProto{
		IrVersion:     proto.Int64(irVersion),
		ProducerName:  proto.String(producer),
		Graph:         pb,
		OpsetImport:   sets,
		MetadataProps: []*onnxpb.StringStringEntryProto{{Key: proto.String(metadataKey), Value: proto.String(string(meta))}},
	})
	if err != nil {
		panic("onnx: " + err.Error()) // no required fields, no sizes beyond check's
	}
	return data
}

// domains are those of the operators: that of ONNX itself, and the other if one
// of it is used.
func (g *Graph) domains() []string {
	for _, n := range g.nodes {
		if operators[n.op].domain == mlDomain {
			return []string{"", mlDomain}
		}
	}
	return []string{""}
}

func (n *node) encode() *onnxpb.NodeProto {
	pb := &onnxpb.NodeProto{
		Input:  slices.Clone(n.in),
		Output: slices.Clone(n.out),
		Name:   proto.String(n.out[0]),
		OpType: proto.String(n.op),
	}
	op := operators[n.op]
	if op.domain != "" {
		pb.Domain = proto.String(op.domain)
	}
	for _, name := range op.required {
		pb.Attribute = append(pb.Attribute, &onnxpb.AttributeProto{
			Name: proto.String(name),
			I:    proto.Int64(op.ints[name][0]),
			Type: onnxpb.AttributeProto_INT.Enum(),
		})
	}
	if n.trees != nil {
		pb.Attribute = append(pb.Attribute, n.trees.encode()...)
	}
	return pb
}

func (c *constant) encode() *onnxpb.TensorProto {
	pb := &onnxpb.TensorProto{
		DataType: proto.Int32(typeFloat),
		Name:     proto.String(c.name),
		RawData:  make([]byte, 0, c.bytes()),
	}
	for _, d := range c.dims {
		pb.Dims = append(pb.Dims, int64(d))
	}
	if c.numbers == nil {
		pb.DataType = proto.Int32(typeInt64)
		for _, v := range c.whole {
			pb.RawData = binary.LittleEndian.AppendUint64(pb.RawData, uint64(v))
		}
		return pb
	}
	for _, v := range c.numbers() {
		pb.RawData = binary.LittleEndian.AppendUint32(pb.RawData, math.Float32bits(v))
	}
	return pb
}

// valueInfo declares [N, columns], or [N] for 0 columns.
func valueInfo(name string, elem int32, columns int) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{Dim: []*onnxpb.TensorShapeProto_Dimension{{DimParam: proto.String(batchName)}}}
	if columns > 0 {
		shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(int64(columns))})
	}
	return &onnxpb.ValueInfoProto{
		Name: proto.String(name),
		Type: &onnxpb.TypeProto{TensorType: &onnxpb.TypeProto_Tensor{ElemType: proto.Int32(elem), Shape: shape}},
	}
}
