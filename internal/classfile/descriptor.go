package classfile

import (
	"fmt"
	"strings"
)

// mostDimensions is the largest number of dimensions of an array.
const mostDimensions = 255

// slots returns how many slots of the operand stack a value of the first type in a descriptor takes, and
// the rest of the descriptor.
func slots(descriptor string) (n int, rest string, err error) {
	bad := fmt.Errorf("invalid descriptor %q", descriptor)
	rest = strings.TrimLeft(descriptor, "[")
	dimensions := len(descriptor) - len(rest)
	if rest == "" || dimensions > mostDimensions {
		return 0, "", bad
	}
	n = 1
	switch rest[0] {
	case 'B', 'C', 'F', 'I', 'S', 'Z':
		rest = rest[1:]
	case 'J', 'D':
		n, rest = 2, rest[1:]
	case 'L':
		end := strings.IndexByte(rest, ';')
		if end < 2 || checkName(rest[1:end]) != nil {
			return 0, "", bad
		}
		rest = rest[end+1:]
	default:
		return 0, "", bad
	}
	if dimensions > 0 {
		n = 1
	}
	return n, rest, nil
}

// fieldSlots returns the number of slots of a field.
func fieldSlots(descriptor string) (int, error) {
	n, rest, err := slots(descriptor)
	if err == nil && rest != "" {
		err = fmt.Errorf("the descriptor %q ends with %q, which is unexpected", descriptor, rest)
	}
	return n, err
}

// methodSlots returns the number of slots of a method's parameters and of its result.
func methodSlots(descriptor string) (parameters, result int, err error) {
	rest, ok := strings.CutPrefix(descriptor, "(")
	if !ok {
		return 0, 0, fmt.Errorf("the method descriptor %q doesn't begin with parameters", descriptor)
	}
	for !strings.HasPrefix(rest, ")") {
		var n int
		if n, rest, err = slots(rest); err != nil {
			return 0, 0, fmt.Errorf("the method descriptor %q: %w", descriptor, err)
		}
		parameters += n
	}
	if parameters > 255 {
		return 0, 0, fmt.Errorf("the method descriptor %q has more than 255 slots of parameters", descriptor)
	}
	if rest == ")V" {
		return parameters, 0, nil
	}
	result, err = fieldSlots(rest[1:])
	return parameters, result, err
}

// checkName returns an error if name is not the name of a class, with slashes.
func checkName(name string) error {
	if err := checkText(name); err != nil {
		return err
	}
	if name == "" || strings.ContainsAny(name, ".;[") {
		return fmt.Errorf("%q is no internal name of a class", name)
	}
	return nil
}

// checkMember returns an error if name is not the name of a field or method.
func checkMember(name string) error {
	if err := checkText(name); err != nil {
		return err
	}
	if name == "" || strings.ContainsAny(name, ".;[/") {
		return fmt.Errorf("%q is no name of a field or method", name)
	}
	return nil
}
