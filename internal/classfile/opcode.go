package classfile

// Op is an opcode (Java Virtual Machine Specification, chapter 6).
type Op byte

// The opcodes, in their order from 0.
const (
	Nop Op = iota
	AconstNull
	IconstM1
	Iconst0
	Iconst1
	Iconst2
	Iconst3
	Iconst4
	Iconst5
	Lconst0
	Lconst1
	Fconst0
	Fconst1
	Fconst2
	Dconst0
	Dconst1
	Bipush
	Sipush
	Ldc
	LdcW
	Ldc2W
	Iload
	Lload
	Fload
	Dload
	Aload
	Iload0
	Iload1
	Iload2
	Iload3
	Lload0
	Lload1
	Lload2
	Lload3
	Fload0
	Fload1
	Fload2
	Fload3
	Dload0
	Dload1
	Dload2
	Dload3
	Aload0
	Aload1
	Aload2
	Aload3
	Iaload
	Laload
	Faload
	Daload
	Aaload
	Baload
	Caload
	Saload
	Istore
	Lstore
	Fstore
	Dstore
	Astore
	Istore0
	Istore1
	Istore2
	Istore3
	Lstore0
	Lstore1
	Lstore2
	Lstore3
	Fstore0
	Fstore1
	Fstore2
	Fstore3
	Dstore0
	Dstore1
	Dstore2
	Dstore3
	Astore0
	Astore1
	Astore2
	Astore3
	Iastore
	Lastore
	Fastore
	Dastore
	Aastore
	Bastore
	Castore
	Sastore
	Pop
	Pop2
	Dup
	DupX1
	DupX2
	Dup2
	Dup2X1
	Dup2X2
	Swap
	Iadd
	Ladd
	Fadd
	Dadd
	Isub
	Lsub
	Fsub
	Dsub
	Imul
	Lmul
	Fmul
	Dmul
	Idiv
	Ldiv
	Fdiv
	Ddiv
	Irem
	Lrem
	Frem
	Drem
	Ineg
	Lneg
	Fneg
	Dneg
	Ishl
	Lshl
	Ishr
	Lshr
	Iushr
	Lushr
	Iand
	Land
	Ior
	Lor
	Ixor
	Lxor
	Iinc
	I2l
	I2f
	I2d
	L2i
	L2f
	L2d
	F2i
	F2l
	F2d
	D2i
	D2l
	D2f
	I2b
	I2c
	I2s
	Lcmp
	Fcmpl
	Fcmpg
	Dcmpl
	Dcmpg
	Ifeq
	Ifne
	Iflt
	Ifge
	Ifgt
	Ifle
	IfIcmpeq
	IfIcmpne
	IfIcmplt
	IfIcmpge
	IfIcmpgt
	IfIcmple
	IfAcmpeq
	IfAcmpne
	Goto
	Jsr
	Ret
	Tableswitch
	Lookupswitch
	Ireturn
	Lreturn
	Freturn
	Dreturn
	Areturn
	Return
	Getstatic
	Putstatic
	Getfield
	Putfield
	Invokevirtual
	Invokespecial
	Invokestatic
	Invokeinterface
	Invokedynamic
	New
	Newarray
	Anewarray
	Arraylength
	Athrow
	Checkcast
	Instanceof
	Monitorenter
	Monitorexit
	Wide
	Multianewarray
	Ifnull
	Ifnonnull
	GotoW
	JsrW
)

// format is what follows an opcode.
type format byte

const (
	none            format = iota
	byteValue              // a signed byte
	shortValue             // a signed short
	constant8              // the index of a constant in a byte
	constant               // the index of a constant in a short
	local                  // a local variable in a byte
	increment              // a local variable and a signed byte
	branch                 // a signed offset in a short
	wideBranch             // a signed offset in four bytes
	field                  // the index of a field
	method                 // the index of a method
	interfaceMethod        // the same of an interface, the count of arguments, and 0
	class                  // the index of a class
	arrayType              // the code of a primitive type
	refused                // this package doesn't write it
)

// length is how many bytes an instruction of the format has.
func (f format) length() int {
	return [...]int{none: 1, byteValue: 2, shortValue: 3, constant8: 2, constant: 3, local: 2, increment: 3,
		branch: 3, wideBranch: 5, field: 3, method: 3, interfaceMethod: 5, class: 3, arrayType: 2, refused: 1}[f]
}

// shape is what is known of an opcode: its name, what follows it, and how many slots it
// takes from the operand stack and leaves there, where these don't depend on what
// follows.
type shape struct {
	mnemonic      string
	format        format
	takes, leaves int
}

// shapes are those of all opcodes.
var shapes = [...]shape{
	Nop:             {"nop", none, 0, 0},
	AconstNull:      {"aconst_null", none, 0, 1},
	IconstM1:        {"iconst_m1", none, 0, 1},
	Iconst0:         {"iconst_0", none, 0, 1},
	Iconst1:         {"iconst_1", none, 0, 1},
	Iconst2:         {"iconst_2", none, 0, 1},
	Iconst3:         {"iconst_3", none, 0, 1},
	Iconst4:         {"iconst_4", none, 0, 1},
	Iconst5:         {"iconst_5", none, 0, 1},
	Lconst0:         {"lconst_0", none, 0, 2},
	Lconst1:         {"lconst_1", none, 0, 2},
	Fconst0:         {"fconst_0", none, 0, 1},
	Fconst1:         {"fconst_1", none, 0, 1},
	Fconst2:         {"fconst_2", none, 0, 1},
	Dconst0:         {"dconst_0", none, 0, 2},
	Dconst1:         {"dconst_1", none, 0, 2},
	Bipush:          {"bipush", byteValue, 0, 1},
	Sipush:          {"sipush", shortValue, 0, 1},
	Ldc:             {"ldc", constant8, 0, 1},
	LdcW:            {"ldc_w", constant, 0, 1},
	Ldc2W:           {"ldc2_w", constant, 0, 2},
	Iload:           {"iload", local, 0, 1},
	Lload:           {"lload", local, 0, 2},
	Fload:           {"fload", local, 0, 1},
	Dload:           {"dload", local, 0, 2},
	Aload:           {"aload", local, 0, 1},
	Iload0:          {"iload_0", none, 0, 1},
	Iload1:          {"iload_1", none, 0, 1},
	Iload2:          {"iload_2", none, 0, 1},
	Iload3:          {"iload_3", none, 0, 1},
	Lload0:          {"lload_0", none, 0, 2},
	Lload1:          {"lload_1", none, 0, 2},
	Lload2:          {"lload_2", none, 0, 2},
	Lload3:          {"lload_3", none, 0, 2},
	Fload0:          {"fload_0", none, 0, 1},
	Fload1:          {"fload_1", none, 0, 1},
	Fload2:          {"fload_2", none, 0, 1},
	Fload3:          {"fload_3", none, 0, 1},
	Dload0:          {"dload_0", none, 0, 2},
	Dload1:          {"dload_1", none, 0, 2},
	Dload2:          {"dload_2", none, 0, 2},
	Dload3:          {"dload_3", none, 0, 2},
	Aload0:          {"aload_0", none, 0, 1},
	Aload1:          {"aload_1", none, 0, 1},
	Aload2:          {"aload_2", none, 0, 1},
	Aload3:          {"aload_3", none, 0, 1},
	Iaload:          {"iaload", none, 2, 1},
	Laload:          {"laload", none, 2, 2},
	Faload:          {"faload", none, 2, 1},
	Daload:          {"daload", none, 2, 2},
	Aaload:          {"aaload", none, 2, 1},
	Baload:          {"baload", none, 2, 1},
	Caload:          {"caload", none, 2, 1},
	Saload:          {"saload", none, 2, 1},
	Istore:          {"istore", local, 1, 0},
	Lstore:          {"lstore", local, 2, 0},
	Fstore:          {"fstore", local, 1, 0},
	Dstore:          {"dstore", local, 2, 0},
	Astore:          {"astore", local, 1, 0},
	Istore0:         {"istore_0", none, 1, 0},
	Istore1:         {"istore_1", none, 1, 0},
	Istore2:         {"istore_2", none, 1, 0},
	Istore3:         {"istore_3", none, 1, 0},
	Lstore0:         {"lstore_0", none, 2, 0},
	Lstore1:         {"lstore_1", none, 2, 0},
	Lstore2:         {"lstore_2", none, 2, 0},
	Lstore3:         {"lstore_3", none, 2, 0},
	Fstore0:         {"fstore_0", none, 1, 0},
	Fstore1:         {"fstore_1", none, 1, 0},
	Fstore2:         {"fstore_2", none, 1, 0},
	Fstore3:         {"fstore_3", none, 1, 0},
	Dstore0:         {"dstore_0", none, 2, 0},
	Dstore1:         {"dstore_1", none, 2, 0},
	Dstore2:         {"dstore_2", none, 2, 0},
	Dstore3:         {"dstore_3", none, 2, 0},
	Astore0:         {"astore_0", none, 1, 0},
	Astore1:         {"astore_1", none, 1, 0},
	Astore2:         {"astore_2", none, 1, 0},
	Astore3:         {"astore_3", none, 1, 0},
	Iastore:         {"iastore", none, 3, 0},
	Lastore:         {"lastore", none, 4, 0},
	Fastore:         {"fastore", none, 3, 0},
	Dastore:         {"dastore", none, 4, 0},
	Aastore:         {"aastore", none, 3, 0},
	Bastore:         {"bastore", none, 3, 0},
	Castore:         {"castore", none, 3, 0},
	Sastore:         {"sastore", none, 3, 0},
	Pop:             {"pop", none, 1, 0},
	Pop2:            {"pop2", none, 2, 0},
	Dup:             {"dup", none, 1, 2},
	DupX1:           {"dup_x1", none, 2, 3},
	DupX2:           {"dup_x2", none, 3, 4},
	Dup2:            {"dup2", none, 2, 4},
	Dup2X1:          {"dup2_x1", none, 3, 5},
	Dup2X2:          {"dup2_x2", none, 4, 6},
	Swap:            {"swap", none, 2, 2},
	Iadd:            {"iadd", none, 2, 1},
	Ladd:            {"ladd", none, 4, 2},
	Fadd:            {"fadd", none, 2, 1},
	Dadd:            {"dadd", none, 4, 2},
	Isub:            {"isub", none, 2, 1},
	Lsub:            {"lsub", none, 4, 2},
	Fsub:            {"fsub", none, 2, 1},
	Dsub:            {"dsub", none, 4, 2},
	Imul:            {"imul", none, 2, 1},
	Lmul:            {"lmul", none, 4, 2},
	Fmul:            {"fmul", none, 2, 1},
	Dmul:            {"dmul", none, 4, 2},
	Idiv:            {"idiv", none, 2, 1},
	Ldiv:            {"ldiv", none, 4, 2},
	Fdiv:            {"fdiv", none, 2, 1},
	Ddiv:            {"ddiv", none, 4, 2},
	Irem:            {"irem", none, 2, 1},
	Lrem:            {"lrem", none, 4, 2},
	Frem:            {"frem", none, 2, 1},
	Drem:            {"drem", none, 4, 2},
	Ineg:            {"ineg", none, 1, 1},
	Lneg:            {"lneg", none, 2, 2},
	Fneg:            {"fneg", none, 1, 1},
	Dneg:            {"dneg", none, 2, 2},
	Ishl:            {"ishl", none, 2, 1},
	Lshl:            {"lshl", none, 3, 2},
	Ishr:            {"ishr", none, 2, 1},
	Lshr:            {"lshr", none, 3, 2},
	Iushr:           {"iushr", none, 2, 1},
	Lushr:           {"lushr", none, 3, 2},
	Iand:            {"iand", none, 2, 1},
	Land:            {"land", none, 4, 2},
	Ior:             {"ior", none, 2, 1},
	Lor:             {"lor", none, 4, 2},
	Ixor:            {"ixor", none, 2, 1},
	Lxor:            {"lxor", none, 4, 2},
	Iinc:            {"iinc", increment, 0, 0},
	I2l:             {"i2l", none, 1, 2},
	I2f:             {"i2f", none, 1, 1},
	I2d:             {"i2d", none, 1, 2},
	L2i:             {"l2i", none, 2, 1},
	L2f:             {"l2f", none, 2, 1},
	L2d:             {"l2d", none, 2, 2},
	F2i:             {"f2i", none, 1, 1},
	F2l:             {"f2l", none, 1, 2},
	F2d:             {"f2d", none, 1, 2},
	D2i:             {"d2i", none, 2, 1},
	D2l:             {"d2l", none, 2, 2},
	D2f:             {"d2f", none, 2, 1},
	I2b:             {"i2b", none, 1, 1},
	I2c:             {"i2c", none, 1, 1},
	I2s:             {"i2s", none, 1, 1},
	Lcmp:            {"lcmp", none, 4, 1},
	Fcmpl:           {"fcmpl", none, 2, 1},
	Fcmpg:           {"fcmpg", none, 2, 1},
	Dcmpl:           {"dcmpl", none, 4, 1},
	Dcmpg:           {"dcmpg", none, 4, 1},
	Ifeq:            {"ifeq", branch, 1, 0},
	Ifne:            {"ifne", branch, 1, 0},
	Iflt:            {"iflt", branch, 1, 0},
	Ifge:            {"ifge", branch, 1, 0},
	Ifgt:            {"ifgt", branch, 1, 0},
	Ifle:            {"ifle", branch, 1, 0},
	IfIcmpeq:        {"if_icmpeq", branch, 2, 0},
	IfIcmpne:        {"if_icmpne", branch, 2, 0},
	IfIcmplt:        {"if_icmplt", branch, 2, 0},
	IfIcmpge:        {"if_icmpge", branch, 2, 0},
	IfIcmpgt:        {"if_icmpgt", branch, 2, 0},
	IfIcmple:        {"if_icmple", branch, 2, 0},
	IfAcmpeq:        {"if_acmpeq", branch, 2, 0},
	IfAcmpne:        {"if_acmpne", branch, 2, 0},
	Goto:            {"goto", branch, 0, 0},
	Jsr:             {"jsr", refused, 0, 0},
	Ret:             {"ret", refused, 0, 0},
	Tableswitch:     {"tableswitch", refused, 0, 0},
	Lookupswitch:    {"lookupswitch", refused, 0, 0},
	Ireturn:         {"ireturn", none, 1, 0},
	Lreturn:         {"lreturn", none, 2, 0},
	Freturn:         {"freturn", none, 1, 0},
	Dreturn:         {"dreturn", none, 2, 0},
	Areturn:         {"areturn", none, 1, 0},
	Return:          {"return", none, 0, 0},
	Getstatic:       {"getstatic", field, 0, 0},
	Putstatic:       {"putstatic", field, 0, 0},
	Getfield:        {"getfield", field, 0, 0},
	Putfield:        {"putfield", field, 0, 0},
	Invokevirtual:   {"invokevirtual", method, 0, 0},
	Invokespecial:   {"invokespecial", method, 0, 0},
	Invokestatic:    {"invokestatic", method, 0, 0},
	Invokeinterface: {"invokeinterface", interfaceMethod, 0, 0},
	Invokedynamic:   {"invokedynamic", refused, 0, 0},
	New:             {"new", class, 0, 1},
	Newarray:        {"newarray", arrayType, 1, 1},
	Anewarray:       {"anewarray", class, 1, 1},
	Arraylength:     {"arraylength", none, 1, 1},
	Athrow:          {"athrow", none, 1, 0},
	Checkcast:       {"checkcast", class, 1, 1},
	Instanceof:      {"instanceof", class, 1, 1},
	Monitorenter:    {"monitorenter", none, 1, 0},
	Monitorexit:     {"monitorexit", none, 1, 0},
	Wide:            {"wide", refused, 0, 0},
	Multianewarray:  {"multianewarray", refused, 0, 0},
	Ifnull:          {"ifnull", branch, 1, 0},
	Ifnonnull:       {"ifnonnull", branch, 1, 0},
	GotoW:           {"goto_w", wideBranch, 0, 0},
	JsrW:            {"jsr_w", refused, 0, 0},
}

// String is the opcode's mnemonic.
func (op Op) String() string {
	if int(op) < len(shapes) {
		return shapes[op].mnemonic
	}
	return "an undefined opcode"
}

// OpOf is the opcode of a mnemonic.
func OpOf(mnemonic string) (op Op, ok bool) {
	for i, s := range shapes {
		if s.mnemonic == mnemonic {
			return Op(i), true
		}
	}
	return 0, false
}

// shape is that of the opcode; ok is false where it is undefined or refused.
func (op Op) shape() (s shape, ok bool) {
	if int(op) >= len(shapes) {
		return shape{}, false
	}
	s = shapes[op]
	return s, s.format != refused
}

// localUse is the local variable that an opcode touches, and how many slots it has
// there; 0 where it touches none. Loads and stores come in the order int, long, float,
// double, reference, and where the variable is part of the opcode in groups of four.
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

// ends reports that the next instruction does not follow.
func (op Op) ends() bool {
	return op == Goto || op == GotoW || op == Athrow || op >= Ireturn && op <= Return
}
