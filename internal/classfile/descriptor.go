package classfile

import "strings"

// slots returns how many slots of the operand stack a value of the first type in a descriptor takes, and
// the rest of the descriptor.
func slots(descriptor string) (n int, rest string) {
	element := strings.TrimLeft(descriptor, "[")
	n, rest = 1, element[1:]
	switch element[0] {
	case 'J', 'D':
		if element == descriptor { // no array
			n = 2
		}
	case 'L':
		_, rest, _ = strings.Cut(element, ";")
	}
	return n, rest
}

// methodSlots returns the number of slots of a method's parameters and of its result.
func methodSlots(descriptor string) (parameters, result int) {
	rest := strings.TrimPrefix(descriptor, "(")
	for rest[0] != ')' {
		var n int
		n, rest = slots(rest)
		parameters += n
	}
	if rest != ")V" {
		result, _ = slots(rest[1:])
	}
	return parameters, result
}
