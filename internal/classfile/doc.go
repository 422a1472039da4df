// Package classfile writes Java class files (Java Virtual Machine Specification, chapter 4), as far as
// generated programs need them: classes of version 49, the last version that is verified without stack
// maps, with fields and methods. It computes the limits of the operand stack and of the local variables
// from the instructions.
//
// It does not write exception handlers, switches, subroutines, wide local variables, constants other than numbers, or
// features of later versions.
package classfile

// Version is the major version of the class files that this package writes, Java 5's.
const Version = 49

const magic = 0xCAFEBABE

// Access is a set of access flags of a class, a field or a method.
type Access uint16

// The flags.
const (
	Public   Access = 0x0001
	Static   Access = 0x0008
	Super    Access = 0x0020 // for every class
	Volatile Access = 0x0040 // for fields
	Native   Access = 0x0100 // for methods
)

// Class is a class or an interface. Names of classes are internal ones, with slashes:
// java/lang/Object.
type Class struct {
	Access     Access
	Name       string
	Super      string
	Interfaces []string
	Fields     []Field
	Methods    []Method
}

// Field is a variable of a class or of its instances.
type Field struct {
	Access     Access
	Name       string
	Descriptor string // its type, such as J or [J
}

// Method is a method. Code is nil if the method is native.
type Method struct {
	Access     Access
	Name       string
	Descriptor string // types of parameters and result, such as (I[J)V
	Code       []Instruction
}

// Instruction is an instruction of a method's code.
type Instruction struct {
	Op Op
	// Arg is the local variable, the immediate value, the type of an array's elements, or, for a
	// branch, the index of the target instruction in the method's code.
	Arg int
	// Increment is the increment of iinc.
	Increment int
	// Ref is the Member that is read, written or called, the ClassRef that is named, or the constant
	// that is loaded: an int32 or float32 for ldc_w, an int64 or float64 for ldc2_w.
	Ref any
}

// Member names a field or method of a class.
type Member struct{ Class, Name, Descriptor string }

// ClassRef names a class.
type ClassRef string
