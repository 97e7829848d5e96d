package onnx

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"concord/onnx/internal/onnxpb"
)

// Versions that are read. The operators of the list mean the same in all.
const (
	leastIR, mostIR       = 7, 10
	leastOpset, mostOpset = 13, 21
)

// Decode reads a graph that Encode wrote, or another ONNX file within the same
// bounds. data may come from anyone: nothing is allocated beyond a small
// multiple of its length, and the error says what is not allowed. The graph
// shares no storage with data.
func Decode(data []byte) (*Graph, error) {
	if len(data) == 0 || len(data) > MaxBytes {
		return nil, fmt.Errorf("onnx: file has %d bytes, want 1 to %d", len(data), MaxBytes)
	}
	var model onnxpb.ModelProto
	budget := maxFields
	if err := scan(data, model.ProtoReflect().Descriptor(), &budget); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(data, &model); err != nil {
		return nil, fmt.Errorf("onnx: file is damaged: %v", err)
	}
	if v := model.GetIrVersion(); v < leastIR || v > mostIR {
		return nil, fmt.Errorf("onnx: ir version is %d, want %d to %d", v, leastIR, mostIR)
	}
	if len(model.GetOpsetImport()) != 1 {
		return nil, fmt.Errorf("onnx: file imports %d operator sets, want one", len(model.GetOpsetImport()))
	}
	set := model.GetOpsetImport()[0]
	if err := checkDomain(set.GetDomain()); err != nil {
		return nil, fmt.Errorf("onnx: %v", err)
	}
	if v := set.GetVersion(); v < leastOpset || v > mostOpset {
		return nil, fmt.Errorf("onnx: operator set is %d, want %d to %d", v, leastOpset, mostOpset)
	}

	g := new(Graph)
	var err error
	if g.meta, err = decodeMeta(model.GetMetadataProps()); err != nil {
		return nil, err
	}
	pb := model.GetGraph()
	for i, t := range pb.GetInitializer() {
		c, err := decodeConstant(t)
		if err != nil {
			return nil, fmt.Errorf("onnx: constant %d: %v", i+1, err)
		}
		g.constants = append(g.constants, c)
	}
	for i, n := range pb.GetNode() {
		d, err := decodeNode(n)
		if err != nil {
			return nil, fmt.Errorf("onnx: node %d: %v", i+1, err)
		}
		g.nodes = append(g.nodes, d)
	}
	if len(pb.GetInput()) != 1 {
		return nil, fmt.Errorf("onnx: graph has %d inputs, want one, %q", len(pb.GetInput()), inputName)
	}
	if g.inputs, err = decodeInfo(pb.GetInput()[0], inputName, typeFloat, 2); err != nil {
		return nil, err
	}
	outputs := pb.GetOutput()
	if len(outputs) < 1 || len(outputs) > 2 {
		return nil, fmt.Errorf("onnx: graph has %d outputs, want %q and for classes %q", len(outputs), scoresName, labelName)
	}
	columns, err := decodeInfo(outputs[0], scoresName, typeFloat, 2)
	if err != nil {
		return nil, err
	}
	if g.labelled = len(outputs) == 2; g.labelled {
		if _, err := decodeInfo(outputs[1], labelName, typeInt64, 1); err != nil {
			return nil, err
		}
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	if columns != g.outputs {
		return nil, fmt.Errorf("onnx: output %q is declared with %d columns and has %d", scoresName, columns, g.outputs)
	}
	return g, nil
}

func checkDomain(domain string) error {
	if domain != "" && domain != "ai.onnx" {
		return fmt.Errorf("operator domain %q is not allowed, want that of ONNX itself", domain)
	}
	return nil
}

// decodeInfo returns the columns of [N, columns], or 0 for [N].
func decodeInfo(v *onnxpb.ValueInfoProto, name string, elem int32, dims int) (int, error) {
	if v.GetName() != name {
		return 0, fmt.Errorf("onnx: an input or output is named %q, want %q", v.GetName(), name)
	}
	t := v.GetType().GetTensorType()
	if t.GetElemType() != elem {
		return 0, fmt.Errorf("onnx: %q has element type %d, want %d", name, t.GetElemType(), elem)
	}
	shape := t.GetShape().GetDim()
	if len(shape) != dims {
		return 0, fmt.Errorf("onnx: %q has %d dimensions, want %d", name, len(shape), dims)
	}
	if shape[0].DimValue != nil {
		return 0, fmt.Errorf("onnx: %q has %d rows, want them free", name, shape[0].GetDimValue())
	}
	if dims == 1 {
		return 0, nil
	}
	columns := shape[1].GetDimValue()
	if shape[1].DimParam != nil || columns < 1 || columns > MaxWidth {
		return 0, fmt.Errorf("onnx: %q has %d columns, want 1 to %d", name, columns, MaxWidth)
	}
	return int(columns), nil
}

func decodeConstant(t *onnxpb.TensorProto) (constant, error) {
	if t.GetDataType() != typeFloat {
		return constant{}, fmt.Errorf("element type is %d, want %d (float32)", t.GetDataType(), typeFloat)
	}
	if len(t.GetDims()) > 2 {
		return constant{}, fmt.Errorf("%d dimensions, want at most 2", len(t.GetDims()))
	}
	var dims []int
	for _, d := range t.GetDims() {
		if d < 1 || d > MaxWidth {
			return constant{}, fmt.Errorf("a dimension is %d, want 1 to %d", d, MaxWidth)
		}
		dims = append(dims, int(d))
	}
	raw := t.GetRawData()
	if len(raw)%4 != 0 {
		return constant{}, fmt.Errorf("raw_data has %d bytes, want a multiple of 4", len(raw))
	}
	data := make([]float32, len(raw)/4)
	for i := range data {
		data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return newConstant(t.GetName(), dims, data), nil // check compares their number with the dimensions
}

func decodeNode(pb *onnxpb.NodeProto) (node, error) {
	n := node{op: pb.GetOpType(), in: pb.GetInput()}
	if err := checkDomain(pb.GetDomain()); err != nil {
		return n, err
	}
	if len(pb.GetOutput()) != 1 {
		return n, fmt.Errorf("operator %q has %d results, want one", n.op, len(pb.GetOutput()))
	}
	n.out = pb.GetOutput()[0]
	op, ok := operators[n.op]
	if !ok {
		return n, fmt.Errorf("operator %q is not allowed; concord reads %s", n.op, operatorNames())
	}
	seen := make(map[string]bool)
	for _, a := range pb.GetAttribute() {
		name := a.GetName()
		if seen[name] {
			return n, fmt.Errorf("%s has the attribute %q twice", n.op, name)
		}
		seen[name] = true
		values, isInt := op.ints[name]
		want, isFloat := op.floats[name]
		switch {
		case isInt:
			if a.GetType() != onnxpb.AttributeProto_INT || a.F != nil || !slices.Contains(values, a.GetI()) {
				return n, fmt.Errorf("%s: attribute %s is not the integer %d", n.op, name, values[0])
			}
		case isFloat:
			if a.GetType() != onnxpb.AttributeProto_FLOAT || a.I != nil || a.GetF() != want {
				return n, fmt.Errorf("%s: attribute %s is not the number %g", n.op, name, want)
			}
		default:
			return n, fmt.Errorf("%s: attribute %q is not allowed", n.op, name)
		}
	}
	for _, name := range op.required {
		if !seen[name] {
			return n, fmt.Errorf("%s: attribute %s is missing, want %d", n.op, name, op.ints[name][0])
		}
	}
	return n, nil
}

// decodeMeta reads the one metadata entry that Concord writes; a file may also
// have none.
func decodeMeta(props []*onnxpb.StringStringEntryProto) (Meta, error) {
	var m Meta
	if len(props) == 0 {
		return m, nil
	}
	if len(props) > 1 || props[0].GetKey() != metadataKey {
		return m, fmt.Errorf("onnx: file has %d metadata entries, want one, %q", len(props), metadataKey)
	}
	text := props[0].GetValue()
	if !utf8.ValidString(text) {
		return m, fmt.Errorf("onnx: metadata is not UTF-8")
	}
	// Before anything is decoded: an empty name takes three bytes of text and
	// many more in memory.
	if len(text) > MaxBytes/8 || strings.Count(text, ",") > 4*MaxWidth {
		return m, fmt.Errorf("onnx: metadata has %d bytes and %d entries or more, at most %d and %d are read",
			len(text), strings.Count(text, ","), MaxBytes/8, 4*MaxWidth)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("onnx: metadata is not as concord writes it: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return m, fmt.Errorf("onnx: metadata is followed by something else")
	}
	return m, nil
}
