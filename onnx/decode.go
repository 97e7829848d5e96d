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
	leastML, mostML       = 1, 4
)

// Decode reads a graph that Encode wrote, or another ONNX file within the same
// bounds. data may come from anyone: nothing is allocated beyond a small
// multiple of its length and 128 MiB, and the error says what is not allowed. The graph
// shares no storage with data.
func Decode(data []byte) (*Graph, error) {
	if len(data) == 0 || len(data) > MaxBytes {
		return nil, fmt.Errorf("onnx: file has %d bytes, want 1 to %d", len(data), MaxBytes)
	}
	var model onnxpb.ModelProto
	left := budget{maxFields, maxElements, maxTreeNodes}
	if err := scan(data, model.ProtoReflect().Descriptor(), &left); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(data, &model); err != nil {
		return nil, fmt.Errorf("onnx: file is damaged: %v", err)
	}
	if v := model.GetIrVersion(); v < leastIR || v > mostIR {
		return nil, fmt.Errorf("onnx: ir version is %d, want %d to %d", v, leastIR, mostIR)
	}
	sets, err := decodeSets(model.GetOpsetImport())
	if err != nil {
		return nil, err
	}

	g := new(Graph)
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
	cells := maxTreeCells
	for i, n := range pb.GetNode() {
		d, err := decodeNode(n, &cells)
		if err != nil {
			return nil, fmt.Errorf("onnx: node %d: %v", i+1, err)
		}
		g.nodes = append(g.nodes, d)
	}
	if err := g.checkSets(sets); err != nil {
		return nil, err
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

// decodeSets returns which domains are imported, each once and in a version that
// is read.
func decodeSets(imports []*onnxpb.OperatorSetIdProto) (map[string]bool, error) {
	sets := make(map[string]bool)
	for _, set := range imports {
		domain, err := domainOf(set.GetDomain())
		if err != nil {
			return nil, fmt.Errorf("onnx: %v", err)
		}
		if sets[domain] {
			return nil, fmt.Errorf("onnx: file imports the operators of domain %q twice", domain)
		}
		sets[domain] = true
		least, most := int64(leastOpset), int64(mostOpset)
		if domain == mlDomain {
			least, most = leastML, mostML
		}
		if v := set.GetVersion(); v < least || v > most {
			return nil, fmt.Errorf("onnx: operator set of domain %q is %d, want %d to %d", domain, v, least, most)
		}
	}
	return sets, nil
}

// checkSets wants the imported domains to be those that are used.
func (g *Graph) checkSets(sets map[string]bool) error {
	want := g.domains()
	for domain := range sets {
		if !slices.Contains(want, domain) {
			return fmt.Errorf("onnx: file imports the operators of domain %q and uses none", domain)
		}
	}
	for _, domain := range want {
		if !sets[domain] {
			return fmt.Errorf("onnx: file does not import the operators of domain %q", domain)
		}
	}
	return nil
}

// domainOf is "" or mlDomain.
func domainOf(name string) (string, error) {
	switch name {
	case "", "ai.onnx":
		return "", nil
	case mlDomain:
		return mlDomain, nil
	}
	return "", fmt.Errorf("operator domain %.40q is not allowed, want that of ONNX itself or %s", name, mlDomain)
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
	size := map[int32]int{typeFloat: 4, typeInt64: 8}[t.GetDataType()]
	if size == 0 {
		return constant{}, fmt.Errorf("element type is %d, want %d (float32) or %d (int64)", t.GetDataType(), typeFloat, typeInt64)
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
	if len(raw)%size != 0 {
		return constant{}, fmt.Errorf("raw_data has %d bytes, want a multiple of %d", len(raw), size)
	}
	// check compares their number with the dimensions.
	if t.GetDataType() == typeInt64 {
		whole := make([]int64, len(raw)/8)
		for i := range whole {
			whole[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		return constant{name: t.GetName(), dims: dims, whole: whole}, nil
	}
	data := make([]float32, len(raw)/4)
	for i := range data {
		data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return newConstant(t.GetName(), dims, data), nil
}

func decodeNode(pb *onnxpb.NodeProto, cells *int) (node, error) {
	n := node{op: pb.GetOpType(), in: pb.GetInput(), out: pb.GetOutput()}
	domain, err := domainOf(pb.GetDomain())
	if err != nil {
		return n, err
	}
	op, ok := operators[n.op]
	if !ok {
		return n, fmt.Errorf("operator %.40q is not allowed; concord reads %s", n.op, operatorNames())
	}
	if op.domain != domain {
		return n, fmt.Errorf("operator %s is of domain %q, want %q", n.op, domain, op.domain)
	}
	attributes := make(map[string]*onnxpb.AttributeProto)
	for _, a := range pb.GetAttribute() {
		name := a.GetName()
		if attributes[name] != nil {
			return n, fmt.Errorf("%s has the attribute %q twice", n.op, name)
		}
		attributes[name] = a
		if err := op.checkAttribute(a); err != nil {
			return n, fmt.Errorf("%s: attribute %v", n.op, err)
		}
	}
	for _, name := range op.required {
		if attributes[name] == nil {
			return n, fmt.Errorf("%s: attribute %s is missing, want %d", n.op, name, op.ints[name][0])
		}
	}
	if op.tables != nil {
		if n.trees, err = decodeForest(attributes, cells); err != nil {
			return n, fmt.Errorf("%s: %v", n.op, err)
		}
	}
	return n, nil
}

// checkAttribute wants an attribute that the operator has, of its type and, if
// it is no table, with a value that is allowed.
func (op operator) checkAttribute(a *onnxpb.AttributeProto) error {
	name := a.GetName()
	if want, ok := op.tables[name]; ok {
		if !only(a, want) {
			return fmt.Errorf("%s is not of type %v", name, want)
		}
		return nil
	}
	if values, ok := op.ints[name]; ok {
		if !only(a, onnxpb.AttributeProto_INT) || !slices.Contains(values, a.GetI()) {
			return fmt.Errorf("%s is not the integer %d", name, values[0])
		}
		return nil
	}
	if want, ok := op.floats[name]; ok {
		if !only(a, onnxpb.AttributeProto_FLOAT) || a.GetF() != want {
			return fmt.Errorf("%s is not the number %g", name, want)
		}
		return nil
	}
	if want, ok := op.texts[name]; ok {
		if !only(a, onnxpb.AttributeProto_STRING) || string(a.GetS()) != want {
			return fmt.Errorf("%s is not the word %s", name, want)
		}
		return nil
	}
	return fmt.Errorf("%.40q is not allowed", name)
}

// only tells whether a is of the type and holds nothing of another.
func only(a *onnxpb.AttributeProto, t onnxpb.AttributeProto_AttributeType) bool {
	held := map[onnxpb.AttributeProto_AttributeType]bool{
		onnxpb.AttributeProto_INT:     a.I != nil,
		onnxpb.AttributeProto_FLOAT:   a.F != nil,
		onnxpb.AttributeProto_STRING:  a.S != nil,
		onnxpb.AttributeProto_INTS:    len(a.GetInts()) > 0,
		onnxpb.AttributeProto_FLOATS:  len(a.GetFloats()) > 0,
		onnxpb.AttributeProto_STRINGS: len(a.GetStrings()) > 0,
	}
	for other, is := range held {
		if is && other != t {
			return false
		}
	}
	return a.GetType() == t
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
