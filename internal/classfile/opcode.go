package classfile

import (
	"fmt"
	"strings"
)

// Op is an opcode (Java Virtual Machine Specification, chapter 6).
type Op byte

// The opcodes, in their order from 0.
const (
	Nop, AconstNull, IconstM1, Iconst0, Iconst1, Iconst2, Iconst3, Iconst4                  Op = 0, 1, 2, 3, 4, 5, 6, 7
	Iconst5, Lconst0, Lconst1, Fconst0, Fconst1, Fconst2, Dconst0, Dconst1                  Op = 8, 9, 10, 11, 12, 13, 14, 15
	Bipush, Sipush, Ldc, LdcW, Ldc2W, Iload, Lload, Fload                                   Op = 16, 17, 18, 19, 20, 21, 22, 23
	Dload, Aload, Iload0, Iload1, Iload2, Iload3, Lload0, Lload1                            Op = 24, 25, 26, 27, 28, 29, 30, 31
	Lload2, Lload3, Fload0, Fload1, Fload2, Fload3, Dload0, Dload1                          Op = 32, 33, 34, 35, 36, 37, 38, 39
	Dload2, Dload3, Aload0, Aload1, Aload2, Aload3, Iaload, Laload                          Op = 40, 41, 42, 43, 44, 45, 46, 47
	Faload, Daload, Aaload, Baload, Caload, Saload, Istore, Lstore                          Op = 48, 49, 50, 51, 52, 53, 54, 55
	Fstore, Dstore, Astore, Istore0, Istore1, Istore2, Istore3, Lstore0                     Op = 56, 57, 58, 59, 60, 61, 62, 63
	Lstore1, Lstore2, Lstore3, Fstore0, Fstore1, Fstore2, Fstore3, Dstore0                  Op = 64, 65, 66, 67, 68, 69, 70, 71
	Dstore1, Dstore2, Dstore3, Astore0, Astore1, Astore2, Astore3, Iastore                  Op = 72, 73, 74, 75, 76, 77, 78, 79
	Lastore, Fastore, Dastore, Aastore, Bastore, Castore, Sastore, Pop                      Op = 80, 81, 82, 83, 84, 85, 86, 87
	Pop2, Dup, DupX1, DupX2, Dup2, Dup2X1, Dup2X2, Swap                                     Op = 88, 89, 90, 91, 92, 93, 94, 95
	Iadd, Ladd, Fadd, Dadd, Isub, Lsub, Fsub, Dsub                                          Op = 96, 97, 98, 99, 100, 101, 102, 103
	Imul, Lmul, Fmul, Dmul, Idiv, Ldiv, Fdiv, Ddiv                                          Op = 104, 105, 106, 107, 108, 109, 110, 111
	Irem, Lrem, Frem, Drem, Ineg, Lneg, Fneg, Dneg                                          Op = 112, 113, 114, 115, 116, 117, 118, 119
	Ishl, Lshl, Ishr, Lshr, Iushr, Lushr, Iand, Land                                        Op = 120, 121, 122, 123, 124, 125, 126, 127
	Ior, Lor, Ixor, Lxor, Iinc, I2l, I2f, I2d                                               Op = 128, 129, 130, 131, 132, 133, 134, 135
	L2i, L2f, L2d, F2i, F2l, F2d, D2i, D2l                                                  Op = 136, 137, 138, 139, 140, 141, 142, 143
	D2f, I2b, I2c, I2s, Lcmp, Fcmpl, Fcmpg, Dcmpl                                           Op = 144, 145, 146, 147, 148, 149, 150, 151
	Dcmpg, Ifeq, Ifne, Iflt, Ifge, Ifgt, Ifle, IfIcmpeq                                     Op = 152, 153, 154, 155, 156, 157, 158, 159
	IfIcmpne, IfIcmplt, IfIcmpge, IfIcmpgt, IfIcmple, IfAcmpeq, IfAcmpne, Goto              Op = 160, 161, 162, 163, 164, 165, 166, 167
	Jsr, Ret, Tableswitch, Lookupswitch, Ireturn, Lreturn, Freturn, Dreturn                 Op = 168, 169, 170, 171, 172, 173, 174, 175
	Areturn, Return, Getstatic, Putstatic, Getfield, Putfield, Invokevirtual, Invokespecial Op = 176, 177, 178, 179, 180, 181, 182, 183
	Invokestatic, Invokeinterface, Invokedynamic, New, Newarray, Anewarray, Arraylength     Op = 184, 185, 186, 187, 188, 189, 190
	Athrow, Checkcast, Instanceof, Monitorenter, Monitorexit, Wide, Multianewarray, Ifnull  Op = 191, 192, 193, 194, 195, 196, 197, 198
	Ifnonnull, GotoW, JsrW                                                                  Op = 199, 200, 201
)

// format says what follows an opcode.
type format byte

const (
	none            format = iota
	byteValue              // a signed byte
	shortValue             // a signed short
	constant               // the index of a constant in a short
	local                  // a local variable in a byte
	increment              // a local variable and a signed byte
	branch                 // a signed offset in a short
	wideBranch             // a signed offset in four bytes
	field                  // the index of a field
	method                 // the index of a method
	interfaceMethod        // the index of an interface's method, the number of argument slots, and 0
	class                  // the index of a class
	arrayType              // the code of a primitive type
	refused                // this package doesn't write it
)

// length returns the number of bytes of an instruction of the format.
func (f format) length() int {
	return [...]int{none: 1, byteValue: 2, shortValue: 3, constant: 3, local: 2, increment: 3,
		branch: 3, wideBranch: 5, field: 3, method: 3, interfaceMethod: 5, class: 3, arrayType: 2, refused: 1}[f]
}

// shape describes an opcode: its name, what follows it, and how many slots it takes from the operand
// stack and leaves there, if these do not depend on what follows.
type shape struct {
	mnemonic      string
	format        format
	takes, leaves int
}

// opcodes holds the shapes of all opcodes, in their order: the mnemonic, the format if it is not none,
// and the numbers of slots that are taken and left.
const opcodes = `
nop:0:0 aconst_null:0:1 iconst_m1:0:1 iconst_0:0:1 iconst_1:0:1 iconst_2:0:1 iconst_3:0:1 iconst_4:0:1
iconst_5:0:1 lconst_0:0:2 lconst_1:0:2 fconst_0:0:1 fconst_1:0:1 fconst_2:0:1 dconst_0:0:2 dconst_1:0:2
bipush:byteValue:0:1 sipush:shortValue:0:1 ldc:refused:0:1 ldc_w:constant:0:1 ldc2_w:constant:0:2
iload:local:0:1 lload:local:0:2 fload:local:0:1 dload:local:0:2 aload:local:0:1 iload_0:0:1 iload_1:0:1
iload_2:0:1 iload_3:0:1 lload_0:0:2 lload_1:0:2 lload_2:0:2 lload_3:0:2 fload_0:0:1 fload_1:0:1 fload_2:0:1
fload_3:0:1 dload_0:0:2 dload_1:0:2 dload_2:0:2 dload_3:0:2 aload_0:0:1 aload_1:0:1 aload_2:0:1 aload_3:0:1
iaload:2:1 laload:2:2 faload:2:1 daload:2:2 aaload:2:1 baload:2:1 caload:2:1 saload:2:1 istore:local:1:0
lstore:local:2:0 fstore:local:1:0 dstore:local:2:0 astore:local:1:0 istore_0:1:0 istore_1:1:0 istore_2:1:0
istore_3:1:0 lstore_0:2:0 lstore_1:2:0 lstore_2:2:0 lstore_3:2:0 fstore_0:1:0 fstore_1:1:0 fstore_2:1:0
fstore_3:1:0 dstore_0:2:0 dstore_1:2:0 dstore_2:2:0 dstore_3:2:0 astore_0:1:0 astore_1:1:0 astore_2:1:0
astore_3:1:0 iastore:3:0 lastore:4:0 fastore:3:0 dastore:4:0 aastore:3:0 bastore:3:0 castore:3:0 sastore:3:0
pop:1:0 pop2:2:0 dup:1:2 dup_x1:2:3 dup_x2:3:4 dup2:2:4 dup2_x1:3:5 dup2_x2:4:6 swap:2:2 iadd:2:1 ladd:4:2
fadd:2:1 dadd:4:2 isub:2:1 lsub:4:2 fsub:2:1 dsub:4:2 imul:2:1 lmul:4:2 fmul:2:1 dmul:4:2 idiv:2:1 ldiv:4:2
fdiv:2:1 ddiv:4:2 irem:2:1 lrem:4:2 frem:2:1 drem:4:2 ineg:1:1 lneg:2:2 fneg:1:1 dneg:2:2 ishl:2:1 lshl:3:2
ishr:2:1 lshr:3:2 iushr:2:1 lushr:3:2 iand:2:1 land:4:2 ior:2:1 lor:4:2 ixor:2:1 lxor:4:2 iinc:increment:0:0
i2l:1:2 i2f:1:1 i2d:1:2 l2i:2:1 l2f:2:1 l2d:2:2 f2i:1:1 f2l:1:2 f2d:1:2 d2i:2:1 d2l:2:2 d2f:2:1 i2b:1:1 i2c:1:1
i2s:1:1 lcmp:4:1 fcmpl:2:1 fcmpg:2:1 dcmpl:4:1 dcmpg:4:1 ifeq:branch:1:0 ifne:branch:1:0 iflt:branch:1:0
ifge:branch:1:0 ifgt:branch:1:0 ifle:branch:1:0 if_icmpeq:branch:2:0 if_icmpne:branch:2:0 if_icmplt:branch:2:0
if_icmpge:branch:2:0 if_icmpgt:branch:2:0 if_icmple:branch:2:0 if_acmpeq:branch:2:0 if_acmpne:branch:2:0
goto:branch:0:0 jsr:refused:0:0 ret:refused:0:0 tableswitch:refused:0:0 lookupswitch:refused:0:0 ireturn:1:0
lreturn:2:0 freturn:1:0 dreturn:2:0 areturn:1:0 return:0:0 getstatic:field:0:0 putstatic:field:0:0
getfield:field:0:0 putfield:field:0:0 invokevirtual:method:0:0 invokespecial:method:0:0 invokestatic:method:0:0
invokeinterface:interfaceMethod:0:0 invokedynamic:refused:0:0 new:class:0:1 newarray:arrayType:1:1
anewarray:class:1:1 arraylength:1:1 athrow:1:0 checkcast:class:1:1 instanceof:class:1:1 monitorenter:1:0
monitorexit:1:0 wide:refused:0:0 multianewarray:refused:0:0 ifnull:branch:1:0 ifnonnull:branch:1:0
goto_w:wideBranch:0:0 jsr_w:refused:0:0`

var shapes = func() (all []shape) {
	formats := map[string]format{"byteValue": byteValue, "shortValue": shortValue, "constant": constant, "local": local,
		"increment": increment, "branch": branch, "wideBranch": wideBranch, "field": field, "method": method,
		"interfaceMethod": interfaceMethod, "class": class, "arrayType": arrayType, "refused": refused}
	for text := range strings.FieldsSeq(opcodes) {
		parts := strings.Split(text, ":")
		s := shape{mnemonic: parts[0]}
		if len(parts) == 4 {
			s.format = formats[parts[1]]
		}
		fmt.Sscan(strings.Join(parts[len(parts)-2:], " "), &s.takes, &s.leaves)
		all = append(all, s)
	}
	return all
}()

// String returns the opcode's mnemonic, such as iload_1.
func (op Op) String() string {
	if int(op) < len(shapes) {
		return shapes[op].mnemonic
	}
	return "an undefined opcode"
}

// OpOf returns the opcode of a mnemonic.
func OpOf(mnemonic string) (op Op, ok bool) {
	for i, s := range shapes {
		if s.mnemonic == mnemonic {
			return Op(i), true
		}
	}
	return 0, false
}

// shape returns the shape of the opcode. It panics if the opcode is undefined or refused.
func (op Op) shape() shape {
	s := shapes[op]
	if s.format == refused {
		panic("classfile: " + s.mnemonic + " is not supported")
	}
	return s
}

// localUse returns the local variable that an opcode uses, and the number of its slots; slots is 0 if it
// uses none. The opcodes of loads and stores are in the order int, long, float, double, reference. The
// opcodes that contain the variable are in groups of four.
func (op Op) localUse(arg int) (variable, slots int) {
	width := func(kind Op) int {
		if kind == 1 || kind == 3 { // long and double
			return 2
		}
		return 1
	}
	switch {
	case op >= Iload && op <= Aload:
		return arg, width(op - Iload)
	case op >= Iload0 && op <= Aload3:
		return int(op-Iload0) % 4, width((op - Iload0) / 4)
	case op >= Istore && op <= Astore:
		return arg, width(op - Istore)
	case op >= Istore0 && op <= Astore3:
		return int(op-Istore0) % 4, width((op - Istore0) / 4)
	case op == Iinc:
		return arg, 1
	}
	return 0, 0
}

// ends reports whether the next instruction is never executed after this one.
func (op Op) ends() bool {
	return op == Goto || op == GotoW || op == Athrow || op >= Ireturn && op <= Return
}
