package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"concord/onnx/internal/onnxpb"
)

// TestDecodeRefuses changes one thing of a good file at a time.
func TestDecodeRefuses(t *testing.T) {
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	attribute := func(name string, i int64) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: proto.String(name), I: proto.Int64(i), Type: onnxpb.AttributeProto_INT.Enum()}
	}
	add := func(m *onnxpb.ModelProto, op, out string, in ...string) {
		m.Graph.Node = append(m.Graph.Node, &onnxpb.NodeProto{OpType: &op, Input: in, Output: []string{out}})
	}
	for _, c := range []struct {
		name   string
		change func(*onnxpb.ModelProto)
		want   string
	}{
		{"old ir", func(m *onnxpb.ModelProto) { *m.IrVersion = 3 }, "ir version is 3, want 7 to 10"},
		{"no ir", func(m *onnxpb.ModelProto) { m.IrVersion = nil }, "ir version is 0"},
		{"no graph", func(m *onnxpb.ModelProto) { m.Graph = nil }, "0 inputs"},
		{"no operator set", func(m *onnxpb.ModelProto) { m.OpsetImport = nil }, `does not import the operators of domain ""`},
		{"two operator sets", func(m *onnxpb.ModelProto) { m.OpsetImport = append(m.OpsetImport, m.OpsetImport[0]) }, `imports the operators of domain "" twice`},
		{"custom operator set", func(m *onnxpb.ModelProto) { *m.OpsetImport[0].Domain = "com.evil" }, `domain "com.evil" is not allowed`},
		{"old operator set", func(m *onnxpb.ModelProto) { *m.OpsetImport[0].Version = 12 }, `operator set of domain "" is 12, want 13 to 21`},
		{"new operator set", func(m *onnxpb.ModelProto) { *m.OpsetImport[0].Version = math.MaxInt64 }, "is 9223372036854775807, want 13 to 21"},
		{"loop", func(m *onnxpb.ModelProto) { *m.Graph.Node[2].OpType = "Loop" }, `node 3: operator "Loop" is not allowed; concord reads Abs, Add, ArgMax,`},
		{"custom domain", func(m *onnxpb.ModelProto) { m.Graph.Node[2].Domain = proto.String("x") }, `node 3: operator domain "x"`},
		{"no argument", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input = nil }, "node 1: Sub: 0 arguments, want 2 to 2"},
		{"empty argument", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[0] = "" }, `node 1: Sub: argument "" is not computed before`},
		{"two results", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output = []string{"a", "z"} }, "Sub has 2 results, want 1"},
		{"empty result", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output[0] = "" }, "a name has 0 bytes"},
		{"long result", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output[0] = strings.Repeat("x", 257) }, "a name has 257 bytes"},
		{"cycle", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[1] = "d" }, `argument "d" is not computed before`},
		{"own result", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[1] = "a" }, `argument "a" is not computed before`},
		{"result twice", func(m *onnxpb.ModelProto) { m.Graph.Node[1].Output[0] = "a" }, `node 2: Div: name "a" is taken`},
		{"result over the input", func(m *onnxpb.ModelProto) { m.Graph.Node[1].Output[0] = "features" }, `name "features" is taken`},
		{"result over a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[1].Output[0] = "row" }, `name "row" is taken`},
		{"constant over the input", func(m *onnxpb.ModelProto) { *m.Graph.Initializer[0].Name = "features" }, `name "features" is taken`},
		{"constant twice", func(m *onnxpb.ModelProto) { *m.Graph.Initializer[0].Name = "row" }, `name "row" is taken`},
		{"unnamed constant", func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].Name = nil }, "constant 1: a name has 0 bytes"},
		{"unused result", func(m *onnxpb.ModelProto) { add(m, "Identity", "z", "a") }, `"z" is not used`},
		{"unused constant", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer = append(m.Graph.Initializer, &onnxpb.TensorProto{Name: proto.String("z"), DataType: proto.Int32(1), RawData: make([]byte, 4)})
		}, `"z" is not used`},
		{"label as argument", func(m *onnxpb.ModelProto) { add(m, "Identity", "z", "label") }, "argument 1 is a label, want computed numbers"},
		{"constants alone", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[1] = "row" }, "both arguments are constants"},
		{"constant first", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[0] = "matrix" }, "MatMul: argument 1 is a constant"},
		{"computed second", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[1] = "d" }, "MatMul: argument 2 is computed"},
		{"computed third", func(m *onnxpb.ModelProto) { m.Graph.Node[6].Input[2] = "d" }, "Gemm: argument 3 is computed"},
		{"vector second", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[1] = "vector" }, `constant "vector" has 1 dimensions, want 2`},
		{"wrong rows", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[0], m.Graph.Node[4].Input[1] = "d", "row" }, `constant "row" has 1 rows for 3 columns`},
		{"wrong vector", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "vector" }, `constant "vector" has 3 numbers, want 1 or 2`},
		{"many rows", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "matrix" }, `constant "matrix" has 3 rows, want one`},
		{"unlike widths", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "d" }, "arguments have 2 and 3 columns"},
		{"sigmoid of a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[9].Input[0] = "row" }, "Sigmoid: argument 1 is a constant"},
		{"concat of a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[12].Input[1] = "row" }, "Concat: argument 2 is a constant"},
		{"argmax of a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[14].Input[0] = "row" }, "ArgMax: argument 1 is a constant"},
		{"argmax of others", func(m *onnxpb.ModelProto) { m.Graph.Node[14].Input[0] = "l" }, `chosen from 3 columns, the scores have 5`},
		{"label by identity", func(m *onnxpb.ModelProto) { m.Graph.Node[13].Output[0], m.Graph.Node = "label", m.Graph.Node[:14] }, `no operator computes the output "scores"`},
		{"label not by argmax", func(m *onnxpb.ModelProto) {
			*m.Graph.Node[14].OpType, m.Graph.Node[14].Attribute = "Identity", nil
		}, `"label" is not an ArgMax`},
		{"scores by argmax", func(m *onnxpb.ModelProto) {
			m.Graph.Node[13], m.Graph.Node[14] = m.Graph.Node[14], m.Graph.Node[13]
			m.Graph.Node[13].Output[0], m.Graph.Node[14].Output[0] = "scores", "label"
		}, `no operator computes the output "scores"`},
		{"attribute", func(m *onnxpb.ModelProto) {
			m.Graph.Node[0].Attribute = append(m.Graph.Node[0].Attribute, attribute("broadcast", 1))
		}, `Sub: attribute "broadcast" is not allowed`},
		{"attribute twice", func(m *onnxpb.ModelProto) {
			m.Graph.Node[12].Attribute = append(m.Graph.Node[12].Attribute, attribute("axis", 1))
		}, `attribute "axis" twice`},
		{"axis 0", func(m *onnxpb.ModelProto) { *m.Graph.Node[12].Attribute[0].I = 0 }, "Concat: attribute axis is not the integer 1"},
		{"no axis", func(m *onnxpb.ModelProto) { m.Graph.Node[12].Attribute = nil }, "Concat: attribute axis is missing, want 1"},
		{"keepdims", func(m *onnxpb.ModelProto) { *m.Graph.Node[14].Attribute[1].I = 1 }, "ArgMax: attribute keepdims is not the integer 0"},
		{"last of equal scores", func(m *onnxpb.ModelProto) {
			m.Graph.Node[14].Attribute = append(m.Graph.Node[14].Attribute, attribute("select_last_index", 1))
		}, "ArgMax: attribute select_last_index is not the integer 0"},
		{"transA", func(m *onnxpb.ModelProto) {
			m.Graph.Node[5].Attribute = append(m.Graph.Node[5].Attribute, attribute("transA", 1))
		}, "Gemm: attribute transA is not the integer 0"},
		{"beta", func(m *onnxpb.ModelProto) {
			m.Graph.Node[5].Attribute = append(m.Graph.Node[5].Attribute, &onnxpb.AttributeProto{Name: proto.String("beta"), F: proto.Float32(0), Type: onnxpb.AttributeProto_FLOAT.Enum()})
		}, "Gemm: attribute beta is not the number 1"},
		{"transB", func(m *onnxpb.ModelProto) {
			m.Graph.Node[5].Attribute = append(m.Graph.Node[5].Attribute, attribute("transB", 1))
		}, "Gemm: attribute transB is not the integer 0"},
		{"alpha", func(m *onnxpb.ModelProto) {
			m.Graph.Node[5].Attribute = append(m.Graph.Node[5].Attribute, &onnxpb.AttributeProto{Name: proto.String("alpha"), F: proto.Float32(2), Type: onnxpb.AttributeProto_FLOAT.Enum()})
		}, "Gemm: attribute alpha is not the number 1"},
		{"attribute of another type", func(m *onnxpb.ModelProto) { m.Graph.Node[12].Attribute[0].Type = onnxpb.AttributeProto_FLOAT.Enum() }, "axis is not the integer 1"},
		{"attribute of an unknown type", func(m *onnxpb.ModelProto) {
			m.Graph.Node[12].Attribute[0].Type = onnxpb.AttributeProto_AttributeType(5).Enum()
		}, "axis is not the integer 1"},
		{"double", func(m *onnxpb.ModelProto) { *m.Graph.Initializer[0].DataType = 11 }, "element type is 11, want 1"},
		{"zero dimension", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims[0] = 0 }, "a dimension is 0, want 1 to"},
		{"negative dimension", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims[0] = -3 }, "a dimension is -3"},
		{"huge dimension", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims[0] = 1 << 62 }, "a dimension is 4611686018427387904"},
		{"product of dimensions", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[3].Dims = []int64{MaxWidth, MaxWidth}
		}, "want 1099511627776"},
		{"three dimensions", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims = []int64{3, 2, 1} }, "3 dimensions, want at most 2"},
		{"short data", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[3].RawData = m.Graph.Initializer[3].RawData[4:]
		}, "5 numbers for dimensions [3 2], want 6"},
		{"ragged data", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[3].RawData = m.Graph.Initializer[3].RawData[1:]
		}, "raw_data has 23 bytes, want a multiple of 4"},
		{"nan", func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].RawData = nan }, `constant "one": number 1 is not finite`},
		{"two inputs", func(m *onnxpb.ModelProto) { m.Graph.Input = append(m.Graph.Input, m.Graph.Input[0]) }, "2 inputs, want one"},
		{"input name", func(m *onnxpb.ModelProto) { *m.Graph.Input[0].Name = "x" }, `named "x", want "features"`},
		{"input type", func(m *onnxpb.ModelProto) { *m.Graph.Input[0].Type.TensorType.ElemType = 11 }, `"features" has element type 11`},
		{"no type", func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type = nil }, `"features" has element type 0`},
		{"input rank", func(m *onnxpb.ModelProto) {
			s := m.Graph.Input[0].Type.TensorType.Shape
			s.Dim = s.Dim[:1]
		}, `"features" has 1 dimensions, want 2`},
		{"fixed rows", func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type.TensorType.Shape.Dim[0].DimValue = proto.Int64(4) }, `"features" has 4 rows, want them free`},
		{"free columns", func(m *onnxpb.ModelProto) {
			m.Graph.Input[0].Type.TensorType.Shape.Dim[1] = &onnxpb.TensorShapeProto_Dimension{DimParam: proto.String("M")}
		}, `"features" has 0 columns`},
		{"huge columns", func(m *onnxpb.ModelProto) {
			m.Graph.Input[0].Type.TensorType.Shape.Dim[1].DimValue = proto.Int64(math.MaxInt64)
		}, `"features" has 9223372036854775807 columns`},
		{"other columns", func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type.TensorType.Shape.Dim[1].DimValue = proto.Int64(4) }, "has 3 numbers, want 1 or 4"},
		{"no outputs", func(m *onnxpb.ModelProto) { m.Graph.Output = nil }, "0 outputs"},
		{"outputs in the other order", func(m *onnxpb.ModelProto) {
			m.Graph.Output[0], m.Graph.Output[1] = m.Graph.Output[1], m.Graph.Output[0]
		}, `named "label", want "scores"`},
		{"label undeclared", func(m *onnxpb.ModelProto) { m.Graph.Output = m.Graph.Output[:1] }, "declared and computed: false and true"},
		{"label not computed", func(m *onnxpb.ModelProto) { m.Graph.Node = m.Graph.Node[:14] }, "declared and computed: true and false"},
		{"output columns", func(m *onnxpb.ModelProto) {
			m.Graph.Output[0].Type.TensorType.Shape.Dim[1].DimValue = proto.Int64(4)
		}, "declared with 4 columns and has 5"},
		{"label type", func(m *onnxpb.ModelProto) { *m.Graph.Output[1].Type.TensorType.ElemType = 1 }, `"label" has element type 1, want 7`},
		{"no metadata", func(m *onnxpb.ModelProto) { m.MetadataProps = nil }, "names 0 classes, the graph has 5 scores"},
		{"other metadata", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Key = "x" }, "metadata entries"},
		{"metadata twice", func(m *onnxpb.ModelProto) { m.MetadataProps = append(m.MetadataProps, m.MetadataProps[0]) }, "2 metadata entries"},
		{"metadata key", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Value = `{"x":1}` }, "metadata is not as concord writes it"},
		{"metadata tail", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Value += "]" }, "followed by something else"},
		{"metadata text", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Value = "\xff" }, "not UTF-8"},
		{"many nodes", func(m *onnxpb.ModelProto) {
			for i := range maxNodes {
				add(m, "Identity", fmt.Sprint(i), "a")
			}
		}, "operators, want 1 to 4096"},
		{"many arguments", func(m *onnxpb.ModelProto) {
			for i := range 20 {
				add(m, "Concat", fmt.Sprint(i), make([]string, maxNodes)...)
				last := m.Graph.Node[len(m.Graph.Node)-1]
				last.Attribute = []*onnxpb.AttributeProto{attribute("axis", 1)}
				for j := range last.Input {
					last.Input[j] = "a"
				}
			}
		}, "more than 65536 arguments"},
		{"doubling", func(m *onnxpb.ModelProto) {
			last := "a"
			for i := range 40 {
				add(m, "Concat", fmt.Sprint(i), last, last)
				last = fmt.Sprint(i)
				m.Graph.Node[len(m.Graph.Node)-1].Attribute = []*onnxpb.AttributeProto{attribute("axis", 1)}
			}
		}, "columns, want 1 to 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t)
			c.change(m)
			_, err := Decode(marshal(t, m))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
