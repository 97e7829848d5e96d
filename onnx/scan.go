package onnx

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxFields bounds the fields of a file. A parser makes up to some 200 bytes of
// a field of two, so that files of bounded size alone would not bound memory.
const maxFields = 1 << 18

// absent names fields of the format that a Concord model must not have, for
// error texts that say more than a number.
var absent = map[string]string{
	"ModelProto 20":     "training information",
	"ModelProto 25":     "functions",
	"GraphProto 13":     "types of inner values",
	"GraphProto 14":     "quantisation",
	"GraphProto 15":     "sparse constants",
	"AttributeProto 4":  "text",
	"AttributeProto 5":  "a tensor",
	"AttributeProto 6":  "a subgraph",
	"AttributeProto 7":  "a list of numbers",
	"AttributeProto 8":  "a list of numbers",
	"AttributeProto 11": "subgraphs",
	"TensorProto 3":     "segments",
	"TensorProto 4":     "numbers outside raw_data",
	"TensorProto 10":    "numbers outside raw_data",
	"TensorProto 13":    "external data",
	"TensorProto 14":    "external data",
	"TypeProto 4":       "a sequence",
	"TypeProto 5":       "a map",
}

// scan walks over an encoded message without building anything, and refuses
// unknown fields, fields of the wrong type, single fields that stand twice, and
// more than budget fields.
func scan(data []byte, message protoreflect.MessageDescriptor, budget *int) error {
	seen := make(map[protowire.Number]bool)
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeTag(data)
		if n < 0 {
			return fmt.Errorf("onnx: %s is damaged: %v", message.Name(), protowire.ParseError(n))
		}
		data = data[n:]
		if *budget--; *budget < 0 {
			return fmt.Errorf("onnx: file has more than %d fields", maxFields)
		}
		field := message.Fields().ByNumber(number)
		if field == nil {
			what := absent[fmt.Sprintf("%s %d", message.Name(), number)]
			if what != "" {
				what = " (" + what + ")"
			}
			return fmt.Errorf("onnx: field %d%s of %s is not allowed in a concord model", number, what, message.Name())
		}
		if !field.IsList() && seen[number] {
			return fmt.Errorf("onnx: %s has the field %s twice", message.Name(), field.Name())
		}
		seen[number] = true
		if wire != wireType(field) {
			return fmt.Errorf("onnx: field %s of %s has wire type %d, want %d", field.Name(), message.Name(), wire, wireType(field))
		}
		n = protowire.ConsumeFieldValue(number, wire, data)
		if n < 0 {
			return fmt.Errorf("onnx: field %s of %s is damaged: %v", field.Name(), message.Name(), protowire.ParseError(n))
		}
		if field.Kind() == protoreflect.MessageKind {
			inner, _ := protowire.ConsumeBytes(data[:n])
			if err := scan(inner, field.Message(), budget); err != nil {
				return err
			}
		}
		data = data[n:]
	}
	return nil
}

// wireType is how the format writes a field. Lists of integers are never packed.
func wireType(field protoreflect.FieldDescriptor) protowire.Type {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.StringKind, protoreflect.BytesKind:
		return protowire.BytesType
	case protoreflect.FloatKind:
		return protowire.Fixed32Type
	}
	return protowire.VarintType
}
