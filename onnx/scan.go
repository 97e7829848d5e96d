package onnx

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Bounds of what a file has. A parser makes up to some 200 bytes of a field of
// two, and 8 of a number of one in a list, so that files of bounded size alone
// would not bound memory.
const (
	maxFields = 1 << 18
	// maxElements bounds the numbers in lists: eight for each node of trees and
	// four for each number in their leaves.
	maxElements = 8*maxTreeNodes + 4*maxTreeEntries
)

// budget is how much more there may be.
type budget struct {
	fields, numbers int
	words           int // in lists of words: the modes of nodes
}

// absent names fields of the format that a Concord model must not have, for
// error texts that say more than a number.
var absent = map[string]string{
	"ModelProto 20":     "training information",
	"ModelProto 25":     "functions",
	"GraphProto 13":     "types of inner values",
	"GraphProto 14":     "quantisation",
	"GraphProto 15":     "sparse constants",
	"AttributeProto 5":  "a tensor",
	"AttributeProto 6":  "a subgraph",
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
// more than is left. Lists of numbers may be packed or not, as in every parser.
func scan(data []byte, message protoreflect.MessageDescriptor, left *budget) error {
	seen := make(map[protowire.Number]bool)
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeTag(data)
		if n < 0 {
			return fmt.Errorf("onnx: %s is damaged: %v", message.Name(), protowire.ParseError(n))
		}
		data = data[n:]
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
		packed := field.IsList() && wire == protowire.BytesType && wireType(field) != protowire.BytesType
		if wire != wireType(field) && !packed {
			return fmt.Errorf("onnx: field %s of %s has wire type %d, want %d", field.Name(), message.Name(), wire, wireType(field))
		}
		n = protowire.ConsumeFieldValue(number, wire, data)
		if n < 0 {
			return fmt.Errorf("onnx: field %s of %s is damaged: %v", field.Name(), message.Name(), protowire.ParseError(n))
		}
		if err := left.take(field, packed, data[:n]); err != nil {
			return err
		}
		if field.Kind() == protoreflect.MessageKind {
			inner, _ := protowire.ConsumeBytes(data[:n])
			if err := scan(inner, field.Message(), left); err != nil {
				return err
			}
		}
		data = data[n:]
	}
	return nil
}

// take counts a field, or the elements of a list that it holds.
func (b *budget) take(field protoreflect.FieldDescriptor, packed bool, content []byte) error {
	switch {
	case packed:
		list, _ := protowire.ConsumeBytes(content)
		count := len(list) / 4
		if field.Kind() != protoreflect.FloatKind {
			count = 0
			for _, c := range list {
				if c < 0x80 { // the last byte of a number
					count++
				}
			}
		}
		b.numbers -= count
		b.fields--
	case !field.IsList() || field.Kind() == protoreflect.MessageKind || field.Kind() == protoreflect.StringKind:
		b.fields--
	case field.Kind() == protoreflect.BytesKind:
		b.words--
	default:
		b.numbers--
	}
	switch {
	case b.fields < 0:
		return fmt.Errorf("onnx: file has more than %d fields", maxFields)
	case b.numbers < 0:
		return fmt.Errorf("onnx: file has more than %d numbers in lists", maxElements)
	case b.words < 0:
		return fmt.Errorf("onnx: file has more than %d words in lists", maxTreeNodes)
	}
	return nil
}

// wireType is how the format writes a field, or one number of a list.
func wireType(field protoreflect.FieldDescriptor) protowire.Type {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.StringKind, protoreflect.BytesKind:
		return protowire.BytesType
	case protoreflect.FloatKind:
		return protowire.Fixed32Type
	}
	return protowire.VarintType
}
