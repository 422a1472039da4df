package bytecode

import (
	"fmt"
	"slices"
	"strings"

	"chronoscope/internal/classfile"
)

// Catalogue returns the 137 instructions in the order of their opcodes. They are those of Lambert 2008, table 6.
// Some names in that table are wrong, such as ifleq for if_icmpeq; they were corrected from the JVM
// specification. The catalogue contains the instructions that compute and move values within a method. It leaves
// out references (except for aconst_null), objects, calls, switches, ldc and wide.
func Catalogue() []*Instruction { return slices.Clone(catalogue) }

// Lookup returns the instruction with this mnemonic. The error lists all mnemonics.
func Lookup(mnemonic string) (*Instruction, error) {
	for _, in := range catalogue {
		if in.Mnemonic == mnemonic {
			return in, nil
		}
	}
	var names []string
	for _, in := range catalogue {
		names = append(names, in.Mnemonic)
	}
	return nil, fmt.Errorf("%q is not among the %d instructions that are timed: %s", mnemonic, len(names), strings.Join(names, " "))
}

var catalogue = slices.Concat(
	row(Constants, "nop:> aconst_null:>a iconst_m1:>i iconst_0:>i iconst_1:>i iconst_2:>i iconst_3:>i iconst_4:>i iconst_5:>i "+
		"lconst_0:>l lconst_1:>l fconst_0:>f fconst_1:>f fconst_2:>f dconst_0:>d dconst_1:>d bipush:>i sipush:>i"),
	eachType(Loads, "Tload:>T"),
	eachType(Loads, "Tload_0:>T Tload_1:>T Tload_2:>T Tload_3:>T"),
	eachType(Stores, "Tstore:T>"),
	eachType(Stores, "Tstore_0:T> Tstore_1:T> Tstore_2:T> Tstore_3:T>"),
	row(StackMoves, "pop:i> pop2:ii> dup:i>ii dup_x1:ii>iii dup_x2:iii>iiii dup2:ii>iiii dup2_x1:iii>iiiii dup2_x2:iiii>iiiiii swap:ii>ii"),
	eachType(Arithmetic, "Tadd:TT>T"), eachType(Arithmetic, "Tsub:TT>T"), eachType(Arithmetic, "Tmul:TT>T"),
	eachType(Arithmetic, "Tdiv:TT>T"), eachType(Arithmetic, "Trem:TT>T"), eachType(Arithmetic, "Tneg:T>T"),
	row(Arithmetic, "ishl:ii>i lshl:li>l ishr:ii>i lshr:li>l iushr:ii>i lushr:li>l "+
		"iand:ii>i land:ll>l ior:ii>i lor:ll>l ixor:ii>i lxor:ll>l iinc:>"),
	row(Conversions, "i2l:i>l i2f:i>f i2d:i>d l2i:l>i l2f:l>f l2d:l>d f2i:f>i f2l:f>l f2d:f>d d2i:d>i d2l:d>l d2f:d>f i2b:i>i i2c:i>i i2s:i>i"),
	row(Comparisons, "lcmp:ll>i fcmpl:ff>i fcmpg:ff>i dcmpl:dd>i dcmpg:dd>i"),
	row(Branches, "ifeq:i> ifne:i> iflt:i> ifge:i> ifgt:i> ifle:i> "+
		"if_icmpeq:ii> if_icmpne:ii> if_icmplt:ii> if_icmpge:ii> if_icmpgt:ii> if_icmple:ii> goto:>"),
)

// row parses a row of the table: a list of entries of the form mnemonic:takes>leaves.
func row(kind Kind, text string) []*Instruction {
	var list []*Instruction
	for _, entry := range strings.Fields(text) {
		mnemonic, effect, _ := strings.Cut(entry, ":")
		takes, leaves, _ := strings.Cut(effect, ">")
		op, ok := classfile.OpOf(mnemonic)
		if !ok {
			panic("the catalogue names " + mnemonic + ", which is no instruction")
		}
		list = append(list, &Instruction{Mnemonic: mnemonic, Opcode: byte(op), Kind: kind, Takes: takes, Leaves: leaves})
	}
	return list
}

// eachType parses a row for each of the numeric types; T in the text stands for the type.
func eachType(kind Kind, text string) []*Instruction {
	var list []*Instruction
	for _, t := range []string{"i", "l", "f", "d"} {
		list = append(list, row(kind, strings.ReplaceAll(text, "T", t))...)
	}
	return list
}
